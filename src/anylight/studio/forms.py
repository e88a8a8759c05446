"""Options as a page can ask for them: made from the declarations, help included."""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from anylight.intake.options import IntakeOptions
from anylight.methods import registered
from anylight.model.options import descriptions
from anylight.pipeline import BALLOON, RunOptions
from anylight.runs.folder import OutputOptions

Form = list[dict[str, Any]]

_ELSEWHERE = {"mask", "intrinsics", "focal_35mm", "focal_px", "fov", "orthographic", "volume",
              "preset"}  # fmt: skip
"""Options that have a place of their own on the page, or are another word for one that has."""
_FILES = {"depth_prior"}
"""Options that name a file: the page cannot name files of this computer."""
_WORDS: dict[Any, str] = {bool: "switch", int: "integer", float: "number", str: "text"}


def form(declaration: type[msgspec.Struct], leave_out: set[str] = _ELSEWHERE | _FILES) -> Form:
    """The fields of a declaration: name, kind, choices, default, help."""
    hints = get_type_hints(declaration)
    help_ = descriptions(declaration)
    fields = []
    for field in msgspec.structs.fields(declaration):
        if field.name in leave_out:
            continue
        kind, choices = _kind(hints[field.name])
        fields.append(
            {
                "name": field.name,
                "kind": kind,
                "choices": choices,
                "default": None if field.default is msgspec.NODEFAULT else field.default,
                "help": help_.get(field.name, ""),
            }
        )
    return fields


def forms() -> dict[str, Any]:
    """All options of a run, by group; those of methods by their name."""
    methods = registered()
    run = form(RunOptions)
    for field in run:
        if field["name"] == "method":
            field.update(kind="choice", choices=list(methods))
        if field["name"] == "init":
            field.update(kind="choice", choices=[BALLOON, "constant", *methods])
    return {
        "options": run,
        "settings": {name: form(method.options) for name, method in methods.items()},
        "summaries": {name: method.summary for name, method in methods.items()},
        "intake": form(IntakeOptions),
        "output": form(OutputOptions),
    }


def _kind(hint: Any) -> tuple[str, list[Any] | None]:
    """How to ask for a type, and the values there are."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    plain = [part for part in parts if part is not NoneType]
    if get_origin(plain[0]) is Literal:
        return "choice", list(get_args(plain[0]))
    return _WORDS.get(plain[0], "text"), None

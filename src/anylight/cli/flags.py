"""Options of all methods as flags: made from the methods' own declarations.

A flag that several methods have stands for each of them. Which method runs is known only after
parsing, so a flag that does not belong to it is refused then, by name.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Optional, Union, get_args, get_origin

import msgspec
import tyro

from anylight.errors import InvalidInputError
from anylight.intake.options import IntakeOptions
from anylight.methods import registered
from anylight.model.method import Method
from anylight.model.options import descriptions, field_names, made
from anylight.model.scale import ScaleOptions
from anylight.pipeline import RunOptions

_RESERVED = {
    "capture", "captures", "out", "normal_format", "only_result", "jobs", "memory_mb", "cluster",
    "again", "replace", "fit",
    *field_names(RunOptions), *field_names(IntakeOptions), *field_names(ScaleOptions),
}  # fmt: skip
"""Names of other flags of the commands that run methods."""


@dataclasses.dataclass(frozen=True)
class _Flag:
    """One flag and the methods that it belongs to."""

    name: str
    kind: Any
    owners: Mapping[str, str]
    """Field by method."""
    text: str

    @property
    def is_switch(self) -> bool:
        """Whether it is given without a value."""
        return self.kind is bool


def _flags(methods: Iterable[Method[Any]]) -> dict[str, _Flag]:
    found: dict[str, _Flag] = {}
    for method in methods:
        kinds = {f.name: f for f in msgspec.structs.fields(method.options)}
        words = descriptions(method.options)  # type: ignore[arg-type]
        for name, declared in kinds.items():
            default = method.name
            if declared.default is not None:
                default += f": {declared.default}"
            flag = name
            if name in _RESERVED or (
                name in found and _bare(found[name].kind) != _bare(declared.type)
            ):
                flag = f"{method.name}_{name}"
            if flag in found:
                before = found[flag]
                owners = {**before.owners, method.name: name}
                found[flag] = dataclasses.replace(
                    before, owners=owners, text=f"{before.text[:-1]}, {default})"
                )
            else:
                text = f"{words.get(name, name)} ({default})"
                found[flag] = _Flag(flag, declared.type, {method.name: name}, text)
    return found


def _bare(kind: Any) -> Any:
    """A type without None."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return frozenset(parts) - {NoneType}


FLAGS = _flags(registered().values())


def _words() -> str:
    methods = "; ".join(f"{name}: {method.summary}" for name, method in registered().items())
    return (
        f"Methods are {methods}. These are their numbers; in brackets, whose they are and what "
        "they are if not given."
    )


def _declared() -> type:
    fields: list[tuple[str, Any, Any]] = []
    for flag in FLAGS.values():
        said = tyro.conf.arg(help=flag.text, help_behavior_hint="")
        if flag.is_switch:
            kind: Any = Annotated[bool, said, tyro.conf.FlagCreatePairsOff]
            fields.append((flag.name, kind, dataclasses.field(default=False)))
        else:
            kind = Annotated[Optional[flag.kind], said]  # noqa: UP045
            fields.append((flag.name, kind, dataclasses.field(default=None)))
    return dataclasses.make_dataclass(
        "MethodFlags", fields, frozen=True, kw_only=True, namespace={"__doc__": _words()}
    )


if TYPE_CHECKING:
    MethodFlags = Any
else:
    MethodFlags = _declared()
    MethodFlags.__module__ = __name__
"""The flags as a dataclass for the command line: None where a flag was not given."""


def settings_of(flags: MethodFlags, options: RunOptions) -> msgspec.Struct:
    """The options of the method that runs; flags of other methods are refused."""
    method = options.chosen()
    given = {}
    for name, flag in FLAGS.items():
        value = getattr(flags, name)
        if value is None or (flag.is_switch and not value):
            continue
        if method.name not in flag.owners:
            raise InvalidInputError(
                f"--{name.replace('_', '-')} belongs to {', '.join(flag.owners)}; leave it out "
                f"with --method {method.name}."
            )
        given[flag.owners[method.name]] = value
    settings: msgspec.Struct = made(method.options, given, f"the method {method.name}")
    return settings

"""Options of all methods as flags of the command line: made from the methods' own declarations.

A flag that several methods have stands for each of them.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from anylight.intake.options import IntakeOptions
from anylight.methods import registered
from anylight.model.method import Method
from anylight.model.options import descriptions, field_names
from anylight.model.scale import ScaleOptions
from anylight.pipeline import RunOptions

_RESERVED = {
    "capture", "captures", "out", "normal_format", "only_result", "jobs", "memory_mb", "cluster",
    "again", "replace", "fit",
    *field_names(RunOptions), *field_names(IntakeOptions), *field_names(ScaleOptions),
}  # fmt: skip
"""Names of other flags of the commands that run methods."""


@dataclasses.dataclass(frozen=True)
class Flag:
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


def _flags(methods: Iterable[Method[Any]]) -> dict[str, Flag]:
    found: dict[str, Flag] = {}
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
                found[flag] = Flag(flag, declared.type, {method.name: name}, text)
    return found


def _bare(kind: Any) -> Any:
    """A type without None."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return frozenset(parts) - {NoneType}


FLAGS = _flags(registered().values())
"""All flags of methods, by name."""

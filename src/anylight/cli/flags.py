"""The methods' flags as the command line parses them.

Which method runs is known only after
parsing, so a flag that does not belong to it is refused then, by name.
"""

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, Optional

import msgspec
import tyro

from anylight.errors import InvalidInputError
from anylight.methods import registered
from anylight.model.options import made
from anylight.pipeline import RunOptions
from anylight.runs.flags import FLAGS


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

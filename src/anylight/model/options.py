"""Options are declared once: what a declaration says, and settings checked against it."""

import ast
import inspect
import os
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
import numpy as np

from anylight.errors import InvalidInputError

Options = TypeVar("Options", bound=msgspec.Struct)


@cache
def descriptions(options: type[msgspec.Struct]) -> Mapping[str, str]:
    """The docstring under every field of a declaration, in one line, those of its bases first."""
    found: dict[str, str] = {}
    for declared in reversed(options.__mro__):
        if not issubclass(declared, msgspec.Struct) or declared is msgspec.Struct:
            continue
        try:
            source = textwrap.dedent(inspect.getsource(declared))
        except (OSError, TypeError):  # made at run time, or installed without its source
            continue
        (body,) = ast.parse(source).body
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                found[field.target.id] = " ".join(str(text.value.value).split())
    return found


def field_names(options: type[msgspec.Struct]) -> tuple[str, ...]:
    """Names of the fields of a declaration."""
    return tuple(options.__struct_fields__)


def made(options: type[Options], settings: Mapping[str, Any], owner: str) -> Options:
    """Options from settings by name; what does not exist or has the wrong type is refused.

    Args:
        options: the declaration.
        settings: values by the names of fields.
        owner: whose options these are, for the sentence.
    """
    settings = {name: _plain(value) for name, value in settings.items()}
    names = field_names(options)
    for name in settings:
        if name not in names:
            raise InvalidInputError(unknown_option(name, owner, names))
    try:
        return msgspec.convert(dict(settings), options)
    except msgspec.ValidationError as error:
        raise InvalidInputError(f"{owner}: {_sentence(error)}.") from error


def _plain(value: Any) -> Any:
    """Numbers of NumPy and paths as Python's own."""
    if isinstance(value, np.generic):
        return value.item()
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def unknown_option(name: str, owner: str, names: Iterable[str]) -> str:
    """The sentence for an option that its owner does not have."""
    there = ", ".join(names)
    has = f"its own are {there}" if there else "it has none of its own"
    return f"{owner} has no option {name}; {has}."


def _sentence(error: msgspec.ValidationError) -> str:
    text, _, place = str(error).partition(" - at ")
    return f"{place.strip('`$.')}: {text[0].lower()}{text[1:]}" if place else text

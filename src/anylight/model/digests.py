"""Digests of values: all that a piece of work begins from, bit by bit, or no digest at all.

What a value is must be told completely, or two that differ could pass for the same. So only
numbers, words, arrays, containers and the program's own records have a digest. Objects of other
packages have none: their code may have changed, and nothing here would know.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import msgspec
import numpy as np

_OURS = __name__.partition(".")[0]
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_Write = Callable[[Any], None]
_Seen = dict[int, tuple[int, object]]
"""Number of every array that was written; the array itself, so that no other takes its place."""


class UndescribedError(TypeError):
    """A value that cannot be told completely."""


def digest(*parts: Any) -> str:
    """Of values, all that is in them.

    Raises:
        UndescribedError: one of them, or something in it, cannot be told completely.
    """
    found = hashlib.sha256()
    _tell(parts, found.update, {})
    return found.hexdigest()


def _tell(part: Any, write: _Write, seen: _Seen) -> None:
    """Write down a value; an array that was written before is named by its number."""
    kind = type(part)
    if kind in _PLAIN:
        write(f"{kind.__name__} {part!r};".encode(errors="surrogatepass"))
    elif kind in (np.ndarray, np.memmap) or isinstance(part, np.generic):
        _tell_array(part, write, seen)
    elif kind in (tuple, list):
        write(f"{kind.__name__} {len(part)};".encode())
        for inner in part:
            _tell(inner, write, seen)
    elif isinstance(part, Mapping) and kind is dict:
        write(f"dict {len(part)};".encode())
        for name, inner in part.items():
            _tell(name, write, seen)
            _tell(inner, write, seen)
    elif isinstance(part, type) and _is_ours(part):
        write(f"type {part.__module__}.{part.__qualname__};".encode())
    elif isinstance(part, Enum) and _is_ours(kind):
        write(f"{kind.__qualname__} {part.name};".encode())
    elif _is_ours(kind) and (is_dataclass(part) or isinstance(part, msgspec.Struct)):
        names = [f.name for f in fields(part)] if is_dataclass(part) else part.__struct_fields__
        write(f"{kind.__module__}.{kind.__qualname__} {len(names)};".encode())
        for name in names:
            write(f"{name};".encode())
            _tell(getattr(part, name), write, seen)
    else:
        raise UndescribedError(f"{kind.__module__}.{kind.__qualname__} has no digest")


def _tell_array(part: np.ndarray | np.generic, write: _Write, seen: _Seen) -> None:
    if part.dtype.hasobject:
        raise UndescribedError(f"an array of {part.dtype} has no digest")
    if id(part) in seen:
        write(f"array {seen[id(part)][0]};".encode())
        return
    seen[id(part)] = (len(seen), part)
    write(f"{part.dtype.str} {part.shape};".encode())
    write(np.ascontiguousarray(part).reshape(-1).view(np.uint8))


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == _OURS

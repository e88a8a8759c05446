"""Values as arrays and plain words, and back: what a file of numbers can hold."""

from dataclasses import dataclass, fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np

_ARRAY, _TUPLE, _MADE = "array", "tuple", "made"
_NUMBER, _FLOAT = "number", "float"


@dataclass(frozen=True, eq=False)
class Memory:
    """What a part of the work came to."""

    arrays: dict[str, np.ndarray]
    facts: Any
    """Plain values."""


def packed(value: Any) -> Memory:
    """Take a value apart: arrays, numbers, words, tuples, and dataclasses of them.

    Raises:
        TypeError: it holds something else.
    """
    arrays: dict[str, np.ndarray] = {}
    return Memory(arrays, _apart(value, arrays))


def unpacked(memory: Memory, made: tuple[type, ...] = ()) -> Any:
    """Put a value together again.

    Args:
        memory: what `packed` made of it.
        made: the dataclasses that may be in it.
    """
    return _together(memory.facts, memory.arrays, {kind.__name__: kind for kind in made})


def _whole(array: np.ndarray) -> np.ndarray:
    """The array as a file gives it back: in one piece, rows or columns first as before."""
    flags = array.flags
    return array if flags.c_contiguous or flags.f_contiguous else np.ascontiguousarray(array)


def _kind(value: Any) -> str:
    """What an array stands for: itself, a number of NumPy's, or one of Python's."""
    if isinstance(value, np.generic):
        return _NUMBER
    return _FLOAT if isinstance(value, float) else _ARRAY


def _apart(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float) and not isinstance(value, np.generic) and isfinite(value):
        return value
    if isinstance(value, np.ndarray | np.generic | float):  # words have no NaN
        name = f"{_ARRAY}{len(arrays)}"
        arrays[name] = _whole(np.asarray(value))
        return {_ARRAY: name, "of": _kind(value)}
    if type(value) is tuple:
        return {_TUPLE: [_apart(inner, arrays) for inner in value]}
    if is_dataclass(value) and not isinstance(value, type):
        inside = {f.name: _apart(getattr(value, f.name), arrays) for f in fields(value)}
        return {_MADE: type(value).__name__, "fields": inside}
    raise TypeError(f"{type(value).__qualname__} cannot be packed")


def _together(facts: Any, arrays: dict[str, np.ndarray], made: dict[str, type]) -> Any:
    if not isinstance(facts, dict):
        return facts
    if _ARRAY in facts:
        found = arrays[facts[_ARRAY]]
        if facts["of"] == _FLOAT:
            return float(found)
        return found[()] if facts["of"] == _NUMBER else found
    if _TUPLE in facts:
        return tuple(_together(inner, arrays, made) for inner in facts[_TUPLE])
    inside = facts["fields"].items()
    return made[facts[_MADE]](**{name: _together(f, arrays, made) for name, f in inside})

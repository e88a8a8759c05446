"""Large arrays, made, copied and laid out by all threads.

What one thread fills, it also takes from the system, page by page: for arrays of some megabytes
that is as slow as computing with them. Where a loop fills all but the margin of a grid, nothing
else is filled before.
"""

import math

import numpy as np
from jaxtyping import Float, Int

from anylight.threads import ROWS, loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}
_GRAIN = 8192
"""Numbers that are worth a thread."""


class Room:
    """Memory for rounds of work that ask for the same arrays in the same order every time.

    What the system gives back and takes again is cleared page by page: for grids that takes as
    long as computing with them.
    """

    def __init__(self) -> None:
        self._kept: list[np.ndarray] = []
        self._next = 0

    def again(self) -> None:
        """Begin the next round: arrays of the last one are no longer in use."""
        self._next = 0

    def take(self, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        """An array with whatever is in it."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if self._next == len(self._kept):
            self._kept.append(np.empty(0, np.uint8))
        if len(self._kept[self._next]) < size:
            self._kept[self._next] = np.empty(size, np.uint8)
        found: np.ndarray = self._kept[self._next][:size].view(dtype).reshape(shape)
        self._next += 1
        return found


def taken(room: Room | None, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """An array with whatever is in it, from a room if there is one."""
    return np.empty(shape, dtype) if room is None else room.take(shape, dtype)


@loop(_OPTIONS, over="out", grain=_GRAIN)
def _fill(begin, end, value, out):
    for k in range(begin, end):
        out[k] = value


@loop(_OPTIONS, over="out", grain=ROWS)
def _frame(begin, end, value, height, out):
    for k in range(begin, end):
        row, place = out[k], k % height
        if place == 0 or place >= height - 2:
            for n in range(len(row)):
                row[n] = value
        row[0] = row[len(row) - 2] = row[len(row) - 1] = value


@loop(_OPTIONS, over="out", grain=_GRAIN)
def _copy(begin, end, factor, values, out):
    for k in range(begin, end):
        out[k] = factor * values[k]


@loop(_OPTIONS, over="total", grain=_GRAIN)
def _add(begin, end, values, total):
    for k in range(begin, end):
        total[k] += values[k]


@loop(_OPTIONS, over="places", grain=_GRAIN)
def _spread(begin, end, values, places, out):
    for k in range(begin, end):
        out[places[k]] = values[k]


@loop(_OPTIONS, over="places", grain=_GRAIN)
def _collect(begin, end, values, places, out):
    for k in range(begin, end):
        out[k] = values[places[k]]


def filled(
    shape: tuple[int, ...], dtype: type, value: float = 0.0, room: Room | None = None
) -> np.ndarray:
    """An array of one number."""
    out = taken(room, shape, dtype)
    _fill(out.dtype.type(value), out.reshape(-1))
    return out


def framed(
    shape: tuple[int, ...], dtype: type, value: float = 0.0, room: Room | None = None
) -> np.ndarray:
    """Grids of which the margin alone is filled: a row and a column before, two of each behind."""
    out = taken(room, shape, dtype)
    height, width = shape[-2:]
    _frame(out.dtype.type(value), height, out.reshape(-1, width))
    return out


def like(array: np.ndarray, room: Room | None = None) -> np.ndarray:
    """Zeros of the same shape and type."""
    return filled(array.shape, array.dtype.type, room=room)


def copied(
    values: Float[np.ndarray, "*n"],
    dtype: type | None = None,
    factor: float = 1.0,
    room: Room | None = None,
) -> Float[np.ndarray, "*n"]:
    """A copy, perhaps of another type, times a factor."""
    out = taken(room, values.shape, values.dtype.type if dtype is None else dtype)
    _copy(out.dtype.type(factor), np.ascontiguousarray(values).reshape(-1), out.reshape(-1))
    return out


def add(values: Float[np.ndarray, "*n"], total: Float[np.ndarray, "*n"]) -> None:
    """Add values to a total, which may be more exact."""
    _add(np.ascontiguousarray(values).reshape(-1), total.reshape(-1))


def spread(
    values: Float[np.ndarray, " n"], places: Int[np.ndarray, " n"], size: int, dtype: type
) -> Float[np.ndarray, " size"]:
    """Values laid at their places among zeros."""
    out = filled((size,), dtype)
    _spread(np.ascontiguousarray(values), places, out)
    return out


def collect(
    values: Float[np.ndarray, " size"], places: Int[np.ndarray, " n"], dtype: type | None = None
) -> Float[np.ndarray, " n"]:
    """Values at some places."""
    out = np.empty(len(places), values.dtype if dtype is None else dtype)
    _collect(np.ascontiguousarray(values), places, out)
    return out

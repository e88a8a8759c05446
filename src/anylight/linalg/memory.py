"""Large arrays, made, copied and laid out by all threads.

What one thread fills, it also takes from the system, page by page: for arrays of some megabytes
that is as slow as computing with them. Where a loop fills all but the margin of a grid, nothing
else is filled before.
"""

import numpy as np
from jaxtyping import Float, Int

from anylight.threads import ROWS, loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}
_GRAIN = 8192
"""Numbers that are worth a thread."""


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


def filled(shape: tuple[int, ...], dtype: type, value: float = 0.0) -> np.ndarray:
    """An array of one number."""
    out: np.ndarray = np.empty(shape, dtype)
    _fill(out.dtype.type(value), out.reshape(-1))
    return out


def framed(shape: tuple[int, ...], dtype: type, value: float = 0.0) -> np.ndarray:
    """Grids of which the margin alone is filled: a row and a column before, two of each behind."""
    out: np.ndarray = np.empty(shape, dtype)
    height, width = shape[-2:]
    _frame(out.dtype.type(value), height, out.reshape(-1, width))
    return out


def like(array: np.ndarray) -> np.ndarray:
    """Zeros of the same shape and type."""
    return filled(array.shape, array.dtype.type)


def copied(
    values: Float[np.ndarray, "*n"], dtype: type | None = None, factor: float = 1.0
) -> Float[np.ndarray, "*n"]:
    """A copy, perhaps of another type, times a factor."""
    out = np.empty(values.shape, values.dtype if dtype is None else dtype)
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

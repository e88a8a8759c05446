"""Smooth changes of a surface: monomials of the place, and the height times the lowest of them.

Nothing is stored per mode: a pass over the corners evaluates all of them. `frame` holds the row and
column of the middle and the length that counts as one.
"""

import numpy as np
from jaxtyping import Float

from anylight.compiler import numba
from anylight.threads import loop

DEGREE = 5
"""Highest degree of the monomials: compiled in. (definition)"""
NUM = (DEGREE + 1) * (DEGREE + 2) // 2 + 3
"""How many changes there are. (definition)"""
_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}


@numba.njit(inline="always", **_OPTIONS)
def _fill(x, y, height, out):
    out[0] = 1.0
    k = 1
    for d in range(1, DEGREE + 1):
        for a in range(d):
            out[k + a] = out[k - d + a] * y
        out[k + d] = out[k - 1] * x
        k += d + 1
    out[k], out[k + 1], out[k + 2] = height, height * x, height * y


@loop(_OPTIONS, over="rows", grain=256)
def _at(begin, end, rows, columns, heights, frame, out):
    for j in range(begin, end):
        x, y = (columns[j] - frame[1]) / frame[2], (rows[j] - frame[0]) / frame[2]
        _fill(x, y, heights[j], out[j])


def at(
    rows: np.ndarray, columns: np.ndarray, heights: np.ndarray, frame: tuple[float, float, float]
) -> Float[np.ndarray, "n m"]:
    """All modes at some places."""
    out = np.empty((len(rows), NUM))
    _at(rows, columns, heights, frame, out)
    return out


@loop(_OPTIONS, over="field", grain=16)
def _collect(begin, end, field, height, inside, frame, out):
    for i in range(begin, end):
        values, total = np.empty(NUM), out[i]
        for k in range(NUM):
            total[k] = 0.0
        y = (i - frame[0]) / frame[2]
        for j in range(field.shape[1]):
            if inside[i, j]:
                _fill((j - frame[1]) / frame[2], y, height[i, j], values)
                for k in range(NUM):
                    total[k] += field[i, j] * values[k]


def collect(
    field: np.ndarray, height: np.ndarray, inside: np.ndarray, frame: tuple[float, float, float]
) -> Float[np.ndarray, " m"]:
    """Sum of the field times every mode."""
    out = np.empty((len(field), NUM))
    _collect(field, height, inside, frame, out)
    return out.sum(axis=0)


@loop(_OPTIONS, over="height", grain=16)
def _squares(begin, end, height, inside, frame, out):
    for i in range(begin, end):
        values, total = np.empty(NUM), out[i]
        for k in range(NUM):
            for n in range(NUM):
                total[k, n] = 0.0
        y = (i - frame[0]) / frame[2]
        for j in range(height.shape[1]):
            if inside[i, j]:
                _fill((j - frame[1]) / frame[2], y, height[i, j], values)
                for k in range(NUM):
                    for n in range(k + 1):
                        total[k, n] += values[k] * values[n]


def squares(
    height: np.ndarray, inside: np.ndarray, frame: tuple[float, float, float]
) -> Float[np.ndarray, "m m"]:
    """Sum over the corners of every mode times every other."""
    out = np.empty((len(height), NUM, NUM))
    _squares(height, inside, frame, out)
    lower = out.sum(axis=0)
    return lower + np.tril(lower, -1).T


@loop(_OPTIONS, over="out", grain=16)
def expand(begin, end, amounts, height, inside, frame, out):
    """Add so much of every mode to `out`."""
    for i in range(begin, end):
        values = np.empty(NUM)
        y = (i - frame[0]) / frame[2]
        for j in range(out.shape[1]):
            if inside[i, j]:
                _fill((j - frame[1]) / frame[2], y, height[i, j], values)
                total = 0.0
                for k in range(NUM):
                    total += amounts[k] * values[k]
                out[i, j] += total

"""Values of harmonics of some degrees at many normals: what products of harmonics are made of.

The compiled form of `photometry.harmonics.some_harmonics`. Nothing is reordered, so that results do
not depend on where arrays lie.
"""

from functools import cache

import numpy as np
from jaxtyping import Float, Int

from anylight.photometry.harmonics import norm
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}
_TILE = 256
"""Normals that are computed together."""


@loop(_OPTIONS, over="out", axis=1, step=_TILE, grain=2)
def _values(begin, end, unit, first, norms, out):
    rows = np.empty((10, _TILE))
    x, y, z, square, real, imaginary = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    for t in range(begin, end):
        start = t * _TILE
        size = min(_TILE, out.shape[1] - start)
        for j in range(size):
            x[j], y[j], z[j] = unit[0, start + j], unit[1, start + j], unit[2, start + j]
            square[j] = x[j] * x[j] + y[j] * y[j] + z[j] * z[j]
            real[j], imaginary[j] = 1.0, 0.0
        diagonal = 1.0
        for m in range(len(first)):
            if m:
                diagonal *= 2 * m - 1
                for j in range(size):
                    before = real[j]
                    real[j] = x[j] * before - y[j] * imaginary[j]
                    imaginary[j] = x[j] * imaginary[j] + y[j] * before
            for degree in range(m, len(first)):
                own, last, earlier = rows[6 + degree % 3], rows[6 + (degree + 2) % 3], rows[9]
                if degree == m:
                    for j in range(size):
                        own[j] = diagonal
                elif degree == m + 1:
                    for j in range(size):
                        own[j] = (2 * m + 1) * z[j] * last[j]
                else:
                    earlier = rows[6 + (degree + 1) % 3]
                    a, b = (2 * degree - 1) / (degree - m), (degree + m - 1) / (degree - m)
                    for j in range(size):
                        own[j] = a * z[j] * last[j] - b * square[j] * earlier[j]
                if first[degree] < 0:
                    continue
                middle, amount = first[degree] + degree, norms[degree, m]
                right = out[middle + m, start:]
                for j in range(size):
                    right[j] = np.float32(amount * own[j] * real[j])
                if m:
                    left = out[middle - m, start:]
                    for j in range(size):
                        left[j] = np.float32(amount * own[j] * imaginary[j])


@cache
def _places(
    wanted: tuple[int, ...],
) -> tuple[int, Int[np.ndarray, " d"], Float[np.ndarray, "d d"]]:
    """How many functions there are, where those of a degree begin (−1: nowhere), and norms."""
    top = max(wanted) + 1
    first, num = np.full(top, -1, np.int64), 0
    for degree in wanted:
        first[degree] = num
        num += 2 * degree + 1
    norms = [[norm(degree, m) if m <= degree else 0.0 for m in range(top)] for degree in range(top)]
    return num, first, np.array(norms)


def some_harmonics(
    unit: Float[np.ndarray, "3 n"], wanted: tuple[int, ...]
) -> Float[np.ndarray, "A n"]:
    """Values of the harmonics of some degrees, computed in float64 and kept in float32."""
    num, first, norms = _places(wanted)
    out = np.empty((num, unit.shape[1]), np.float32)
    _values(np.ascontiguousarray(unit, np.float64), first, norms, out)
    return out

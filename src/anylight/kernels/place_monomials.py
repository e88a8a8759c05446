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


def _fill(x, y, height, out):
    """All modes at one place, or at many."""
    out[0] = 1.0
    k = 1
    for d in range(1, DEGREE + 1):
        for a in range(d):
            out[k + a] = out[k - d + a] * y
        out[k + d] = out[k - 1] * x
        k += d + 1
    out[k], out[k + 1], out[k + 2] = height, height * x, height * y


def at(
    rows: np.ndarray, columns: np.ndarray, heights: np.ndarray, frame: tuple[float, float, float]
) -> Float[np.ndarray, "m n"]:
    """All modes at some places."""
    out = np.empty((NUM, len(rows)))
    _fill((columns - frame[1]) / frame[2], (rows - frame[0]) / frame[2], heights, out)
    return out


@loop(_OPTIONS, over="field", grain=16)
def _collect(begin, end, field, height, inside, frame, out):
    for i in range(begin, end):
        row, own, here, total = field[i], height[i], inside[i], out[i]
        # Along a row only powers of x change: six sums tell all of a degree up to five.
        a = b = c = d = e = f = h = hx = 0.0
        for j in range(field.shape[1]):
            x, given = (j - frame[1]) / frame[2], np.float64(row[j]) if here[j] else 0.0
            square, raised = x * x, given * own[j]
            a += given
            b += given * x
            c += given * square
            d += given * square * x
            e += given * square * square
            f += given * square * square * x
            h += raised
            hx += raised * x
        y = (i - frame[0]) / frame[2]
        total[0] = a
        k = 1
        for degree in range(1, DEGREE + 1):
            for n in range(degree):
                total[k + n] = total[k - degree + n] * y
            power = b if degree == 1 else c if degree == 2 else d if degree == 3 else e
            total[k + degree] = f if degree == DEGREE else power
            k += degree + 1
        total[k], total[k + 1], total[k + 2] = h, hx, h * y


def collect(
    field: np.ndarray, height: np.ndarray, inside: np.ndarray, frame: tuple[float, float, float]
) -> Float[np.ndarray, " m"]:
    """Sum of the field times every mode."""
    out = np.empty((len(field), NUM))
    _collect(field, height, inside, frame, out)
    return out.sum(axis=0)


_filled = numba.njit(inline="always", **_OPTIONS)(_fill)


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
                _filled((j - frame[1]) / frame[2], y, height[i, j], values)
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
    power = np.empty((1, DEGREE + 1))[0]
    for i in range(begin, end):
        y = (i - frame[0]) / frame[2]
        # Along a row the monomials make one polynomial of x.
        for n in range(DEGREE + 1):
            total = 0.0
            for m in range(DEGREE - n, -1, -1):
                degree = n + m
                total = total * y + amounts[degree * (degree + 1) // 2 + n]
            power[n] = total
        a, b, c, d, e, f = power[0], power[1], power[2], power[3], power[4], power[5]
        first = amounts[NUM - 3] + amounts[NUM - 1] * y
        along, row, own, here = amounts[NUM - 2], out[i], height[i], inside[i]
        for j in range(out.shape[1]):
            x = (j - frame[1]) / frame[2]
            low = a + x * (b + x * (c + x * (d + x * (e + x * f))))
            total = low + own[j] * (first + along * x)
            row[j] += total if here[j] else 0.0

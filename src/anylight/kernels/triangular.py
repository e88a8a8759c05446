"""Symmetric systems with a border, several of them side by side: factors, and what they solve.

A system [[A, Bᵀ], [B, ·]] is kept row by row as (n + m, n): A above, its border B below. Its factor
L above and H = B L⁻ᵀ below are written over it; what lies above the diagonal of L has no meaning.
"""

import numpy as np

from anylight.compiler import numba
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_BLOCK = 32
"""Rows and columns that are factorised together: the rest is matrix products."""


@numba.njit(inline="always", **_OPTIONS)
def _factorise_block(block, inverse):
    """Cholesky factor of a block, over it, and the factor's inverse; False if it is not definite.

    The inverse is found row by row: row i of L⁻¹ is (eᵢ − Σ L_ij · row j) / L_ii.
    """
    for i in range(len(block)):
        own, result = block[i], inverse[i]
        for j in range(i):
            other, total = block[j], np.float32(0)
            for k in range(j):
                total += own[k] * other[k]
            own[j] = (own[j] - total) / other[j]
        total = own[i]
        for k in range(i):
            total -= own[k] * own[k]
        if not total > 0:
            return False
        own[i] = np.sqrt(total)
        for k in range(len(block)):
            result[k] = 0
        for j in range(i):
            other, amount = inverse[j], own[j]
            for k in range(j + 1):
                result[k] -= amount * other[k]
        result[i] = 1
        for k in range(i + 1):
            result[k] /= own[i]
    return True


@numba.njit(inline="always", **_OPTIONS)
def _panel(matrix, first, last, width, memory):
    """The first columns of some rows, side by side in memory."""
    out = memory[: (last - first) * width].reshape((last - first, width))
    for i in range(first, last):
        row, own = out[i - first], matrix[i]
        for k in range(width):
            row[k] = own[k]
    return out


@loop(_OPTIONS, over="systems", grain=1)
def factorise(begin, end, systems, is_definite):
    """Factorise every system (C, n + m, n) in place, and say whether it was definite."""
    total, size = systems.shape[1:]
    inverses = np.empty((-(-size // _BLOCK), _BLOCK * _BLOCK), np.float32)
    upper, lower = np.empty(_BLOCK * size, np.float32), np.empty(_BLOCK * size, np.float32)
    memory, spare = np.empty(_BLOCK**2, np.float32), np.empty(_BLOCK**2, np.float32)
    for c in range(begin, end):
        matrix, good, first = systems[c], True, 0
        while good and first < total:
            # Blocks of rows of A, then of its border.
            last = min(first + _BLOCK, size if first < size else total)
            height, left = last - first, 0
            while good and left <= min(first, size - 1):
                right = min(left + _BLOCK, size)
                width, number = right - left, left // _BLOCK
                block = memory[: height * width].reshape((height, width))
                if left:
                    rows = _panel(matrix, first, last, left, lower)
                    np.dot(rows, _panel(matrix, left, right, left, upper).T, block)
                for i in range(height):
                    for k in range(width):
                        own = matrix[first + i, left + k]
                        block[i, k] = own - block[i, k] if left else own
                inverse = inverses[number, : width * width].reshape((width, width))
                if left == first:
                    good = _factorise_block(block, inverse)
                    found = block
                else:
                    found = spare[: height * width].reshape((height, width))
                    np.dot(block, inverse.T, found)
                for i in range(height):
                    for k in range(width):
                        matrix[first + i, left + k] = found[i, k]
                left = right
            first = last
        is_definite[c] = good


@loop(_OPTIONS, over="right", grain=1)
def forward(begin, end, systems, right, given):
    """Turn every right-hand side (C, n) into y = L⁻¹ b, in place; give H y (C, m)."""
    size = right.shape[1]
    for c in range(begin, end):
        factor, x = systems[c], right[c]
        for i in range(len(factor)):
            row, total = factor[i], np.float32(0)
            for j in range(min(i, size)):
                total += row[j] * x[j]
            if i < size:
                x[i] = (x[i] - total) / row[i]
            else:
                given[c, i - size] = total


@loop(_OPTIONS, over="right", grain=1)
def backward(begin, end, systems, moved, right):
    """Turn every y (C, n) into the answer L⁻ᵀ (y − Hᵀ moved), in place."""
    size = right.shape[1]
    for c in range(begin, end):
        factor, x = systems[c], right[c]
        for i in range(len(factor) - 1, -1, -1):
            row = factor[i]
            if i < size:
                x[i] /= row[i]
                value = x[i]
            else:
                value = moved[i - size]
            for j in range(min(i, size)):
                x[j] -= row[j] * value

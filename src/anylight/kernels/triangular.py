"""Symmetric systems with a border, several of them side by side: factors, and what they solve.

A system [[A, Bᵀ], [B, ·]] is kept row by row as (n + m, n): A above, its border B below. Its factor
L above and H = B L⁻ᵀ below are written over it; what lies above the diagonal of L has no meaning.
"""

from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Int

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


@numba.njit(inline="always", **_OPTIONS)
def _left_of(matrix, top, bottom, first, last, lower, upper, block):
    """Rows and columns of a matrix less what the columns before have explained of it."""
    if first:
        rows = _panel(matrix, top, bottom, first, lower)
        np.dot(rows, _panel(matrix, first, last, first, upper).T, block)
    for i in range(bottom - top):
        for k in range(last - first):
            own = matrix[top + i, first + k]
            block[i, k] = own - block[i, k] if first else own


@loop(_OPTIONS, over="is_definite", grain=1)
def _diagonal(begin, end, systems, first, last, inverses, is_definite):
    """Factorise the blocks on the diagonal of some columns; fill in the factors' inverses."""
    width = last - first
    upper, lower = np.empty(_BLOCK * first, np.float32), np.empty(_BLOCK * first, np.float32)
    block = np.empty(width * width, np.float32).reshape((width, width))
    for c in range(begin, end):
        matrix = systems[c]
        _left_of(matrix, first, last, first, last, lower, upper, block)
        is_definite[c] = _factorise_block(block, inverses[c])
        for i in range(width):
            for k in range(width):
                matrix[first + i, first + k] = block[i, k]


@loop(_OPTIONS, over="blocks", grain=1)
def _column(begin, end, blocks, systems, first, last, inverses):
    """The same columns of blocks of rows further down: channel, first row, the one behind."""
    width = last - first
    upper, lower = np.empty(_BLOCK * first, np.float32), np.empty(_BLOCK * first, np.float32)
    memory, spare = np.empty(_BLOCK**2, np.float32), np.empty(_BLOCK**2, np.float32)
    for t in range(begin, end):
        c, top, bottom = blocks[t, 0], blocks[t, 1], blocks[t, 2]
        matrix, height = systems[c], bottom - top
        block = memory[: height * width].reshape((height, width))
        found = spare[: height * width].reshape((height, width))
        _left_of(matrix, top, bottom, first, last, lower, upper, block)
        np.dot(block, inverses[c].T, found)
        for i in range(height):
            for k in range(width):
                matrix[top + i, first + k] = found[i, k]


@cache
def _blocks(channels: int, size: int, total: int) -> Int[np.ndarray, "n 3"]:
    """Blocks of rows of all channels, of A and then of its border, from above."""
    begins = [*range(0, size, _BLOCK), *range(size, total, _BLOCK)]
    ends = [*begins[1:], total]
    return np.array(
        [(c, *rows) for rows in zip(begins, ends, strict=True) for c in range(channels)], np.int64
    )


def factorise(systems: Float[np.ndarray, "C k n"], is_definite: Bool[np.ndarray, " C"]) -> None:
    """Factorise every system (C, n + m, n) in place, and say which ones are not definite.

    Column by column of blocks, all channels and rows side by side. If a system is not definite,
    none is finished.
    """
    channels, total, size = systems.shape
    blocks = _blocks(channels, size, total)
    for k, first in enumerate(range(0, size, _BLOCK)):
        last = min(first + _BLOCK, size)
        inverses = np.empty((channels, last - first, last - first), np.float32)
        _diagonal(systems, first, last, inverses, is_definite)
        if not is_definite.all():
            return
        _column(blocks[(k + 1) * channels :], systems, first, last, inverses)


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

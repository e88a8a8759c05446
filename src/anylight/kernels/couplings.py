"""How light and changes of the surface act together on the photos, over a sample of pixels."""

from functools import cache

import numpy as np
from jaxtyping import Float, Int

from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_PAIRS = 39
"""Pairs of photos that are summed together."""


@loop(_OPTIONS, over="p", grain=1)
def across(begin, end, p, q, by_p, by_q, weight, harmonics, out):
    """Σ w (p ∂S/∂p + q ∂S/∂q) h over the pixels, (m, C, R, K), mode by mode.

    Slopes of the modes are (m, n), derivatives of the shading (C, R, n), weights (C, n), harmonics
    (n, K).
    """
    channels, photos, num = by_p.shape
    change = np.empty((channels * photos, num), np.float32)
    for k in range(begin, end):
        along_p, along_q = p[k], q[k]
        for c in range(channels):
            heavy = weight[c]
            for i in range(photos):
                row, a, b = change[c * photos + i], by_p[c, i], by_q[c, i]
                for j in range(num):
                    row[j] = heavy[j] * (along_p[j] * a[j] + along_q[j] * b[j])
        np.dot(change, harmonics, out[k].reshape((len(change), out.shape[3])))


@loop(_OPTIONS, over="blocks", grain=1)
def _own(begin, end, blocks, first, second, direction, weight, functions, table, place, out):
    size, num = len(place), direction.shape[2]
    rows, sums = np.empty((_PAIRS, num), np.float32), np.empty((_PAIRS, len(table)), np.float32)
    values = np.empty((_PAIRS, table.shape[1]), np.float32)
    for t in range(begin, end):
        c, start = blocks[t, 0], blocks[t, 1]
        some = min(_PAIRS, len(first) - start)
        heavy, own = weight[c], out[c]
        for n in range(_PAIRS):
            row = rows[n]
            if n < some:
                a, b = direction[c, first[start + n]], direction[c, second[start + n]]
                same = np.float32(1 if first[start + n] == second[start + n] else 0)
                for j in range(num):
                    row[j] = heavy[j] * (same - a[j] * b[j])
            else:
                for j in range(num):
                    row[j] = 0
        np.dot(rows, functions.T, sums)
        np.dot(sums, table, values)
        for n in range(some):
            i, j, found = first[start + n] * size, second[start + n] * size, values[n]
            for k in range(size):
                row, column = own[j + k], place[k]
                for m in range(size):
                    row[i + m] = found[column[m]]


def own(
    direction: Float[np.ndarray, "C R n"],
    weight: Float[np.ndarray, "C n"],
    functions: Float[np.ndarray, "A n"],
    table: Float[np.ndarray, "A q"],
    place: Int[np.ndarray, "K K"],
    out: Float[np.ndarray, "C k l"],
) -> None:
    """Σ w (δ − d dᵀ) h hᵀ over the pixels, for all pairs of a channel's photos.

    Only what lies below the diagonal, and the blocks on it, are filled in; rows beyond the last
    photo's are left alone.

    Args:
        direction: of every pixel's shading among the photos, of length one.
        weight: of the pixels in every channel.
        functions: what products of two harmonics are made of, in float32.
        table: how much of these every product has, in float32.
        place: which column of the table belongs to two harmonics.
        out: to fill.
    """
    _own(
        *_pairs(*direction.shape[:2]), np.ascontiguousarray(direction), weight, functions, table,
        place, out,
    )  # fmt: skip


@cache
def _pairs(
    channels: int, num: int
) -> tuple[Int[np.ndarray, "B 2"], Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Blocks of pairs, by channel and first pair; and the two photos of every pair."""
    first, second = np.triu_indices(num)
    starts = range(0, len(first), _PAIRS)
    blocks = np.array([(c, start) for c in range(channels) for start in starts], np.int64)
    return blocks, first, second

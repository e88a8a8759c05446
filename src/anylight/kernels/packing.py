"""Photos of a pixel as whole numbers of 16 bits times one scale; means of blocks, packed again."""

import numpy as np

from anylight.compiler import numba
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}
_LARGEST = 32767
"""Of the whole numbers."""
_DARK = 1e-30
"""A pixel whose numbers are all below this is black."""


@numba.njit(inline="always", **_OPTIONS)
def _pack_row(row, out):
    """Round a pixel's photos to whole numbers; gives what these are multiples of."""
    largest = np.float32(_DARK)
    for k in range(len(row)):
        largest = max(largest, abs(row[k]))
    gain = np.float32(_LARGEST) / largest
    for k in range(len(row)):
        out[k] = np.int16(np.rint(row[k] * gain))
    return largest / np.float32(_LARGEST)


@loop(_OPTIONS, over="values", grain=2048)
def pack(begin, end, values, numbers, scale):
    """Whole numbers and scales of all pixels (P, photos)."""
    for j in range(begin, end):
        scale[j] = _pack_row(values[j], numbers[j])


@loop(_OPTIONS, over="children", grain=1024)
def average(begin, end, children, numbers, scale, cover, mean_numbers, mean_scale, mean_cover):
    """Means over blocks of up to four pixels, as these count, packed; and how much blocks count.

    Children (B, 4) are the numbers of a block's pixels, −1 where there is none.
    """
    mean = np.empty((1, numbers.shape[1]), np.float32)[0]
    for b in range(begin, end):
        total = np.float32(0)
        for k in range(len(mean)):
            mean[k] = 0
        for n in range(4):
            j = children[b, n]
            if j < 0:
                continue
            total += cover[j]
            share, own = cover[j] * scale[j], numbers[j]
            for k in range(len(mean)):
                mean[k] += share * np.float32(own[k])
        for k in range(len(mean)):
            mean[k] /= total
        mean_scale[b] = _pack_row(mean, mean_numbers[b])
        mean_cover[b] = total / np.float32(4)

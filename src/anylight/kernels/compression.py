"""From stored samples to eigen-photos: products of the photos, and coefficients of the pixels."""

import numpy as np

from anylight.compiler import numba
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}
BLOCK = 1024
"""Pixels that are looked at together."""


@numba.njit(inline="always", **_OPTIONS)
def _load(photos, places, first, size, c, white, glare, out):
    """Samples (M, BLOCK) of a channel, relative to white."""
    exposure = 1 / white
    for m in range(len(photos)):
        row = out[m]
        for j in range(size):
            row[j] = min(photos[m, places[first + j], c] * exposure, glare)


@loop(_OPTIONS, over="grams", grain=1)
def look(begin, end, photos, places, white, top, glare, good, whole, bad, grams):
    """Products of all photos over the pixels that lack no sample; which these are.

    Photos are (M, N, C) as stored, of which the pixels are some `places`. Samples that are black,
    from `top` on, or no numbers, are lacking.

    Args:
        white: stored value that becomes one.
        top: stored value from which samples are cut off.
        glare: what is so many times as bright as white counts as if it were just that.
        good: to fill: share of a pixel's samples that are not lacking.
        whole: to fill: (C, P), whether none is.
        bad: to fill: how many of a block's samples are lacking.
        grams: to fill: products (blocks, C, M, M) over a block.
    """
    num, channels = len(photos), photos.shape[2]
    sample, usable = np.empty((num, BLOCK)), np.empty((1, BLOCK), np.int64)[0]
    for t in range(begin, end):
        first = t * BLOCK
        size = min(BLOCK, len(places) - first)
        for j in range(size):
            good[first + j] = 0
        bad[t] = 0
        for c in range(channels):
            _load(photos, places, first, size, c, white, glare, sample)
            for j in range(size):
                usable[j] = 0
            for m in range(num):
                for j in range(size):
                    value = photos[m, places[first + j], c]
                    usable[j] += 1 if value > 0 and value < top else 0
            for j in range(size):
                good[first + j] += np.float32(usable[j] / (num * channels))
                bad[t] += num - usable[j]
                whole[c, first + j] = usable[j] == num
            for m in range(num):
                for j in range(size):
                    sample[m, j] = sample[m, j] if usable[j] == num else 0.0
                for j in range(size, BLOCK):
                    sample[m, j] = 0.0
            np.dot(sample, sample.T, grams[t, c])


@loop(_OPTIONS, over="places", step=BLOCK, grain=1)
def describe(begin, end, photos, places, white, glare, whole, basis, values):
    """Coefficients (P, channels · R) of the pixels that lack no sample, channel by channel.

    Args:
        photos: (M, N, C) as stored.
        places: of the pixels.
        white: stored value that becomes one.
        glare: the largest sample, relative to white.
        whole: (C, P), whether a pixel lacks no sample; others are left alone.
        basis: (C, R, M), the eigen-photos.
        values: to fill.
    """
    num, (channels, kept) = len(photos), basis.shape[:2]
    sample, found = np.empty((num, BLOCK), np.float32), np.empty((kept, BLOCK), np.float32)
    for m in range(num):
        for j in range(BLOCK):
            sample[m, j] = 0
    for t in range(begin, end):
        first = t * BLOCK
        size = min(BLOCK, len(places) - first)
        for c in range(channels):
            _load(photos, places, first, size, c, white, glare, sample)
            np.dot(basis[c], sample, found)
            for j in range(size):
                if whole[c, first + j]:
                    row = values[first + j]
                    for k in range(kept):
                        row[c * kept + k] = found[k, j]

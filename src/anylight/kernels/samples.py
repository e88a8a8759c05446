"""Sums over the samples of every photo, as they are stored."""

import numpy as np

from anylight.threads import loop

from .monomials import TILE, WORK, fill_tile

_OPTIONS = {
    "cache": True, "error_model": "numpy", "boundscheck": False,
    "fastmath": {"nsz", "arcp", "contract", "afn", "reassoc"},
}  # fmt: skip
"""A stored sample may be no number: comparisons with it must stay what they are."""


@loop(_OPTIONS, over="places", step=TILE, grain=4)
def albedo_system(
    begin, end, exponents, unit, light, photos, places, white, top, glare, scale, albedo, diagonal,
    source,
):  # fmt: skip
    """Σ w s² and Σ w s I of every pixel and channel, (C, P), by Cauchy's weights.

    Light is that of the monomials, (C, M, K); photos are (M, N, C) as stored, of which the pixels
    are some `places`. Black samples and those from `top` on have no weight; what is `glare` times
    as bright as white counts as if it were just that.

    Args:
        white: stored value that becomes one.
        scale: of the penalty.
        albedo: at which the weights are taken.
    """
    channels, num = light.shape[:2]
    work = np.empty((WORK, TILE), np.float32)
    terms = np.empty((len(exponents), TILE), np.float32)
    shading = np.empty((num, TILE), np.float32)
    own = np.zeros((4, TILE), np.float32)
    paint, seen, ss, si = own[0], own[1], own[2], own[3]
    exposure, sharp = np.float32(1 / white), np.float32(1 / (scale * scale))
    for t in range(begin, end):
        first = t * TILE
        size = min(TILE, len(places) - first)
        fill_tile(exponents, unit, first, size, work, terms)
        for c in range(channels):
            np.dot(light[c], terms, shading)
            for j in range(size):
                paint[j] = albedo[c, first + j]
            for j in range(TILE):
                ss[j] = si[j] = 0
            for m in range(num):
                for j in range(size):
                    value = photos[m, places[first + j], c]
                    usable = value > 0 and value < top
                    bright = min(np.float32(value) * exposure, glare)
                    seen[j] = bright if usable else np.float32(-1)
                s = shading[m]
                for j in range(size):
                    r = paint[j] * s[j] - seen[j]
                    weight = np.float32(1) / (np.float32(1) + r * r * sharp)
                    weight = weight if seen[j] > 0 else np.float32(0)
                    ss[j] += weight * s[j] * s[j]
                    si[j] += weight * s[j] * seen[j]
            for j in range(size):
                diagonal[c, first + j], source[c, first + j] = ss[j], si[j]

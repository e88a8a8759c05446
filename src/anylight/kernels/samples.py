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
    own = np.empty((4, TILE), np.float32)
    paint, seen, ss, si = own[0], own[1], own[2], own[3]
    for j in range(TILE):
        paint[j] = seen[j] = 0
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


@loop(_OPTIONS, over="sums", grain=1)
def light_system(begin, end, terms, functions, values, albedo, light, scale, sums, source, left):
    """Sums that the light of every photo and channel is found from, by Cauchy's weights.

    Samples (C, M, n) are relative to white, negative where they say nothing. Tile by tile, Σ w ρ² f
    over the functions (A, n) that products of two harmonics are made of, (tiles, C, M, A), and
    Σ w ρ I h over the harmonics (K, n) themselves, (tiles, C, M, K).

    Args:
        albedo: (C, n).
        light: (C, M, K), at which the weights are taken.
        scale: of the penalty.
        left: to fill: residuals (C, M, n), zero where there is no sample.
    """
    channels, num = values.shape[:2]
    own = np.empty((len(terms), TILE), np.float32)
    made = np.empty((len(functions), TILE), np.float32)
    shading, heavy = np.empty((num, TILE), np.float32), np.empty((num, TILE), np.float32)
    pull = np.empty((num, TILE), np.float32)
    sharp = np.float32(1 / (scale * scale))
    for t in range(begin, end):
        first = t * TILE
        size = min(TILE, terms.shape[1] - first)
        for k in range(len(terms)):
            for j in range(TILE):
                own[k, j] = terms[k, first + j] if j < size else np.float32(0)
        for k in range(len(functions)):
            for j in range(TILE):
                made[k, j] = functions[k, first + j] if j < size else np.float32(0)
        for c in range(channels):
            np.dot(light[c], own, shading)
            for m in range(num):
                s, into, drawn = shading[m], heavy[m], pull[m]
                for j in range(size, TILE):
                    into[j] = drawn[j] = 0
                for j in range(size):
                    paint, seen = albedo[c, first + j], values[c, m, first + j]
                    is_seen = seen >= 0
                    r = paint * s[j] - seen if is_seen else np.float32(0)
                    weight = np.float32(1) / (np.float32(1) + r * r * sharp)
                    weight = paint * weight if is_seen else np.float32(0)
                    left[c, m, first + j] = r
                    into[j], drawn[j] = paint * weight, seen * weight
            np.dot(heavy, made.T, sums[t, c])
            np.dot(pull, own.T, source[t, c])

"""Which of many directions explains a pixel best, by the shading each would have."""

import math

import numpy as np

from anylight.compiler import numba
from anylight.threads import loop

from .monomials import TILE
from .viewing import ray

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_BLOCK = 64
"""Directions that are compared together: what belongs to them stays in a core's own cache."""


@numba.njit(inline="always", **_OPTIONS)
def slopes_seen(x, y, z, a, b, c, camera, most):
    """Slopes of a facet with normal (a, b, c), seen along the unit ray (x, y, z), and how directly.

    A normal that leans further than `most` from the ray is turned back, its azimuth kept.
    """
    cosine = -(a * x + b * y + c * z)
    if cosine < math.cos(most):
        a, b, c = a + cosine * x, b + cosine * y, c + cosine * z
        share = math.sin(most) / max(math.sqrt(a * a + b * b + c * c), 1e-12)
        cosine = math.cos(most)
        a, b, c = share * a - cosine * x, share * b - cosine * y, share * c - cosine * z
    facing = cosine / z
    fu, fv = camera[0] if camera[0] > 0.0 else 1.0, camera[1] if camera[0] > 0.0 else 1.0
    return a / (fu * facing), b / (fv * facing), facing


@loop(_OPTIONS, over="numbers", step=TILE, grain=4)
def best(begin, end, numbers, shading, directions, pixels, behind, camera, lean, found, p, q):
    """Number of the best direction of every pixel, and the slopes of a facet that faces there.

    Photos (P, CR) may have any scale. Shading is (C, n, R), of length one; a direction (n, 3) whose
    cosine with the viewing ray exceeds `behind` is not visible. Normals lean at most `lean`
    from their ray. [radians]
    """
    channels, num, each = shading.shape
    shot, along = np.empty((channels, each, TILE), np.float32), np.empty((3, TILE), np.float32)
    alike, facing = np.empty((_BLOCK, TILE), np.float32), np.empty((_BLOCK, TILE), np.float32)
    explained = np.empty((_BLOCK + 1, TILE), np.float32)
    which, most = np.empty((1, TILE), np.int32)[0], explained[_BLOCK]
    for t in range(begin, end):
        first = t * TILE
        size = min(TILE, len(numbers) - first)
        for c in range(channels):
            for k in range(each):
                own = shot[c, k]
                for j in range(size):
                    own[j] = numbers[first + j, c * each + k]
                for j in range(size, TILE):
                    own[j] = 0
        for j in range(TILE):
            along[0, j], along[1, j], along[2, j] = ray(camera, pixels, first + min(j, size - 1))
        for j in range(TILE):
            most[j], which[j] = -1, 0
        for begun in range(0, num, _BLOCK):
            some = min(_BLOCK, num - begun)
            np.dot(directions[begun : begun + some], along, facing[:some])
            for c in range(channels):
                np.dot(shading[c, begun : begun + some], shot[c], alike[:some])
                for d in range(some):
                    into, own = explained[d], alike[d]
                    for j in range(TILE):
                        positive = max(own[j], np.float32(0))
                        before = into[j] if c > 0 else np.float32(0)
                        into[j] = before + positive * positive
            for d in range(some):
                own, seen = explained[d], facing[d]
                for j in range(TILE):
                    better = own[j] > most[j] and seen[j] <= behind
                    most[j] = own[j] if better else most[j]
                    which[j] = begun + d if better else which[j]
        for j in range(size):
            i, d = first + j, which[j]
            found[i] = d
            x, y, z = ray(camera, pixels, i)
            p[i], q[i], _ = slopes_seen(
                x, y, z, np.float64(directions[d, 0]), np.float64(directions[d, 1]),
                np.float64(directions[d, 2]), camera, lean,
            )  # fmt: skip

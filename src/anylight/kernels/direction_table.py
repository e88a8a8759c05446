"""Which of many directions explains a pixel best, by the shading each would have."""

import numpy as np

from anylight.threads import loop

from .monomials import TILE, load_tile

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_BLOCK = 64
"""Directions that are compared together: what belongs to them stays in a core's own cache."""


@loop(_OPTIONS, over="photos", step=TILE, grain=4)
def best(begin, end, photos, shading, directions, view, behind, found):
    """Number of the best direction of every pixel.

    Shading is (C, n, R), of length one; a direction (n, 3) whose cosine with the viewing ray (3, P)
    exceeds `behind` is not visible.
    """
    channels, num, each = shading.shape
    shot, ray = np.empty((channels, each, TILE), np.float32), np.empty((3, TILE), np.float32)
    alike, facing = np.empty((_BLOCK, TILE), np.float32), np.empty((_BLOCK, TILE), np.float32)
    explained = np.empty((_BLOCK + 1, TILE), np.float32)
    which, most = np.empty((1, TILE), np.int32)[0], explained[_BLOCK]
    for t in range(begin, end):
        first = t * TILE
        size = min(TILE, len(photos) - first)
        for c in range(channels):
            for k in range(each):
                own = shot[c, k]
                for j in range(size):
                    own[j] = photos[first + j, c * each + k]
                for j in range(size, TILE):
                    own[j] = 0
        for axis in range(3):
            load_tile(view[axis], first, size, ray[axis])
        for j in range(TILE):
            most[j], which[j] = -1, 0
        for begun in range(0, num, _BLOCK):
            some = min(_BLOCK, num - begun)
            np.dot(directions[begun : begun + some], ray, facing[:some])
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
            found[first + j] = which[j]

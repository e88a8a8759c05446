"""Which of many directions explains a pixel best, by the shading each would have."""

import numpy as np

from anylight.threads import loop

from .monomials import TILE, load_tile

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}


@loop(_OPTIONS, over="photos", step=TILE, grain=4)
def best(begin, end, photos, shading, directions, view, behind, found):
    """Number of the best direction of every pixel.

    Shading is (C, n, R), of length one; a direction (n, 3) whose cosine with the viewing ray (3, P)
    exceeds `behind` is not visible.
    """
    channels, num, each = shading.shape
    shot, ray = np.empty((each, TILE), np.float32), np.empty((3, TILE), np.float32)
    alike, facing = np.empty((num, TILE), np.float32), np.empty((num, TILE), np.float32)
    explained = np.empty((num + 1, TILE), np.float32)
    which, most = np.empty((1, TILE), np.int32)[0], explained[num]
    for t in range(begin, end):
        first = t * TILE
        size = min(TILE, len(photos) - first)
        for d in range(num):
            into = explained[d]
            for j in range(TILE):
                into[j] = 0
        for c in range(channels):
            for k in range(each):
                own = shot[k]
                for j in range(size):
                    own[j] = photos[first + j, c * each + k]
                for j in range(size, TILE):
                    own[j] = 0
            np.dot(shading[c], shot, alike)
            for d in range(num):
                into, own = explained[d], alike[d]
                for j in range(TILE):
                    positive = max(own[j], np.float32(0))
                    into[j] += positive * positive
        for axis in range(3):
            load_tile(view[axis], first, size, ray[axis])
        np.dot(directions, ray, facing)
        for j in range(TILE):
            most[j], which[j] = -1, 0
        for d in range(num):
            own, seen = explained[d], facing[d]
            for j in range(TILE):
                better = own[j] > most[j] and seen[j] <= behind
                most[j] = own[j] if better else most[j]
                which[j] = d if better else which[j]
        for j in range(size):
            found[first + j] = which[j]

"""Which of many directions explains a pixel best, by the shading each would have."""

import numpy as np

from anylight.threads import loop

from .monomials import TILE

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
    explained = np.empty((num, TILE), np.float32)
    for t in range(begin, end):
        first = t * TILE
        size = min(TILE, len(photos) - first)
        shot[:, size:] = 0
        ray[:, size:] = 0
        explained[:] = 0
        for c in range(channels):
            for k in range(each):
                for j in range(size):
                    shot[k, j] = photos[first + j, c * each + k]
            np.dot(shading[c], shot, alike)
            for d in range(num):
                into, own = explained[d], alike[d]
                for j in range(TILE):
                    positive = max(own[j], np.float32(0))
                    into[j] += positive * positive
        for axis in range(3):
            for j in range(size):
                ray[axis, j] = view[axis, first + j]
        np.dot(directions, ray, facing)
        most, which = np.full(TILE, np.float32(-1)), np.zeros(TILE, np.int32)
        for d in range(num):
            own, seen = explained[d], facing[d]
            for j in range(TILE):
                better = own[j] > most[j] and seen[j] <= behind
                most[j] = own[j] if better else most[j]
                which[j] = d if better else which[j]
        for j in range(size):
            found[first + j] = which[j]

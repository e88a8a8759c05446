"""Average every pixel with those neighbours that noise alone could tell from it."""

import numpy as np

from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}


@loop(_OPTIONS, over="places", grain=256)
def average_alike(begin, end, values, places, numbers, width, radius, limit, out):
    """Mean over the neighbours whose squared distance is at most `limit`.

    Args:
        values: (P, D) float32.
        places: flat place of every pixel on a grid with a margin of at least `radius`.
        numbers: number of the pixel at every place, −1 where there is none.
        width: columns of that grid.
        radius: of the square window.
        limit: largest squared distance.
        out: (P, D), the means.
    """
    num = values.shape[1]
    for j in range(begin, end):
        own, total = values[j], out[j]
        for d in range(num):
            total[d] = own[d]
        count = np.float32(1)
        for row in range(-radius, radius + 1):
            for column in range(-radius, radius + 1):
                k = numbers[places[j] + row * width + column]
                if k < 0 or k == j:
                    continue
                other = values[k]
                distance = np.float32(0)
                for d in range(num):
                    step = own[d] - other[d]
                    distance += step * step
                if distance <= limit:
                    for d in range(num):
                        total[d] += other[d]
                    count += np.float32(1)
        for d in range(num):
            total[d] /= count

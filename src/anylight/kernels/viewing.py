"""Vectors of every pixel as they are seen along its own ray."""

import math

import numpy as np
from jaxtyping import Float, Real

from anylight.compiler import numba
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}


@numba.njit(inline="always", **_OPTIONS)
def ray(camera, pixels, j):
    """Unit direction of a pixel's ray."""
    fu, fv, u0, v0 = camera
    x, y, size = 0.0, 0.0, 1.0
    if fu > 0.0:
        x, y = (pixels[j, 0] - u0) / fu, (pixels[j, 1] - v0) / fv
        size = 1.0 / math.sqrt(x * x + y * y + 1.0)
    return x * size, y * size, size


@loop(_OPTIONS, over="out", axis=1, grain=16384)
def _in_view(begin, end, camera, pixels, vectors, out):
    for j in range(begin, end):
        x, y, z = ray(camera, pixels, j)
        a, b, c = vectors[0, j], vectors[1, j], vectors[2, j]
        share = (y * a - x * b) / (1 + z)
        out[0, j] = z * a - x * c + y * share
        out[1, j] = z * b - y * c - x * share
        out[2, j] = x * a + y * b + z * c


def in_view(
    camera: tuple[float, float, float, float],
    pixels: Real[np.ndarray, "P 2"],
    vectors: Float[np.ndarray, "3 P"],
) -> Float[np.ndarray, "3 P"]:
    """Turn the vectors of every pixel as its ray must turn to become the optical axis."""
    out = np.empty_like(vectors, order="C")
    _in_view(camera, pixels, np.ascontiguousarray(vectors), out)
    return out

"""Vectors of every pixel as they are seen along its own ray."""

import math

import numpy as np
from jaxtyping import Float, Real

from anylight.compiler import numba
from anylight.threads import loop

from .facets import fill_turns, tilts

_BLOCK = 4096
"""Pixels that are summed up together."""
_EXACT = {"cache": True, "error_model": "numpy", "boundscheck": False}
_OPTIONS = {**_EXACT, "fastmath": True}


@numba.njit(inline="always", **_OPTIONS)
def ray(camera, pixels, j):
    """Unit direction of a pixel's ray."""
    fu, fv, u0, v0 = camera
    x, y, size = 0.0, 0.0, 1.0
    if fu > 0.0:
        x, y = (pixels[j, 0] - u0) / fu, (pixels[j, 1] - v0) / fv
        size = 1.0 / math.sqrt(x * x + y * y + 1.0)
    return x * size, y * size, size


@numba.njit(inline="always", **_OPTIONS)
def _turned(x, y, z, a, b, c):
    """A vector as it is seen along the unit ray (x, y, z)."""
    share = (y * a - x * b) / (1 + z)
    return z * a - x * c + y * share, z * b - y * c - x * share, x * a + y * b + z * c


@loop(_OPTIONS, over="out", axis=1, grain=4096)
def _in_view(begin, end, camera, pixels, vectors, out):
    for j in range(begin, end):
        x, y, z = ray(camera, pixels, j)
        a, b, c = _turned(x, y, z, vectors[0, j], vectors[1, j], vectors[2, j])
        out[0, j], out[1, j], out[2, j] = a, b, c


def in_view(
    camera: tuple[float, float, float, float],
    pixels: Real[np.ndarray, "P 2"],
    vectors: Float[np.ndarray, "3 P"],
) -> Float[np.ndarray, "3 P"]:
    """Turn the vectors of every pixel as its ray must turn to become the optical axis."""
    out = np.empty_like(vectors, order="C")
    _in_view(camera, pixels, np.ascontiguousarray(vectors), out)
    return out


@loop(_OPTIONS, over="sums", grain=1)
def _total(begin, end, camera, pixels, vectors, weight, sums):
    for t in range(begin, end):
        total_a, total_b, total_c, total = 0.0, 0.0, 0.0, 0.0
        for j in range(t * _BLOCK, min((t + 1) * _BLOCK, len(weight))):
            x, y, z = ray(camera, pixels, j)
            a, b, c = _turned(x, y, z, vectors[0, j], vectors[1, j], vectors[2, j])
            total_a += weight[j] * a
            total_b += weight[j] * b
            total_c += weight[j] * c
            total += weight[j]
        sums[t, 0], sums[t, 1], sums[t, 2], sums[t, 3] = total_a, total_b, total_c, total


def mean_in_view(
    camera: tuple[float, float, float, float],
    pixels: Real[np.ndarray, "P 2"],
    vectors: Float[np.ndarray, "3 P"],
    weight: Float[np.ndarray, " P"],
) -> Float[np.ndarray, " 3"]:
    """Mean of what `in_view` gives, as pixels count."""
    sums = np.empty((-(-len(weight) // _BLOCK), 4))
    _total(camera, pixels, np.ascontiguousarray(vectors), weight, sums)
    *total, count = sums.sum(axis=0)
    return np.array(total) / count


@loop(_EXACT, over="length", grain=4096)
def turns_in_view(begin, end, camera, pixels, unit, length, weight, sizes, along_p, along_q):
    """Derivatives (3, P) of normals by both slopes, as `in_view` turns them.

    Those of every pixel are multiplied by its weight, all by three sizes.
    """
    for j in range(begin, end):
        px, pz, qy, qz = tilts(camera, pixels, j)
        fill_turns(px, pz, qy, qz, unit, length, j, along_p, along_q)
        x, y, z = ray(camera, pixels, j)
        for out in (along_p, along_q):
            a, b, c = _turned(x, y, z, out[0, j], out[1, j], out[2, j])
            out[0, j] = weight[j] * sizes[0] * a
            out[1, j] = weight[j] * sizes[1] * b
            out[2, j] = weight[j] * sizes[2] * c

"""Vectors of every pixel as they are seen along its own ray."""

import numpy as np
from jaxtyping import Float

from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}


@loop(_OPTIONS, over="out", axis=1, grain=16384)
def _in_view(begin, end, view, vectors, out):
    for j in range(begin, end):
        x, y, z = view[0, j], view[1, j], view[2, j]
        a, b, c = vectors[0, j], vectors[1, j], vectors[2, j]
        share = (y * a - x * b) / (1 + z)
        out[0, j] = z * a - x * c + y * share
        out[1, j] = z * b - y * c - x * share
        out[2, j] = x * a + y * b + z * c


def in_view(
    view: Float[np.ndarray, "3 P"], vectors: Float[np.ndarray, "3 P"]
) -> Float[np.ndarray, "3 P"]:
    """Turn the vectors of every pixel as its ray must turn to become the optical axis."""
    out = np.empty_like(vectors, order="C")
    _in_view(view, np.ascontiguousarray(vectors), out)
    return out

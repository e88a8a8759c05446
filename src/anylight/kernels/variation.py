"""Huber's total variation of an image on a mask: the penalty, and one reweighted step."""

import math

import numpy as np
from jaxtyping import Float

from anylight.linalg import memory
from anylight.linalg.grid import Grid
from anylight.linalg.multigrid import Stencil
from anylight.linalg.pcg import Solve, jacobi, pcg
from anylight.threads import loop

from .pixel_differences import Neighbours, slope_sizes

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}
_RTOL = 1e-4
"""When conjugate gradients stop. (guard)"""
_MAX_ITERATIONS = 200
"""Steps of conjugate gradients, at most. (guard)"""


def huber(size: Float[np.ndarray, " P"], width: float) -> Float[np.ndarray, " P"]:
    """Huber penalty of sizes: s²/2γ up to γ, s − γ/2 beyond."""
    return np.where(size <= width, size**2 / (2 * width), size - width / 2)


def gradient_sizes(
    grid: Grid, near: Neighbours, image: Float[np.ndarray, " P"]
) -> Float[np.ndarray, " P"]:
    """|∇x| of every pixel; differences over the rim are what `near` makes of them."""
    sizes = np.empty(len(image))
    slope_sizes(grid.spread(image.astype(np.float64)).ravel(), near, sizes)
    return sizes


@loop(_OPTIONS, over="x", margin="step", grain=4096)
def _weigh(begin, end, x, inside, step, strength, width, weight):
    for k in range(begin, end):
        p = x[k + 1] - x[k] if inside[k + 1] else np.float32(0)
        q = x[k + step] - x[k] if inside[k + step] else np.float32(0)
        size = strength / max(width, math.sqrt(p * p + q * q))
        weight[k] = size if inside[k] else np.float32(0)


@loop(_OPTIONS, over="centre", margin="step", grain=4096)
def _gather(begin, end, inside, step, weight, data, centre, right, down):
    none = np.float32(0)
    for k in range(begin, end):
        is_here = inside[k]
        ahead = weight[k] if is_here and inside[k + 1] else none
        below = weight[k] if is_here and inside[k + step] else none
        behind, above = weight[k - 1], weight[k - step]
        centre[k] = data[k] + ahead + below + behind + above if is_here else none
        right[k], down[k] = -ahead, -below


def huber_step(
    grid: Grid,
    image: Float[np.ndarray, " P"],
    data: tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]],
    strength: float,
    width: float,
) -> Solve:
    """Minimise Σ (d x² − 2 b x) + μ/2 Σ q |∇x|², q = 1 / max(γ, |∇x|) of the image at hand.

    The gradient is made of differences to the next pixels; there is none over the rim.

    Args:
        grid: of the pixels.
        image: where we are.
        data: d and b of every pixel.
        strength: μ.
        width: γ.
    """
    inside, step = grid.inside.ravel(), grid.shape[1]
    diagonal, source, start = (grid.spread(np.asarray(part, np.float32)) for part in (*data, image))
    weight, *found, nothing = memory.filled((5, len(inside)), np.float32)
    _weigh(start.ravel(), inside, step, strength / 2, width, weight)
    _gather(inside, step, weight, diagonal.ravel(), *found)
    operator = Stencil(*(part.reshape(grid.shape) for part in (*found, nothing, nothing)))
    return pcg(operator, source, jacobi(operator), _RTOL, _MAX_ITERATIONS, start)

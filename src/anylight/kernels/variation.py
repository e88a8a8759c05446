"""Huber's total variation of an image on a mask: the penalty, and one reweighted step."""

import numpy as np
from jaxtyping import Float

from anylight.linalg.grid import Grid
from anylight.linalg.pcg import Solve, jacobi, pcg

from .pixel_differences import Neighbours, assemble, slope_sizes

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


def huber_step(
    grid: Grid,
    near: Neighbours,
    image: Float[np.ndarray, " P"],
    data: tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]],
    strength: float,
    width: float,
) -> Solve:
    """Minimise Σ (d x² − 2 b x) + μ/2 Σ q |∇x|², q = 1 / max(γ, |∇x|) of the image at hand.

    Args:
        grid: of the pixels.
        near: which differences make the gradient.
        image: where we are.
        data: d and b of every pixel.
        strength: μ.
        width: γ.
    """
    diagonal, source = data
    form = np.zeros((6, len(image)), np.float32)
    form[0] = diagonal
    form[3] = form[5] = strength / 2 / np.maximum(width, gradient_sizes(grid, near, image))
    operator = assemble(form, near, grid.shape, np.float32)
    del form
    return pcg(
        operator,
        grid.spread(source.astype(np.float32)),
        jacobi(operator),
        _RTOL,
        _MAX_ITERATIONS,
        grid.spread(image.astype(np.float32)),
    )

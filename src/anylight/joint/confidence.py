"""How sure a normal is: the spread that the residual of its own pixel leaves."""

import numpy as np
from jaxtyping import Float

from .level import Level
from .local import Facing

HALF_DEG = 5.0
"""Standard deviation of a normal at which the confidence is one half."""
_FLOOR = 0.1
"""No pixel fits better than this share of the usual misfit: the rest is luck."""


def spread_deg(level: Level, facing: Facing) -> Float[np.ndarray, " P"]:
    """Standard deviation of every normal in degrees.

    The inverse curvature by the slopes, times the variance of the pixel's own residual.
    """
    unknowns = level.num_channels + 2
    freedom = max(level.photos.shape[1] - unknowns, 1)
    floor = _FLOOR * float(np.median(facing.fit.misfit))
    variance = (facing.fit.misfit + floor) / freedom
    uu, uv, vv = facing.blocks
    det = np.maximum(uu * vv - uv**2, 1e-30)
    pp, pq, qq = level.metric(facing.fit.unit, facing.fit.length)
    angle = np.sqrt(np.maximum(variance * (vv * pp - 2 * uv * pq + uu * qq) / det, 0))
    return np.rad2deg(np.minimum(angle, np.pi))


def confidence(spread: Float[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
    """A number between 0 and 1: one half at a spread of five degrees."""
    return 1 / (1 + (spread / HALF_DEG) ** 2)

"""How sure a normal is: the spread that the residual of its own pixel leaves."""

import numpy as np
from jaxtyping import Float

from anylight.joint.pixels.normals import PixelNormals
from anylight.joint.problem.pyramid import PyramidLevel

HALF_DEG = 5.0
"""Standard deviation of a normal at which the confidence is one half. (definition)"""
_NOTHING = 1e-12
"""Curvature that leaves one direction of the normal open, relative to the other. (guard)"""
_FLOOR = 0.1
"""No pixel fits better than this share of the usual misfit: the rest is luck. (guard)"""


def spread_deg(level: PyramidLevel, facing: PixelNormals) -> Float[np.ndarray, " P"]:
    """Standard deviation of every normal in degrees.

    The inverse curvature by the slopes, times the variance of the pixel's own residual.
    """
    unknowns = level.num_channels + 2
    freedom = max(level.photos.num_columns - unknowns, 1)
    floor = _FLOOR * float(np.median(facing.fit.misfit))
    variance = (facing.fit.misfit + floor) / freedom
    uu, uv, vv = facing.blocks
    det = uu * vv - uv**2
    tells = det > _NOTHING * (uu + vv) ** 2
    pp, pq, qq = level.metric(facing.fit.unit, facing.fit.length)
    square = variance * (vv * pp - 2 * uv * pq + uu * qq) / np.where(tells, det, 1)
    angle = np.where(tells, np.sqrt(np.maximum(square, 0)), np.pi)
    return np.rad2deg(np.minimum(angle, np.pi))


def confidence(spread: Float[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
    """A number between 0 and 1: one half at a spread of five degrees."""
    return 1 / (1 + (spread / HALF_DEG) ** 2)

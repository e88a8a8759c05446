"""Surfaces to start from."""

import numpy as np
from jaxtyping import Float
from scipy import ndimage

from anylight.facets.grid import Heights
from anylight.facets.resolution import block_of
from anylight.geometry.camera import Orthographic
from anylight.geometry.normals import slopes_from_normals
from anylight.initial.balloon import inflate
from anylight.integration.robust import smooth_surface
from anylight.integration.smooth import clamp_slant, height_normals
from anylight.joint.course.integrable import integrable_surface
from anylight.joint.problem.pyramid import PyramidLevel

_RIM_BLUR = 1.5
"""Standard deviation of the blur whose gradient is the outline's direction. (definition)"""
_NO_EDGE = 1e-3
"""Gradients of the blurred mask below this have no direction. (guard)"""


def rim_outwardness(level: PyramidLevel, unit: Float[np.ndarray, "3 P"]) -> float:
    """Mean of the rim normals along the silhouette's outward direction; positive if convex."""
    padded = np.pad(level.mask, 4).astype(float)
    smooth = ndimage.gaussian_filter(padded, _RIM_BLUR)
    inner = (slice(4, -4), slice(4, -4))
    outward = -np.stack(np.gradient(smooth)[::-1], axis=-1)[inner][level.mask]
    size = np.linalg.norm(outward, axis=1)
    at_border = np.ones(level.mask.shape, bool)
    at_border[2:-2, 2:-2] = False
    rim = level.domain.is_rim & (size > _NO_EDGE) & ~at_border[level.mask]
    if not rim.any():
        return 0.0
    along = (unit[:2, rim].T * outward[rim] / size[rim, None]).sum(axis=1)
    return float(along.mean())


def balloon_surface(level: PyramidLevel, volume: float) -> Heights:
    """The balloon over the silhouette as a surface of facets; concave if negative."""
    balloon = inflate(level.domain, abs(volume))
    normals = height_normals(level.domain, np.sign(volume) * balloon.height)
    pixels = level.domain.pixels
    slopes = slopes_from_normals(level.camera, pixels, clamp_slant(level.camera, pixels, normals))
    return smooth_surface(level, *slopes.T.copy())


def outward_surface(level: PyramidLevel) -> Heights:
    """The integrable surface of the eigen-photos whose rim faces outward."""
    surface = integrable_surface(level)
    unit, _ = level.normals(*level.slopes(surface))
    return surface if rim_outwardness(level, unit) >= 0 else -surface


def coarsened(fine: PyramidLevel, coarse: PyramidLevel, surface: Heights) -> Heights:
    """Heights of the mean slopes of every block of pixels."""
    _, own = block_of(fine.mask)
    count = np.bincount(own)
    scale = 1.0 if isinstance(fine.camera, Orthographic) else 2.0
    p, q = (scale * np.bincount(own, s) / count for s in fine.slopes(surface))
    return smooth_surface(coarse, p, q)

"""Surfaces to start from."""

import numpy as np
from jaxtyping import Float
from scipy import ndimage

from anylight.geometry.camera import Orthographic
from anylight.geometry.normals import slopes_from_normals
from anylight.initial.balloon import inflate
from anylight.initial.integrate import clamp_slant, height_normals

from .integrable import integrable_surface
from .integrate import smooth_surface
from .level import Level, Surface, block_of


def rim_outwardness(level: Level, unit: Float[np.ndarray, "3 P"]) -> float:
    """Mean of the rim normals along the silhouette's outward direction; positive if convex."""
    padded = np.pad(level.mask, 4).astype(float)
    smooth = ndimage.gaussian_filter(padded, 1.5)
    inner = (slice(4, -4), slice(4, -4))
    outward = -np.stack(np.gradient(smooth)[::-1], axis=-1)[inner][level.mask]
    size = np.linalg.norm(outward, axis=1)
    at_border = np.ones(level.mask.shape, bool)
    at_border[2:-2, 2:-2] = False
    rim = level.domain.is_rim & (size > 1e-3) & ~at_border[level.mask]
    if not rim.any():
        return 0.0
    along = (unit[:2, rim].T * outward[rim] / size[rim, None]).sum(axis=1)
    return float(along.mean())


def balloon_surface(level: Level, volume: float) -> Surface:
    """The balloon over the silhouette as a surface of facets; concave if negative."""
    balloon = inflate(level.domain, abs(volume))
    normals = height_normals(level.domain, np.sign(volume) * balloon.height)
    pixels = level.domain.pixels
    slopes = slopes_from_normals(level.camera, pixels, clamp_slant(level.camera, pixels, normals))
    return smooth_surface(level, *slopes.T.copy())


def outward_surface(level: Level) -> Surface:
    """The integrable surface of the eigen-photos whose rim faces outward."""
    surface = integrable_surface(level)
    unit, _ = level.normals(*level.slopes(surface))
    return surface if rim_outwardness(level, unit) >= 0 else -surface


def coarsened(fine: Level, coarse: Level, surface: Surface) -> Surface:
    """Surface of the mean slopes of every block of pixels."""
    _, own = block_of(fine.mask)
    count = np.bincount(own)
    scale = 1.0 if isinstance(fine.camera, Orthographic) else 2.0
    p, q = (scale * np.bincount(own, s) / count for s in fine.slopes(surface))
    return smooth_surface(coarse, p, q)

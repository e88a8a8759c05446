"""A start that needs no silhouette: the integrable part of the eigen-photos.

With the albedo divided out, a pixel's eigen-photos depend on its normal alone. Of all fields (p, q)
that are linear in their leading components, the slopes of a surface have the least curl. That fixes
them up to tilt, relief and the sign that tells hills from hollows.
"""

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.geometry.domain import ABSENT
from anylight.geometry.normals import slopes_from_normals
from anylight.integration.robust import smooth_surface
from anylight.integration.smooth import clamp_slant
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.terms import gauge

_COMPONENTS = 3
"""Leading components that slopes are combined of. [components]"""
_DARK = 1e-6
"""Eigen-photos shorter than this have no direction. (guard)"""
_FEWEST = 10
"""Pixels with neighbours that it takes to see a curl. (guard)"""
_CALM = 3.0
"""Changes beyond so many medians are depth steps, and left out. [medians]"""


def integrable_surface(level: PyramidLevel) -> Heights:
    """Heights of the slopes with the least curl, at the relief of a usual object."""
    components = leading_components(level)
    p, q = least_curl(level, components)
    pixels = level.domain.pixels
    normals = _relieved(p, q)
    slopes = slopes_from_normals(level.camera, pixels, clamp_slant(level.camera, pixels, normals))
    return smooth_surface(level, *slopes.T.copy())


def leading_components(level: PyramidLevel) -> Float[np.ndarray, "k P"]:
    """Leading components of the eigen-photos without albedo, centred, of unit variance."""
    hue = _hues(level)
    _, vectors = np.linalg.eigh(hue.T @ (hue * level.cover[:, None]))
    found = (hue @ vectors[:, ::-1][:, :_COMPONENTS]).T
    return found / np.maximum(found.std(axis=1, keepdims=True), 1e-12)


def _hues(level: PyramidLevel) -> Float[np.ndarray, "P CR"]:
    """Eigen-photos of unit length in every channel, centred: all that the normal does."""
    split = level.photos.values().reshape(level.size, level.num_channels, -1)
    length = np.linalg.norm(split, axis=2, keepdims=True)
    hue = (split / np.maximum(length, _DARK)).reshape(level.size, -1).astype(float)
    hue -= np.average(hue, axis=0, weights=level.cover)
    return hue


def variety(level: PyramidLevel) -> float:
    """How differently the pixels answer to the lights, paint apart: a plane has none.

    A round object has about 0.3.
    """
    hue = _hues(level)
    return float(np.sqrt((hue**2).sum(axis=1).mean() / level.num_channels))


def least_curl(
    level: PyramidLevel, components: Float[np.ndarray, "k P"]
) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
    """Combinations (p, q) of the components with the least curl for all their change."""
    right, below = level.domain.neighbour(1, 0), level.domain.neighbour(0, 1)
    own = np.flatnonzero((right != ABSENT) & (below != ABSENT))
    if len(own) < _FEWEST:
        return np.zeros(level.size), np.zeros(level.size)
    along_u = components[:, right[own]] - components[:, own]
    along_v = components[:, below[own]] - components[:, own]
    size = np.sqrt((along_u**2 + along_v**2).sum(axis=0))
    calm = size <= _CALM * np.median(size)  # not over depth steps
    along_u, along_v = along_u[:, calm], along_v[:, calm]
    curl = np.concatenate([along_v, -along_u])
    change, axes = np.linalg.eigh(along_u @ along_u.T + along_v @ along_v.T)
    live = change > 1e-9 * max(float(change[-1]), 1e-30)
    if live.sum() < 2:
        return np.zeros(level.size), np.zeros(level.size)
    half = (axes[:, live] / np.sqrt(change[live])).T
    nothing = np.zeros_like(half)
    root = np.block([[half, nothing], [nothing, half]])
    _, vectors = np.linalg.eigh(root @ (curl @ curl.T) @ root.T)
    amounts = root.T @ vectors[:, 0]
    num = len(components)
    return amounts[:num] @ components, amounts[num:] @ components


def _relieved(p: Float[np.ndarray, " P"], q: Float[np.ndarray, " P"]) -> Float[np.ndarray, "P 3"]:
    """Normals of the slopes at the strength that gives the usual mean normal."""
    low, high = 1e-6, 1e6
    square = (p**2 + q**2) / max(float((p**2 + q**2).mean()), 1e-30)
    for _ in range(60):
        middle = np.sqrt(low * high)
        if (1 / np.sqrt(1 + middle**2 * square)).mean() > gauge.MEAN_FACING:
            low = middle
        else:
            high = middle
    scale = low / np.sqrt(max(float((p**2 + q**2).mean()), 1e-30))
    normals = np.stack([scale * p, scale * q, -np.ones_like(p)], axis=1)
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)

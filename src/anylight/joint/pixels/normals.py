"""The normal of every pixel by itself: with the light known, no neighbour is needed.

A table of directions finds the best one anywhere on the visible hemisphere, a few damped Newton
steps make it exact. Such normals do not care whether the surface is continuous, so they are right
at depth steps and show where the surface is caught in a wrong place.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from anylight.facets.grid import Heights
from anylight.geometry.directions import even_directions
from anylight.integration.smooth import MAX_SLANT_DEG
from anylight.joint.problem.fit import (
    Fit,
    Light,
    basis_of,
    evaluate_slopes,
    linearise,
    polynomial,
    seen_from_middle,
)
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import direction_table, facing
from anylight.kernels.monomials import EVERYWHERE
from anylight.photometry.harmonics import harmonics

_DIRECTIONS = 800
"""Directions of the table, on half of the sphere. [directions]"""
_BEHIND = -0.05
"""Largest cosine with the viewing ray that a visible normal may have. [cosine]"""
_SEEN = 0.2
"""Directions whose z is below this may be visible somewhere in the image. (definition)"""
_STEPS = 5
"""Newton steps from the best direction of the table. [steps]"""
_SETTLED = 1e-3
"""Relative decrease of a pixel's misfit below which it takes no further step. [share]"""
_DAMPING = 1e-3
"""First damping of these steps, relative to the curvature. [share]"""


@dataclass(frozen=True, eq=False)
class PixelNormals:
    """Slopes of every pixel by itself, and how they fit."""

    p: Float[np.ndarray, " P"]
    q: Float[np.ndarray, " P"]
    fit: Fit
    blocks: Float[np.ndarray, "3 P"]
    """Curvature uu, uv, vv of the squared residual by the slopes."""


def directions(num: int) -> Float[np.ndarray, "n 3"]:
    """Directions spread evenly over the side of the sphere that a camera can see."""
    points = even_directions(2 * num)
    return points[points[:, 2] < _SEEN]


@dataclass(frozen=True, eq=False)
class _Table:
    """Directions and the shading each would have, of length one in every channel."""

    directions: Float[np.ndarray, "n 3"]
    shading: Float[np.ndarray, "C n R"]

    def starts(
        self, level: PyramidLevel
    ) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
        """Slopes of the best direction of every pixel."""
        found, (p, q) = np.empty(level.size, np.int32), np.empty((2, level.size), np.float32)
        direction_table.best(
            level.photos.numbers, self.shading, self.directions.astype(np.float32),
            level.domain.pixels, np.float32(_BEHIND), level.camera.numbers,
            np.deg2rad(MAX_SLANT_DEG), found, p, q,
        )  # fmt: skip
        return p, q


def _table(level: PyramidLevel, light: Light) -> _Table:
    table = directions(_DIRECTIONS)
    order = basis_of(level, light).order
    shading = harmonics(table, order) @ seen_from_middle(level, light)
    shading = shading.reshape(len(table), level.num_channels, -1).astype(np.float32)
    shading /= np.linalg.norm(shading, axis=2, keepdims=True) + 1e-20
    return _Table(table, np.ascontiguousarray(shading.transpose(1, 0, 2)))


def pixel_normals(
    level: PyramidLevel, light: Light, fields: Float[np.ndarray, "F P"] | None = None
) -> PixelNormals:
    """Slopes that explain every pixel best by itself.

    Args:
        level: the photos.
        light: the light.
        fields: what it changes with, under near lamps.
    """
    p, q = _table(level, light).starts(level)
    own, coefficients = polynomial(level, light)
    num = level.size
    fit = Fit(
        np.empty((3, num), np.float32),
        np.empty(num, np.float32),
        np.empty((num, level.num_channels), np.float32),
        np.empty(num, np.float32),
        fields,
    )
    blocks = np.empty((3, num), np.float32)
    places = EVERYWHERE if fields is None else np.ascontiguousarray(fields)
    facing.face(
        own.exponents, own.fields, places, coefficients, level.camera.numbers, level.domain.pixels,
        level.photos.numbers, level.photos.scale, level.num_channels, _STEPS, _DAMPING, _SETTLED,
        p, q, fit.unit, fit.length, fit.albedo, fit.misfit, blocks,
    )  # fmt: skip
    return PixelNormals(p, q, fit, blocks)


def surface_normals(level: PyramidLevel, surface: Heights, light: Light) -> PixelNormals:
    """The slopes of a surface as they are."""
    p, q = level.slopes(surface)
    fit = evaluate_slopes(level, p, q, light, fields=level.fields(surface))
    blocks, _ = curvature(level, light, fit, slice(0, level.size))
    return PixelNormals(p, q, fit, blocks.astype(np.float32))


def curvature(
    level: PyramidLevel, light: Light, fit: Fit, pixels: slice | Int[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, "3 n"], Float[np.ndarray, "2 n"]]:
    """Blocks and gradient of some pixels' squared residual by their slopes."""
    at = linearise(level, light, fit, np.ones(len(fit.misfit), np.float32), pixels, gather=False)
    return at.blocks.astype(float), at.slopes.astype(float)

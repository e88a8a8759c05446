"""The normal of every pixel by itself: with the light known, no neighbour is needed.

A table of directions finds the best one anywhere on the visible hemisphere, a few damped Newton
steps make it exact. Such normals do not care whether the surface is continuous, so they are right
at depth steps and show where the surface is caught in a wrong place.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.geometry.directions import even_directions
from anylight.geometry.normals import slopes_from_normals
from anylight.integration.smooth import clamp_slant
from anylight.joint.problem.fit import (
    CHUNK,
    Fit,
    Light,
    basis_of,
    chunks,
    evaluate_slopes,
    polynomial,
    seen_from_middle,
    shade_with_slopes,
)
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import elimination
from anylight.kernels.monomials import TILE, num_tiles
from anylight.photometry.harmonics import harmonics
from anylight.threads import in_parallel

_DIRECTIONS = 800
"""Directions of the table, on half of the sphere. [directions]"""
_BEHIND = -0.05
"""Largest cosine with the viewing ray that a visible normal may have. [cosine]"""
_SEEN = 0.2
"""Directions whose z is below this may be visible somewhere in the image. (definition)"""
_STEPS = 5
"""Newton steps from the best direction of the table. [steps]"""
_DAMPING = 1e-3
"""First damping of these steps, relative to the curvature. [share]"""
_SOME = 1 << 16
"""Pixels that are turned together. (memory)"""
_ROWS = 1024
"""Pixels compared with the table at once. (memory)"""


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
    shading: Float[np.ndarray, "n C R"]

    def best(self, level: PyramidLevel, part: slice) -> Float[np.ndarray, "P 3"]:
        """Best direction for some pixels."""
        num = self.shading.shape[2]
        found = np.empty(part.stop - part.start, np.intp)
        narrow = self.directions.T.astype(np.float32)

        def find(some: slice) -> None:
            own = slice(part.start + some.start, part.start + some.stop)
            explained = np.zeros((some.stop - some.start, len(self.directions)), np.float32)
            for c in range(level.num_channels):
                photos = level.photos[own, c * num : (c + 1) * num]
                likeness = photos @ self.shading[:, c].T
                np.maximum(likeness, 0, out=likeness)
                likeness *= likeness
                explained += likeness
            explained[level.view[:, own].T @ narrow > _BEHIND] = -1
            explained.argmax(axis=1, out=found[some])

        in_parallel(find, chunks(len(found), _ROWS))
        return self.directions[found]


def _table(level: PyramidLevel, light: Light) -> _Table:
    table = directions(_DIRECTIONS)
    order = basis_of(level, light).order
    shading = harmonics(table, order) @ seen_from_middle(level, light)
    shading = shading.reshape(len(table), level.num_channels, -1).astype(np.float32)
    shading /= np.linalg.norm(shading, axis=2, keepdims=True) + 1e-20
    return _Table(table, shading)


def pixel_normals(
    level: PyramidLevel, light: Light, fields: Float[np.ndarray, "9 P"] | None = None
) -> PixelNormals:
    """Slopes that explain every pixel best by itself.

    Args:
        level: the photos.
        light: the light.
        fields: what it changes with, under near lamps.
    """
    table = _table(level, light)
    every = [
        _face_some(level, part, light, table, None if fields is None else fields[:, part])
        for part in chunks(level.size, _SOME)
    ]
    fits = [some.fit for some in every]
    fit = Fit(
        np.concatenate([some.unit for some in fits], axis=1),
        np.concatenate([some.length for some in fits]),
        np.concatenate([some.albedo for some in fits]),
        np.concatenate([some.misfit for some in fits]),
        fields,
    )
    return PixelNormals(
        np.concatenate([some.p for some in every]),
        np.concatenate([some.q for some in every]),
        fit,
        np.concatenate([some.blocks for some in every], axis=1),
    )


def surface_normals(level: PyramidLevel, surface: Heights, light: Light) -> PixelNormals:
    """The slopes of a surface as they are."""
    p, q = level.slopes(surface)
    fit = evaluate_slopes(level, p, q, light, fields=level.fields(surface))
    blocks, _ = curvature(level, light, fit, slice(0, level.size))
    return PixelNormals(p, q, fit, blocks.astype(np.float32))


def _face_some(
    level: PyramidLevel,
    part: slice,
    light: Light,
    table: _Table,
    fields: Float[np.ndarray, "9 n"] | None,
) -> PixelNormals:
    pixels = level.domain.pixels[part]
    found = clamp_slant(level.camera, pixels, table.best(level, part))
    p, q = slopes_from_normals(level.camera, pixels, found).T
    damping = np.full(len(pixels), _DAMPING)
    fit = evaluate_slopes(level, p, q, light, part, fields)
    for _ in range(_STEPS):
        blocks, gradient = curvature(level, light, fit, part)
        uu, uv, vv = blocks
        uu, vv = uu * (1 + damping) + 1e-20, vv * (1 + damping) + 1e-20
        det = np.maximum(uu * vv - uv**2, 1e-30)
        dp = -(vv * gradient[0] - uv * gradient[1]) / det
        dq = -(uu * gradient[1] - uv * gradient[0]) / det
        trial = evaluate_slopes(level, p + dp, q + dq, light, part, fields)
        better = trial.misfit < fit.misfit
        p, q = np.where(better, p + dp, p), np.where(better, q + dq, q)
        fit = Fit(
            np.where(better, trial.unit, fit.unit),
            np.where(better, trial.length, fit.length),
            np.where(better[:, None], trial.albedo, fit.albedo),
            np.where(better, trial.misfit, fit.misfit),
            fields,
        )
        damping = np.where(better, damping / 5, damping * 10)
    blocks, _ = curvature(level, light, fit, part)
    return PixelNormals(p.astype(np.float32), q.astype(np.float32), fit, blocks.astype(np.float32))


def curvature(
    level: PyramidLevel, light: Light, fit: Fit, pixels: slice
) -> tuple[Float[np.ndarray, "3 n"], Float[np.ndarray, "2 n"]]:
    """Blocks and gradient of some pixels' squared residual by their slopes."""
    own, coefficients = polynomial(level, light)
    total = len(fit.misfit)
    photos = level.photos[pixels]
    along_p, along_q = level.turns(fit.unit, fit.length, pixels)
    blocks, gradient = np.empty((3, total)), np.empty((2, total))
    num = min(CHUNK, total)
    most = num_tiles(num)
    terms = np.empty((3, most, own.size, TILE), np.float32)
    shades = np.empty((3, most * TILE, light.shape[1]), np.float32)
    source = np.empty((num, light.shape[1]), np.float32)
    ones = np.ones(num, np.float32)
    for part in chunks(total):
        size = part.stop - part.start
        tiles = num_tiles(size)
        filled = (terms[:, :tiles], shades[:, : tiles * TILE])
        turns = (along_p[:, part], along_q[:, part])
        fields = None if fit.fields is None else fit.fields[:, part]
        shade_with_slopes(fit.unit[:, part], turns, (own, coefficients), filled, fields)
        elimination.linearise(
            photos[part], shades[0, :size], shades[1, :size], shades[2, :size], ones[:size],
            level.num_channels, fit.albedo[part], blocks[:, part], gradient[:, part],
            source[:size],
        )  # fmt: skip
    return blocks, gradient

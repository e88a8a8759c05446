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
from anylight.geometry.normals import slopes_from_normals
from anylight.integration.smooth import clamp_slant
from anylight.joint.problem.fit import (
    Fit,
    Light,
    basis_of,
    chunks,
    evaluate_slopes,
    linearise,
    seen_from_middle,
)
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import direction_table
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
_SETTLED = 1e-3
"""Relative decrease of a pixel's misfit below which it takes no further step. [share]"""
_DAMPING = 1e-3
"""First damping of these steps, relative to the curvature. [share]"""
_SOME = 1 << 13
"""Pixels that are turned together, by one thread. (memory)"""


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

    def best(self, level: PyramidLevel, part: slice) -> Float[np.ndarray, "P 3"]:
        """Best direction for some pixels."""
        found = np.empty(part.stop - part.start, np.int32)
        direction_table.best(
            level.photos[part], self.shading, self.directions.astype(np.float32),
            np.ascontiguousarray(level.view[:, part]), np.float32(_BEHIND), found,
        )  # fmt: skip
        return self.directions[found]


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
    table = _table(level, light)
    every = in_parallel(
        lambda part: _face_some(
            level, part, light, table, None if fields is None else fields[:, part]
        ),
        chunks(level.size, _SOME),
    )
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
    fields: Float[np.ndarray, "F n"] | None,
) -> PixelNormals:
    pixels = level.domain.pixels[part]
    found = clamp_slant(level.camera, pixels, table.best(level, part))
    p, q = slopes_from_normals(level.camera, pixels, found).T
    facing = _Facing(level, part, light, fields, p, q)
    for _ in range(_STEPS):
        facing.step()
    blocks, _ = curvature(level, light, facing.fit, part)
    p, q = facing.p.astype(np.float32), facing.q.astype(np.float32)
    return PixelNormals(p, q, facing.fit, blocks.astype(np.float32))


class _Facing:
    """Some pixels on their way to the slopes that explain each best."""

    def __init__(
        self,
        level: PyramidLevel,
        part: slice,
        light: Light,
        fields: Float[np.ndarray, "F n"] | None,
        p: Float[np.ndarray, " n"],
        q: Float[np.ndarray, " n"],
    ) -> None:
        self._level, self._light, self._every = level, light, np.arange(part.start, part.stop)
        self.p, self.q = p, q
        self.fit = evaluate_slopes(level, p, q, light, part, fields)
        self._damping = np.full(len(p), _DAMPING)
        self._moving = np.arange(len(p))

    def step(self) -> None:
        """A damped Newton step of every pixel that still moves."""
        at, damping = self._moving, self._damping[self._moving]
        if not len(at):
            return
        pixels, own = self._every[at], self.fit.some(at)
        (uu, uv, vv), gradient = curvature(self._level, self._light, own, pixels)
        uu, vv = uu * (1 + damping) + 1e-20, vv * (1 + damping) + 1e-20
        det = np.maximum(uu * vv - uv**2, 1e-30)
        p = self.p[at] - (vv * gradient[0] - uv * gradient[1]) / det
        q = self.q[at] - (uu * gradient[1] - uv * gradient[0]) / det
        trial = evaluate_slopes(self._level, p, q, self._light, pixels, own.fields)
        better = trial.misfit < own.misfit
        taken = at[better]
        self.p[taken], self.q[taken] = p[better], q[better]
        self.fit.unit[:, taken] = trial.unit[:, better]
        for into, new in (
            (self.fit.length, trial.length),
            (self.fit.albedo, trial.albedo),
            (self.fit.misfit, trial.misfit),
        ):
            into[taken] = new[better]
        self._damping[at] = np.where(better, damping / 5, damping * 10)
        self._moving = at[~better | (trial.misfit < (1 - _SETTLED) * own.misfit)]


def curvature(
    level: PyramidLevel, light: Light, fit: Fit, pixels: slice | Int[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, "3 n"], Float[np.ndarray, "2 n"]]:
    """Blocks and gradient of some pixels' squared residual by their slopes."""
    at = linearise(level, light, fit, np.ones(len(fit.misfit), np.float32), pixels, gather=False)
    return at.blocks.astype(float), at.slopes.astype(float)

"""Where a surface is torn: steps of the depth that the tangent planes of both ends do not explain.

Everything is measured in footprints of a pixel, so one rule serves every camera, and any two
pixels, next to each other or far apart.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Real

from .camera import Camera, Perspective

_JUMP = 3.0
"""Footprints, per pixel between two points, by which a step may miss what the normals predict."""
_MISSED_SHARE = 0.7
"""Share of a step that the normals must leave unexplained before it is a jump."""
_STEEPEST = 6.0
"""Largest slope in footprints that a normal is believed: beyond it, 80 degrees, it says only that
the surface is steep. A step of more than 20 footprints is a jump whatever the normals say."""
_BLIND_JUMP = 5.0
"""Footprints of a step that is a jump where no normals are known, if it is also …"""
_BLIND_RATIO = 10.0
"""… this many times the usual step."""


@dataclass(frozen=True, eq=False)
class SurfacePoints:
    """Pixels with a depth, and what their normals say about the slope."""

    pixels: Real[np.ndarray, "n 2"]
    height: Float[np.ndarray, " n"]
    """Log-depth (orthographic: depth)."""
    slopes: Float[np.ndarray, "n 2"]
    """In footprints per pixel; NaN where no normal is known."""
    focal: tuple[float, float]

    def step(self, a: np.ndarray, b: np.ndarray) -> Float[np.ndarray, " m"]:
        """Depth steps from points to others, in footprints."""
        return self._step(a, b, self.pixels[b] - self.pixels[a])

    def _step(
        self, a: np.ndarray, b: np.ndarray, offset: Float[np.ndarray, "m 2"]
    ) -> Float[np.ndarray, " m"]:
        scale = lengths(offset * self.focal) / lengths(offset)
        return (self.height[b] - self.height[a]) * scale

    def jumps(self, a: np.ndarray, b: np.ndarray, usual: float) -> Bool[np.ndarray, " m"]:
        """Whether the depth jumps between points and others.

        A step is a jump if it differs from the mean slope of both ends by several footprints and by
        most of itself. Steep slopes, steps that normals announce, and the rim of round things thus
        stay closed.

        Args:
            a: numbers of points.
            b: numbers of others.
            usual: step, per pixel, where nothing jumps.
        """
        offset = self.pixels[b] - self.pixels[a]
        reach = lengths(offset)
        first, second = (np.einsum("ij,ij->i", self.slopes[end], offset) for end in (a, b))
        first = np.where(np.isnan(first), second, first)
        second = np.where(np.isnan(second), first, second)
        step = self._step(a, b, offset)
        size, missed = np.abs(step), np.abs(step - (first + second) / 2)
        blind = (size > _BLIND_JUMP * reach) & (size > _BLIND_RATIO * usual * reach)
        told = (missed > _JUMP * reach) & (missed > _MISSED_SHARE * size)
        return np.where(np.isnan(missed), blind, told)


def surface_points(
    camera: Camera,
    pixels: Real[np.ndarray, "n 2"],
    depth: Float[np.ndarray, " n"],
    normals: Float[np.ndarray, "n 3"] | None,
) -> SurfacePoints:
    """Points of a surface; normals that graze or look away are as steep as allowed."""
    slopes = np.full((len(pixels), 2), np.nan)
    if normals is not None:
        facing = -np.einsum("ij,ij->i", normals, camera.rays(pixels[:, 0], pixels[:, 1]))
        sideways = lengths(normals[:, :2])
        least = np.maximum(np.maximum(facing, sideways / _STEEPEST), 1e-12)
        slopes = normals[:, :2] / least[:, None]
    if isinstance(camera, Perspective):
        return SurfacePoints(pixels, np.log(depth), slopes, camera.focal_px)
    return SurfacePoints(pixels, depth, slopes, (1.0, 1.0))


def steps_per_pixel(
    points: SurfacePoints, pairs: list[tuple[np.ndarray, np.ndarray]]
) -> Float[np.ndarray, " m"]:
    """Sizes of the steps between pairs of points, over how far apart they are."""
    steps = [
        np.abs(points.step(a, b)) / lengths(points.pixels[b] - points.pixels[a]) for a, b in pairs
    ]
    return np.concatenate([np.zeros(0), *steps])


def usual_step(steps: Float[np.ndarray, " m"]) -> float:
    """Step per pixel where nothing jumps: the median."""
    return float(np.median(steps)) if len(steps) else 0.0


def lengths(vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
    """Of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))

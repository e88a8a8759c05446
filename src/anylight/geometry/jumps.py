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
        offset = self.pixels[b] - self.pixels[a]
        reach = np.linalg.norm(offset, axis=1)
        scale = np.linalg.norm(offset * self.focal, axis=1) / reach
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
        reach = np.linalg.norm(offset, axis=1)
        first, second = ((self.slopes[end] * offset).sum(axis=1) for end in (a, b))
        first = np.where(np.isnan(first), second, first)
        second = np.where(np.isnan(second), first, second)
        step = self.step(a, b)
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
        facing = -(normals * camera.rays(pixels[:, 0], pixels[:, 1])).sum(axis=1)
        sideways = np.linalg.norm(normals[:, :2], axis=1)
        least = np.maximum(np.maximum(facing, sideways / _STEEPEST), 1e-12)
        slopes = normals[:, :2] / least[:, None]
    if isinstance(camera, Perspective):
        return SurfacePoints(pixels, np.log(depth), slopes, camera.focal_px)
    return SurfacePoints(pixels, depth, slopes, (1.0, 1.0))


def usual_step(points: SurfacePoints, pairs: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Median step per pixel over pairs of points."""
    steps = [
        np.abs(points.step(a, b)) / np.linalg.norm(points.pixels[b] - points.pixels[a], axis=1)
        for a, b in pairs
    ]
    every = np.concatenate(steps) if steps else np.zeros(0)
    return float(np.median(every)) if len(every) else 0.0

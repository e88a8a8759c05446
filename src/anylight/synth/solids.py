"""Solids given by an implicit function: negative inside, and how to hit them with rays.

The functions underestimate distance (or are scaled to), so marching by their value cannot jump
over a part of the surface. Points are (…, 3), object frame.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from .surface import Hits, Points

Field: TypeAlias = Float[np.ndarray, "*n"]
Implicit: TypeAlias = Callable[[np.ndarray], np.ndarray]
Vector: TypeAlias = tuple[float, float, float]

RADIUS = 1.6
"""All solids lie inside the sphere of this radius about the origin."""
_SMALLEST_STEP = 1e-3
_BISECTIONS = 44


def ball(p: np.ndarray, centre: Vector, radius: float) -> Field:
    """Distance to a ball."""
    return np.linalg.norm(p - centre, axis=-1) - radius


def ellipsoid(p: np.ndarray, centre: Vector, radii: Vector) -> Field:
    """Near-distance to an ellipsoid."""
    q = (p - centre) / radii
    length = np.linalg.norm(q, axis=-1)
    gradient = np.linalg.norm(q / radii, axis=-1)
    return length * (length - 1) / np.maximum(gradient, 1e-9)


def capsule(p: np.ndarray, start: Vector, end: Vector, radii: tuple[float, float]) -> Field:
    """Near-distance to a segment thickened by a radius that changes linearly."""
    axis = np.subtract(end, start)
    share = np.clip((p - start) @ axis / (axis @ axis), 0, 1)
    nearest = start + share[..., None] * axis
    return np.linalg.norm(p - nearest, axis=-1) - (radii[0] + share * (radii[1] - radii[0]))


def torus(p: np.ndarray, centre: Vector, normal: Vector, radii: tuple[float, float]) -> Field:
    """Distance to a ring with unit normal, ring radius and tube radius."""
    q = p - centre
    height = q @ np.asarray(normal)
    across = np.linalg.norm(q - height[..., None] * np.asarray(normal), axis=-1)
    return np.hypot(across - radii[0], height) - radii[1]


def slab(p: np.ndarray, half: Vector, rounding: float) -> Field:
    """Distance to a box about the origin with rounded edges."""
    q = np.abs(p) - half + rounding
    outside = np.linalg.norm(np.maximum(q, 0), axis=-1)
    return outside + np.minimum(q.max(axis=-1), 0) - rounding


def join(a: Field, b: Field, blend: float) -> Field:
    """Union with a seam smoothed over a width."""
    overlap = np.maximum(blend - np.abs(a - b), 0) / blend
    return np.minimum(a, b) - overlap**2 * blend / 4


def cut(a: Field, b: Field, blend: float) -> Field:
    """The first without the second, the edge smoothed over a width."""
    return -join(-a, b, blend)


@dataclass(frozen=True, eq=False)
class Solid:
    """A surface given as the zero set of an implicit function."""

    implicit: Implicit
    unit: float = 1.0

    def samples(self) -> Points:
        """Points of the surface met by parallel rays from the front half of space."""
        return self._samples

    @cached_property
    def _samples(self) -> Points:
        """Kept: they take longer than a small photograph."""
        grid = np.linspace(-RADIUS, RADIUS, 97)
        a, b = (axis.ravel() for axis in np.meshgrid(grid, grid))
        zero = np.zeros_like(a)
        found = []
        for angle in np.deg2rad([0, 90, 180, 270]):
            out = np.array([np.cos(angle), np.sin(angle), 0.0])
            side = np.array([-np.sin(angle), np.cos(angle), 0.0])
            origins = a[:, None] * side + b[:, None] * [0.0, 0.0, 1.0] + 2 * RADIUS * out
            found.append(self.trace(origins, np.broadcast_to(-out, origins.shape)))
        front = np.stack([a, b, zero + 2 * RADIUS], axis=-1)
        found.append(self.trace(front, np.broadcast_to([0.0, 0.0, -1.0], front.shape)))
        points = np.concatenate([hits.points[hits.is_hit] for hits in found])
        points.flags.writeable = False
        return points

    def trace(self, origins: Points, directions: Points) -> Hits:
        """March each ray to its first sign change, then bisect it to machine precision."""
        middle = -(origins * directions).sum(axis=1)
        gap = (origins**2).sum(axis=1) - middle**2
        reach = np.sqrt(np.maximum(RADIUS**2 - gap, 0))
        near, end = np.maximum(middle - reach, 0), middle + reach
        points, normals = np.full_like(origins, np.nan), np.full_like(origins, np.nan)
        active = np.flatnonzero((gap < RADIUS**2) & (end > 0))
        low, high = near.copy(), near.copy()
        hit: list[np.ndarray] = []
        while active.size:
            at = origins[active] + high[active, None] * directions[active]
            value = self.implicit(at)
            inside = value <= 0
            hit.append(active[inside])
            active, value = active[~inside], value[~inside]
            low[active] = high[active]
            high[active] += np.maximum(value, _SMALLEST_STEP)
            active = active[low[active] < end[active]]
        found = np.concatenate([np.zeros(0, int), *hit])
        points[found] = self._bisect(origins[found], directions[found], low[found], high[found])
        normals[found] = self.normals(points[found])
        return Hits(points, normals)

    def _bisect(
        self, origins: Points, directions: Points, low: np.ndarray, high: np.ndarray
    ) -> Points:
        for _ in range(_BISECTIONS):
            centre = (low + high) / 2
            inside = self.implicit(origins + centre[:, None] * directions) <= 0
            low, high = np.where(inside, low, centre), np.where(inside, centre, high)
        return origins + high[:, None] * directions

    def normals(self, points: Points) -> Points:
        """Gradient by central differences so fine that they are exact to about 1e-9."""
        step = 1e-5
        gradient = np.stack(
            [
                self.implicit(points + step * axis) - self.implicit(points - step * axis)
                for axis in np.eye(3)
            ],
            axis=-1,
        )
        return gradient / np.linalg.norm(gradient, axis=-1, keepdims=True)

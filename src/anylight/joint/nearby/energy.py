"""What a surface under near lamps leaves of the photos, and what its normals deviate from it.

    E = log(misfit) + what the pixels' normals deviate from the surface

Near lamps tell where a pixel is, not only where it faces, so depths count by themselves. Across a
depth step neither the normals nor a continuous surface know how far it jumps: a pixel's normal may
deviate from the surface, and beyond a few degrees it costs no more to deviate further.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.geometry.camera import Perspective
from anylight.joint.problem.fit import Light
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.step.newton import robust_energy, robust_scale
from anylight.photometry.near import middle_and_size

from .lamps import Lamps

TIE = 1000.0
"""Weight of the normals' deviation from the surface. [times]"""
TURN = 0.05
"""Deviation beyond which a pixel lies beside a depth step. [radians]"""


@dataclass(frozen=True, eq=False)
class State:
    """Everything unknown but the albedo."""

    surface: Heights
    turn: Float[np.ndarray, "P 3"]
    """How the pixels' normals deviate from the surface's."""
    light: Light
    """Of `all_harmonics`."""
    closeness: float


@dataclass(frozen=True, eq=False)
class Shape:
    """Normals and places of the pixels at a state."""

    smooth: Float[np.ndarray, "3 P"]
    """Normals of the surface."""
    length: Float[np.ndarray, " P"]
    unit: Float[np.ndarray, "P 3"]
    """Normals of the pixels."""
    place: Float[np.ndarray, "P 3"]
    """In distances of the lamps."""
    moves: Float[np.ndarray, "P 3"]
    """How the place changes with the height."""

    @cached_property
    def turn(self) -> Float[np.ndarray, "P 3"]:
        """How the pixels' normals deviate from the surface's."""
        return self.unit - self.smooth.T


@dataclass(frozen=True, eq=False)
class Lit:
    """How a state explains the photos, with the best albedo."""

    state: State
    shape: Shape
    response: Float[np.ndarray, "P A"]
    shading: Float[np.ndarray, "P C R"]
    albedo: Float[np.ndarray, "P C"]
    residual: Float[np.ndarray, "P C R"]
    misfit: Float[np.ndarray, " P"]
    cover: Float[np.ndarray, " P"]
    """How much the pixels count."""

    @cached_property
    def scale(self) -> float:
        """Squared residual at which a pixel's weight is one half."""
        return robust_scale(self.misfit, self.cover)


class NearModel:
    """Energy under near lamps at one resolution."""

    def __init__(self, level: PyramidLevel, order: int) -> None:
        self.level, self.lamps = level, Lamps(order)
        u, v = level.domain.pixels.T
        self._pixels = (u.astype(float), v.astype(float))

    def shape(self, state: State) -> Shape:
        """Normals and places."""
        level = self.level
        smooth, length = level.normals(*level.slopes(state.surface))
        unit = smooth.T + state.turn
        unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
        height = level.at_pixels(state.surface).astype(float)
        height -= height.mean()
        if isinstance(level.camera, Perspective):
            points = level.camera.points(*self._pixels, np.exp(height))
            moves = points
        else:
            points = level.camera.points(*self._pixels, height)
            moves = np.broadcast_to([0.0, 0.0, 1.0], points.shape)
        middle, size = middle_and_size(points)
        near = state.closeness / size
        return Shape(smooth, length, unit, near * (points - middle), near * moves)

    def __call__(self, state: State) -> Lit:
        """Light a state up."""
        level, shape = self.level, self.shape(state)
        response = self.lamps.response(shape.unit, shape.place)
        photos = level.photos.values().reshape(level.size, level.num_channels, -1)
        shading = (response @ state.light.astype(np.float32)).reshape(photos.shape)
        power = np.maximum((shading**2).sum(axis=2), 1e-12)
        albedo = np.maximum((photos * shading).sum(axis=2) / power, 0)
        residual = albedo[:, :, None] * shading - photos
        misfit = (residual.astype(float) ** 2).sum(axis=(1, 2))
        return Lit(state, shape, response, shading, albedo, residual, misfit, level.cover)

    def tie(self, shape: Shape) -> float:
        """What the deviation of the normals costs."""
        off = (shape.turn**2).sum(axis=1)
        cover = self.level.cover
        return TIE * float(cover @ (TURN**2 * off / (off + TURN**2)) / cover.sum(dtype=float))

    def hold(self, lit: Lit) -> Float[np.ndarray, " P"]:
        """Curvature of the tie by a pixel's turn, relative to the photos' own energy."""
        off = (lit.shape.turn**2).sum(axis=1)
        data = robust_energy(self.level, lit.misfit, lit.scale)
        return TIE * data * self.level.cover / (1 + off / TURN**2) ** 2

    def energy(self, lit: Lit, scale: float) -> float:
        """Energy at a robust scale."""
        return float(np.log(robust_energy(self.level, lit.misfit, scale))) + self.tie(lit.shape)


def settled(state: State, shape: Shape) -> State:
    """The same state whose turned normals have length one."""
    return replace(state, turn=shape.turn)

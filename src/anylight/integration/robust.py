"""From the normals of single pixels to one surface that may jump.

Every facet should have its pixel's normal; a robust penalty lets few facets fail badly (those that
span a depth step) instead of bending all.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import FacetGrid, Heights
from anylight.facets.inverse import FacetInverse
from anylight.kernels import facets, weighing
from anylight.linalg import memory, stencil
from anylight.linalg.multigrid import Multigrid
from anylight.linalg.pcg import pcg

_EDGE = 1e-4
"""What holds the checkerboard, relative to the mean curvature. [share]"""
_ROUNDS = 6
"""Rounds of weighing the facets. [rounds]"""
_SCALE = 0.1
"""Distance between two unit normals at which a facet counts half. [unit normals]"""
_WIDEST = 3.0
"""The first round is so many times as forgiving; every next one is less so. [times]"""
_RTOL = 1e-4
"""When conjugate gradients stop in every round. [relative residual]"""
_LINEAR_STEPS = 10
"""Steps of conjugate gradients in every round, at most. [steps]"""
_SMOOTH_EDGE = 1e-5
"""What holds the checkerboard of a smooth surface, relative to a slope's weight. [share]"""
_SMOOTH = 1e-5
"""When conjugate gradients stop for a smooth surface. (guard)"""
_PIN = 1e-9
"""What holds the free constant of the heights. (guard)"""


def smooth_surface(
    level: FacetGrid, p: Float[np.ndarray, " P"], q: Float[np.ndarray, " P"]
) -> Heights:
    """Heights whose facets have the given slopes, by plain least squares."""
    ones, zeros = np.ones(level.size, np.float32), np.zeros(level.size, np.float32)
    blocks = np.stack([ones, zeros, ones])
    edge = np.float32(_SMOOTH_EDGE) * ones
    operator = level.assemble(blocks, edge, np.float32)
    operator.centre[level.grid.inside] += np.float32(_PIN)
    found = pcg(operator, level.scatter(p, q, np.float32), FacetInverse(operator), _SMOOTH, 100)
    return level.centred(found.solution.astype(np.float64))


@dataclass(frozen=True, eq=False)
class _Product:
    """The stencil of `facets.assemble`, applied without being formed."""

    level: FacetGrid
    blocks: Float[np.ndarray, "3 P"]
    edge: float

    def lacking(
        self, surface: Heights, pull: Float[np.ndarray, "2 P"], room: memory.Room
    ) -> tuple[Heights, float]:
        """What a surface lacks of a pull on its slopes, and the size of a flat one's lack."""
        wanted = self.level.scatter(pull[0], pull[1], np.float32)
        lack = room.take(surface.shape, np.float32)
        size = float(np.sqrt(stencil.dot(wanted, wanted)))
        self.apply(memory.copied(surface, np.float32), lack)
        stencil.combine(wanted, np.float32(-1), lack)
        return lack, size

    def apply(self, x: Heights, out: Heights) -> None:
        """Compute out = A x."""
        facets.form(x, self.blocks, self.edge, self.level.here, self.level.rows, out)

    def multiply(self, x: Heights, out: Heights) -> float:
        """Compute out = A x; return x · A x."""
        self.apply(x, out)
        return stencil.dot(x, out)


def robust_surface(
    level: FacetGrid,
    p: Float[np.ndarray, " P"],
    q: Float[np.ndarray, " P"],
    cover: Float[np.ndarray, " P"],
    start: Heights,
) -> tuple[Heights, Float[np.ndarray, " P"]]:
    """Heights whose facets have the given slopes, and the weight each facet got."""
    unit, length = level.normals(p, q)
    form = level.metric(unit, length)
    form /= max(float(form.max()), 1e-30)
    edge = _EDGE * float((form[0] + form[2]).mean(dtype=float))
    even = np.full(level.size, edge, np.float32)
    del length
    view = (level.camera.numbers, level.domain.pixels)
    wanted, cover = np.stack([p, q]).astype(np.float32), cover.astype(np.float32)
    surface, room = memory.copied(start, np.float64), memory.Room()
    weight = np.empty(level.size, np.float32)
    for k in range(_ROUNDS):
        room.again()
        scale = _SCALE * max(1.0, _WIDEST * (1 - k / 3))
        blocks, pull = room.take((3, level.size), np.float32), np.empty_like(wanted)
        weighing.weigh(
            level.slopes(surface), *view, unit, form, cover, scale**2, wanted, blocks, pull, weight
        )
        inverse = Multigrid(level.assemble(blocks, even, np.float32, room), room)
        product = _Product(level, blocks, edge)
        left, size = product.lacking(surface, pull, room)
        del pull
        found = pcg(product, left, inverse, _RTOL, _LINEAR_STEPS, against=size, room=room)
        memory.add(found.solution, surface)
    return level.centred(surface), weight

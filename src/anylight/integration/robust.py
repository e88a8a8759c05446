"""From the normals of single pixels to one surface that may jump.

Every facet should have its pixel's normal; a robust penalty lets few facets fail badly (those that
span a depth step) instead of bending all.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import FacetGrid, Heights
from anylight.facets.inverse import FacetInverse
from anylight.kernels import facets
from anylight.linalg import stencil
from anylight.linalg.multigrid import Multigrid
from anylight.linalg.pcg import pcg
from anylight.threads import chunks, in_parallel

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
        self, surface: Heights, p: Float[np.ndarray, " P"], q: Float[np.ndarray, " P"]
    ) -> tuple[Heights, float]:
        """What a surface lacks of slopes that are wanted, and the size of a flat one's lack."""
        uu, uv, vv = self.blocks
        wanted = self.level.scatter(uu * p + uv * q, uv * p + vv * q, np.float32)
        size, own = float(np.sqrt(stencil.dot(wanted, wanted))), np.empty_like(wanted)
        self.multiply(surface.astype(np.float32), own)
        wanted -= own
        return wanted, size

    def multiply(self, x: Heights, out: Heights) -> float:
        """Compute out = A x; return x · A x."""
        facets.form(x, self.blocks, self.edge, self.level.here, self.level.rows, out)
        return stencil.dot(x, out)


def _weights(
    now: Float[np.ndarray, "3 P"], wanted: Float[np.ndarray, "3 P"], scale: np.float32
) -> Float[np.ndarray, " P"]:
    """How much every facet counts by the squared distance between two normals."""
    weight = np.empty(now.shape[1], np.float32)

    def weigh(part: slice) -> None:
        off = ((now[:, part] - wanted[:, part]) ** 2).sum(axis=0)
        weight[part] = 1 / (1 + off / scale)

    in_parallel(weigh, chunks(len(weight)))
    return weight


def robust_surface(
    level: FacetGrid,
    p: Float[np.ndarray, " P"],
    q: Float[np.ndarray, " P"],
    cover: Float[np.ndarray, " P"],
    start: Heights,
) -> tuple[Heights, Float[np.ndarray, " P"]]:
    """Heights whose facets have the given slopes, and the weight each facet got."""
    unit, length = level.normals(p, q)
    form = np.stack(level.metric(unit, length))
    form /= max(float(form.max()), 1e-30)
    edge = _EDGE * float((form[0] + form[2]).mean(dtype=float))
    even = np.ones(level.size, np.float32)
    del length
    surface = start
    for k in range(_ROUNDS):
        now, _ = level.normals(*level.slopes(surface))
        scale = _SCALE * max(1.0, _WIDEST * (1 - k / 3))
        weight = _weights(now, unit, np.float32(scale**2))
        del now
        blocks = form * (weight * cover)
        operator = level.assemble(blocks, edge * even, np.float32)
        pin = np.float32(_PIN * operator.centre.max())
        np.add(operator.centre, pin, out=operator.centre, where=level.grid.inside)
        inverse = Multigrid(operator)
        del operator
        product = _Product(level, blocks, edge)
        left, size = product.lacking(surface, p, q)
        surface = surface + pcg(product, left, inverse, _RTOL, _LINEAR_STEPS, against=size).solution
        del blocks, inverse, product, left  # large, and the next round makes its own
    return level.centred(surface), weight

"""One Gauss-Newton step for surface and light together, albedo eliminated.

The matrix Jᵀ W J couples all corners with all light, so it is never formed: conjugate gradients
multiply by it in one pass over the pixels. Two parts precondition: multigrid on the surface's own
block, and a small dense system of light and smooth changes of the surface, estimated from a sample
of pixels, because these can make up for each other (the bas-relief valley).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.facets.modes import Modes
from anylight.joint.problem.fit import Fit, Light, basis_of, linearise
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.step.coarse import CoarseSystem
from anylight.joint.terms.protocol import LinearTerm
from anylight.kernels import elimination, facets
from anylight.linalg import memory
from anylight.linalg.multigrid import Multigrid
from anylight.linalg.pcg import Linear, descend
from anylight.linalg.stencil import advance, combine, inner

_KEPT_PIXELS = 1 << 19
"""Up to this many pixels the shading and its slopes are kept, not computed again. (memory)"""
_KEPT_TERMS = 48
"""Where a pixel has more terms than these, fewer pixels are kept. (memory)"""
_NO_CURVATURE = 1e-15
"""Curvature by a slope below this is none. (guard)"""


@dataclass(frozen=True)
class Damping:
    """Levenberg's damping, relative to the surface's and the light's own curvature."""

    surface: float
    light: float


class Moving(Enum):
    """What a step may change."""

    BOTH = "both"
    SURFACE = "surface"
    LIGHT = "light"


class Unknowns(NamedTuple):
    """Heights of the corners and light of the eigen-photos."""

    surface: Heights
    light: Light


class _UnknownSpace:
    """Surface, in float32, and light as one vector; sums are float64."""

    def copy(self, a: Unknowns) -> Unknowns:
        return Unknowns(memory.copied(a.surface), a.light.copy())

    def dot(self, a: Unknowns, b: Unknowns) -> float:
        return inner(a.surface, b.surface) + inner(a.light, b.light)

    def advance(self, along: float, p: Unknowns, ap: Unknowns, x: Unknowns, r: Unknowns) -> float:
        x.light[:] += along * p.light
        r.light[:] -= along * ap.light
        size = advance(np.float32(along), p.surface, ap.surface, x.surface, r.surface)
        return float(np.sqrt(size + inner(r.light, r.light)))

    def combine(self, z: Unknowns, share: float, p: Unknowns) -> None:
        combine(z.surface, np.float32(share), p.surface)
        p.light[:] *= share
        p.light[:] += z.light


@dataclass(frozen=True, eq=False)
class Step:
    """A step and what it took."""

    surface: Heights
    light: Light
    iterations: int
    relative_residual: float


@dataclass(eq=False)
class System:
    """The linearised problem at a surface and a light."""

    level: PyramidLevel
    surface: Heights
    light: Light
    fit: Fit
    weight: Float[np.ndarray, " P"]
    modes: Modes
    """Smooth changes of the surface, treated together with the light."""
    terms: Sequence[LinearTerm] = ()
    """What else costs energy."""
    blocks: Float[np.ndarray, "3 P"] = field(init=False)
    surface_gradient: Heights = field(init=False)
    light_gradient: Light = field(init=False)

    def __post_init__(self) -> None:
        level = self.level
        self.weight = self.weight.astype(np.float32)
        self._matrix = basis_of(level, self.light).matrix
        terms = max(self._matrix.shape[1], _KEPT_TERMS)
        keep = level.size * terms <= _KEPT_PIXELS * _KEPT_TERMS
        found = linearise(level, self.light, self.fit, self.weight, keep=keep)
        self.blocks, self._at = found.blocks, found.at
        self._kept = (found.terms, found.shades)
        self.light_gradient = self._matrix @ found.light
        self.surface_gradient = level.scatter(found.slopes[0], found.slopes[1], np.float32)
        del found
        for term in self.terms:
            term.add_gradient(self.surface_gradient)
        self._coarse = CoarseSystem(
            level, self.modes, self.fit, self.light, self.weight, self.blocks, self._stiffness()
        )

    @property
    def curvature(self) -> float:
        """Mean curvature by a slope: the scale of the surface's damping."""
        return float((self.blocks[0] + self.blocks[2]).mean(dtype=float) / 2)

    def _stiffness(self) -> Float[np.ndarray, "m m"]:
        """The terms' curvature along the modes."""
        none = np.zeros((len(self.modes), len(self.modes)))
        return sum((term.stiffness(self.modes) for term in self.terms), start=none)

    def multiply(self, change: Unknowns) -> Unknowns:
        """Jᵀ W J, the terms' and the damping's curvature included."""
        level = self.level
        surface, light = change
        slope = level.slopes(surface)
        change_light = np.ascontiguousarray(light.T @ self._matrix, np.float32)
        passes = elimination.num_passes(level.size)
        gathered = np.empty((passes, *self._matrix.shape[1:], light.shape[1]), np.float32)
        elimination.normal_product(
            *self._at, self.weight, level.num_channels, self.fit.albedo, *self._kept, change_light,
            *slope, slope, gathered,
        )  # fmt: skip
        out = level.scatter(slope[0], slope[1], np.float32)
        facets.hold(surface, self._edge, level.cover, level.here, level.rows, out)
        for term in self.terms:
            term.add_product(surface, out)
        return Unknowns(
            out, self._matrix @ elimination.summed(gathered) + light * self._light_damping
        )

    def damp(self, damping: Damping) -> bool:
        """Set the damping and build the preconditioner for it; False if that is singular."""
        level = self.level
        self._edge = damping.surface * max(self.curvature, _NO_CURVATURE)
        edge = np.float32(self._edge) * level.cover
        operator = level.assemble(self.blocks, edge, np.float32)
        for term in self.terms:
            term.add_diagonal(operator.centre)
        found = self._coarse.damp(edge, damping.light)
        if found is None or not np.isfinite(operator.centre).all():
            return False
        self._light_damping = found
        self._inverse = Multigrid(operator)
        return True

    def _precondition(self, source: Unknowns, moving: Moving) -> Unknowns:
        smooth = self._inverse(source.surface)
        amounts, back = self._coarse.solve(self.modes.collect(source.surface), source.light)
        self.modes.add(amounts, smooth)
        if moving is Moving.LIGHT:
            smooth[:] = 0
        if moving is Moving.SURFACE:
            back[:] = 0
        return Unknowns(smooth, back)

    def solve(
        self,
        rtol: float,
        max_iterations: int,
        source: Unknowns | None = None,
        moving: Moving = Moving.BOTH,
    ) -> Step:
        """Solve for the step that the gradient asks for (or for another right-hand side)."""
        space = _UnknownSpace()
        if source is None:
            left = Unknowns(memory.copied(self.surface_gradient, factor=-1), -self.light_gradient)
        else:
            left = Unknowns(source.surface.astype(np.float32), source.light.copy())
        found = Unknowns(memory.like(left.surface), np.zeros_like(left.light))

        def multiply(p: Unknowns) -> tuple[Unknowns, float]:
            product = self.multiply(p)
            return product, space.dot(p, product)

        system = Linear(multiply, lambda r: self._precondition(r, moving))
        ended = descend(space, system, found, left, max_iterations, relative=rtol)
        return Step(*found, ended.iterations, ended.relative)

    def relax(self) -> None:
        """Let go of the preconditioner, which is large; `damp` builds the next."""
        del self._inverse

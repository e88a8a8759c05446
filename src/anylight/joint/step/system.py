"""One Gauss-Newton step for surface and light together, albedo eliminated.

The matrix Jᵀ W J couples all corners with all light, so it is never formed: conjugate gradients
multiply by it in one pass over the pixels. Two parts precondition: multigrid on the surface's own
block, and a small dense system of light and smooth changes of the surface, estimated from a sample
of pixels, because these can make up for each other (the bas-relief valley).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.facets.modes import Modes
from anylight.joint.problem.fit import CHUNK, Fit, Light, chunks, polynomial, shade_with_slopes
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.step.coarse import CoarseSystem
from anylight.joint.terms.protocol import LinearTerm
from anylight.kernels import elimination, facets, monomials
from anylight.kernels.monomials import TILE, num_tiles
from anylight.linalg.multigrid import Multigrid
from anylight.linalg.pcg import Linear, descend
from anylight.linalg.stencil import inner

_KEPT_PIXELS = 1 << 17
"""Up to this many pixels the shading and its slopes are kept, not computed again. (memory)"""
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
    """Surface and light as one vector; sums are float64, the surface's arrays may be float32."""

    def copy(self, a: Unknowns) -> Unknowns:
        return Unknowns(a.surface.copy(), a.light.copy())

    def dot(self, a: Unknowns, b: Unknowns) -> float:
        return inner(a.surface, b.surface) + inner(a.light, b.light)

    def advance(self, along: float, p: Unknowns, ap: Unknowns, x: Unknowns, r: Unknowns) -> float:
        x.surface[:] += along * p.surface
        x.light[:] += along * p.light
        ap.surface[:] *= along
        r.surface[:] -= ap.surface
        r.light[:] -= along * ap.light
        return float(np.sqrt(self.dot(r, r)))

    def combine(self, z: Unknowns, share: float, p: Unknowns) -> None:
        p.surface[:] *= share
        p.surface[:] += z.surface
        p.light[:] *= share
        p.light[:] += z.light


@dataclass(frozen=True, eq=False)
class Step:
    """A step and what it took."""

    surface: Heights
    light: Light
    iterations: int
    relative_residual: float


class _Part(NamedTuple):
    """Some pixels: tiles of their monomials, their shading and its derivatives by the slopes.

    The tiles and what follows from them may be longer than the pixels are many.
    """

    pixels: slice
    terms: np.ndarray
    shading: np.ndarray
    by_p: np.ndarray
    by_q: np.ndarray


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
        self._basis, self._coefficients = polynomial(self.level, self.light)
        self._kept: dict[int, _Part] = {}
        self.blocks = np.empty((3, level.size), np.float32)
        gradient = np.empty((2, level.size), np.float32)
        light = np.zeros(self.light.shape)
        for part, terms, shading, by_p, by_q in self._chunks():
            source = np.zeros_like(shading)
            elimination.linearise(
                level.photos[part], shading, by_p, by_q, self.weight[part], level.num_channels,
                self.fit.albedo[part], self.blocks[:, part], gradient[:, part], source,
            )  # fmt: skip
            light += self._basis.matrix @ monomials.gather(terms, source)
        self.light_gradient = light
        self.surface_gradient = level.scatter(gradient[0], gradient[1], np.float32)
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

    def _chunks(self) -> Iterator[_Part]:
        """Pass over the pixels."""
        level, own = self.level, self._basis
        most, keep = num_tiles(min(CHUNK, level.size)), level.size <= _KEPT_PIXELS
        terms = np.empty((3, most, own.size, TILE), np.float32)
        shades = np.empty((3, most * TILE, self.light.shape[1]), np.float32)
        for part in chunks(level.size):
            if part.start in self._kept:
                yield self._kept[part.start]
                continue
            tiles = num_tiles(part.stop - part.start)
            filled = (terms[:, :tiles], shades[:, : tiles * TILE])
            unit = self.fit.unit[:, part]
            turns = level.turns(unit, self.fit.length[part], part)
            fields = None if self.fit.fields is None else self.fit.fields[:, part]
            shade_with_slopes(unit, turns, (own, self._coefficients), filled, fields)
            made = _Part(part, terms[0, :tiles], *(shade[: tiles * TILE] for shade in shades))
            if keep:
                made = made._replace(terms=terms[0, :tiles].copy())
                shades = np.empty_like(shades)
                self._kept[part.start] = made
            yield made

    def multiply(self, change: Unknowns) -> Unknowns:
        """Jᵀ W J, the terms' and the damping's curvature included."""
        level = self.level
        surface, light = change
        p, q = level.slopes(surface)
        change_light = np.ascontiguousarray(self._basis.matrix.T @ light, np.float32)
        slope = np.empty((2, level.size), np.float32)
        total = np.zeros((self._basis.size, light.shape[1]), np.float64)
        most = num_tiles(min(CHUNK, level.size)) * TILE
        shift = np.empty((most, light.shape[1]), np.float32)
        source = np.zeros_like(shift)
        for part, terms, shading, by_p, by_q in self._chunks():
            monomials.shade(terms, change_light, shift)
            elimination.normal_product(
                shading, by_p, by_q, shift, self.weight[part], level.num_channels,
                self.fit.albedo[part], p[part], q[part], slope[:, part], source,
            )  # fmt: skip
            source[part.stop - part.start :] = 0
            total += monomials.gather(terms, source)
        out = level.scatter(slope[0], slope[1], np.float32)
        facets.hold(surface, self._edge, level.cover, level.here, out)
        for term in self.terms:
            term.add_product(surface, out)
        return Unknowns(out, self._basis.matrix @ total + light * self._light_damping)

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
        smooth = self._inverse(source.surface).copy()
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
            source = Unknowns(-self.surface_gradient, -self.light_gradient)
        left = space.copy(source)
        found = Unknowns(np.zeros(source.surface.shape), np.zeros_like(source.light))

        def multiply(p: Unknowns) -> tuple[Unknowns, float]:
            product = self.multiply(p)
            return product, space.dot(p, product)

        system = Linear(multiply, lambda r: self._precondition(r, moving))
        ended = descend(space, system, found, left, max_iterations, relative=rtol)
        return Step(*found, ended.iterations, ended.relative)

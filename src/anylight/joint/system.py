"""One Gauss-Newton step for surface and light together, albedo eliminated.

The matrix Jᵀ W J couples all corners with all light, so it is never formed: conjugate gradients
multiply by it in one pass over the pixels. Two parts precondition: multigrid on the surface's own
block, and a small dense system of light and smooth changes of the surface, estimated from a sample
of pixels, because these can make up for each other (the bas-relief valley).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from anylight.kernels import elimination, facets, monomials
from anylight.kernels.monomials import TILE, num_tiles
from anylight.linalg import stencil
from anylight.linalg.multigrid import Multigrid

from .coarse import CoarseSystem
from .fit import CHUNK, Fit, Light, chunks, polynomial, shade_with_slopes
from .gauge import strain, strain_gradient
from .known import KnownTerm
from .level import Level, Surface
from .modes import Modes

_KEPT_PIXELS = 1 << 17
"""Up to this many pixels the shading and its slopes are kept, not computed again."""
_NO_CURVATURE = 1e-15
"""Curvature by a slope below this is none."""


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


@dataclass(frozen=True, eq=False)
class Step:
    """A step and what it took."""

    surface: Surface
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

    level: Level
    surface: Surface
    light: Light
    fit: Fit
    weight: Float[np.ndarray, " P"]
    prior: Float[np.ndarray, "3 3"]
    """Energy of gauge strain: strainᵀ · prior · strain."""
    modes: Modes
    """Smooth changes of the surface, treated together with the light."""
    known: KnownTerm | None = None
    """What a depth from elsewhere adds."""
    blocks: Float[np.ndarray, "3 P"] = field(init=False)
    surface_gradient: Surface = field(init=False)
    light_gradient: Light = field(init=False)

    def __post_init__(self) -> None:
        level = self.level
        self.weight = self.weight.astype(np.float32)
        self._basis, self._coefficients = polynomial(self.light)
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
        self.strains = strain_gradient(level, self.fit.unit, self.fit.length)
        self._pull(self.surface_gradient, self.prior @ strain(level, self.fit.unit))
        if self.known is not None:
            self.surface_gradient += self.known.gradient.astype(np.float32)
        self._coarse = CoarseSystem(
            level, self.modes, self.fit, self.light, self.weight, self.blocks, self._stiffness()
        )

    @property
    def curvature(self) -> float:
        """Mean curvature by a slope: the scale of the surface's damping."""
        return float((self.blocks[0] + self.blocks[2]).mean(dtype=float) / 2)

    def _stiffness(self) -> Float[np.ndarray, "m m"]:
        """The prior's curvature along the modes."""
        along = np.stack([self.modes.collect(direction) for direction in self.strains])
        stiffness: Float[np.ndarray, "m m"] = along.T @ self.prior @ along
        return stiffness if self.known is None else stiffness + self.known.stiffness(self.modes)

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
            shade_with_slopes(unit, turns, (own, self._coefficients), filled)
            made = _Part(part, terms[0, :tiles], *(shade[: tiles * TILE] for shade in shades))
            if keep:
                made = made._replace(terms=terms[0, :tiles].copy())
                shades = np.empty_like(shades)
                self._kept[part.start] = made
            yield made

    def multiply(self, surface: Surface, light: Light) -> tuple[Surface, Light]:
        """Jᵀ W J, the prior's and the damping's curvature included."""
        level = self.level
        p, q = level.slopes(surface)
        change = np.ascontiguousarray(self._basis.matrix.T @ light, np.float32)
        slope = np.empty((2, level.size), np.float32)
        total = np.zeros(light.shape, np.float64)
        most = num_tiles(min(CHUNK, level.size)) * TILE
        shift = np.empty((most, light.shape[1]), np.float32)
        source = np.zeros_like(shift)
        for part, terms, shading, by_p, by_q in self._chunks():
            monomials.shade(terms, change, shift)
            elimination.normal_product(
                shading, by_p, by_q, shift, self.weight[part], level.num_channels,
                self.fit.albedo[part], p[part], q[part], slope[:, part], source,
            )  # fmt: skip
            source[part.stop - part.start :] = 0
            total += monomials.gather(terms, source)
        out = level.scatter(slope[0], slope[1], np.float32)
        facets.hold(surface, self._edge, level.cover, level.here, out)
        along = np.array([_dot(direction, surface) for direction in self.strains])
        self._pull(out, self.prior @ along)
        if self.known is not None:
            out += self.known.multiply(surface).astype(np.float32)
        return out, self._basis.matrix @ total + light * self._light_damping

    def _pull(self, out: Surface, amounts: Float[np.ndarray, " 3"]) -> None:
        """Add so much of every strain's gradient."""
        for amount, direction in zip(amounts, self.strains, strict=True):
            if amount:
                out += amount * direction

    def damp(self, damping: Damping) -> None:
        """Set the damping and build the preconditioner for it."""
        level = self.level
        self._edge = damping.surface * max(self.curvature, _NO_CURVATURE)
        edge = np.float32(self._edge) * level.cover
        operator = level.assemble(self.blocks, edge, np.float32)
        if self.known is not None:
            operator.centre[:] += self.known.diagonal().astype(np.float32)
        self._inverse = Multigrid(operator)
        self._light_damping = self._coarse.damp(edge, damping.light)

    def _precondition(
        self, surface: Surface, light: Light, moving: Moving
    ) -> tuple[Surface, Light]:
        smooth = self._inverse(surface).copy()
        amounts, back = self._coarse.solve(self.modes.collect(surface), light)
        self.modes.add(amounts, smooth)
        if moving is Moving.LIGHT:
            smooth[:] = 0
        if moving is Moving.SURFACE:
            back[:] = 0
        return smooth, back

    def solve(
        self,
        rtol: float,
        max_iterations: int,
        source: tuple[Surface, Light] | None = None,
        moving: Moving = Moving.BOTH,
    ) -> Step:
        """Solve for the step that the gradient asks for (or for another right-hand side)."""
        rs, rl = (-self.surface_gradient, -self.light_gradient) if source is None else source
        rs, rl = rs.copy(), rl.copy()
        xs, xl = np.zeros(rs.shape), np.zeros_like(rl)
        zs, zl = self._precondition(rs, rl, moving)
        first = size = _dot(rs, zs) + _dot(rl, zl)
        ps, pl = zs.copy(), zl.copy()
        count = 0
        while count < max_iterations:
            count += 1
            ms, ml = self.multiply(ps, pl)
            curvature = _dot(ps, ms) + _dot(pl, ml)
            if not curvature > 0:
                break
            along = size / curvature
            xs += along * ps
            xl += along * pl
            ms *= along
            rs -= ms
            rl -= along * ml
            zs, zl = self._precondition(rs, rl, moving)
            new = _dot(rs, zs) + _dot(rl, zl)
            if not new > rtol**2 * first:
                size = max(new, 0.0)
                break
            ps *= new / size
            ps += zs
            pl *= new / size
            pl += zl
            size = new
        relative = float(np.sqrt(size / first)) if first > 0 else 0.0
        return Step(xs, xl, count, relative)


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return stencil.dot(a, b) if a.dtype == np.float32 else float(np.vdot(a, b))

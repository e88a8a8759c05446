"""One Gauss-Newton step for surface and light together, albedo eliminated.

The matrix Jᵀ W J couples all corners with all light, so it is never formed: conjugate gradients
multiply by it in one pass over the pixels. Two parts precondition: multigrid on the surface's own
block, and a small dense system of light and smooth changes of the surface, estimated from a sample
of pixels, because these can make up for each other (the bas-relief valley).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.linalg
from jaxtyping import Float

from anylight.kernels import elimination, facets, monomials
from anylight.linalg import stencil
from anylight.linalg.multigrid import Multigrid

from .fit import CHUNK, Fit, Light, polynomial, shade_with_slopes
from .gauge import strain, strain_gradient
from .level import Level, Surface

_KEPT_PIXELS = 1 << 17
"""Up to this many pixels the shading and its slopes are kept, not computed again."""
_SAMPLE = 2048
_RIDGE = 1e-5


@dataclass(frozen=True)
class Damping:
    """Levenberg's damping, relative to the surface's and the light's own curvature."""

    surface: float
    light: float


@dataclass(frozen=True, eq=False)
class Step:
    """A step and what it took."""

    surface: Surface
    light: Light
    iterations: int
    relative_residual: float


class _Part(NamedTuple):
    """Some pixels: their monomials, shading and its derivatives by the slopes."""

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
    modes: Float[np.ndarray, "m n"]
    """Smooth changes of the surface, treated together with the light."""
    blocks: Float[np.ndarray, "3 P"] = field(init=False)
    surface_gradient: Surface = field(init=False)
    light_gradient: Light = field(init=False)

    def __post_init__(self) -> None:
        level = self.level
        self.weight = self.weight.astype(np.float32)
        self._basis, self._coefficients = polynomial(self.light)
        self._turns = level.turns(self.fit.unit, self.fit.length)
        self._kept: dict[int, _Part] = {}
        self.blocks = np.empty((3, level.size))
        gradient = np.zeros((2, level.size))
        light = np.zeros(self.light.shape)
        for part, terms, shading, by_p, by_q in self._chunks():
            source = np.empty_like(shading)
            elimination.linearise(
                level.photos[part], shading, by_p, by_q, self.weight[part], level.num_channels,
                self.fit.albedo[part], self.blocks[:, part], gradient[:, part], source,
            )  # fmt: skip
            light += self._basis.matrix @ (terms @ source).astype(float)
        self.light_gradient = light
        self.surface_gradient = level.scatter(*gradient)
        self.strains = strain_gradient(level, *self._turns)
        self._pull(self.surface_gradient, self.prior @ strain(level, self.fit.unit))
        self._make_coarse()

    @property
    def curvature(self) -> float:
        """Mean curvature by a slope: the scale of the surface's damping."""
        return float((self.blocks[0] + self.blocks[2]).mean() / 2)

    def _chunks(self) -> Iterator[_Part]:
        """Pass over the pixels."""
        level, own = self.level, self._basis
        num = min(CHUNK, level.size)
        keep = level.size <= _KEPT_PIXELS
        if not keep:
            terms = np.empty((3, own.size, num), np.float32)
            shades = np.empty((3, num, self.light.shape[1]), np.float32)
        for start in range(0, level.size, CHUNK):
            part = slice(start, min(start + CHUNK, level.size))
            if start in self._kept:
                yield self._kept[start]
                continue
            size = part.stop - part.start
            if keep:
                terms = np.empty((3, own.size, size), np.float32)
                shades = np.empty((3, size, self.light.shape[1]), np.float32)
            filled = (terms[:, :, :size], shades[:, :size])
            light = (own, self._coefficients)
            shade_with_slopes(part, self.fit, self._turns, light, filled)
            made = _Part(part, terms[0, :, :size], *(shade[:size] for shade in shades))
            if keep:
                made = made._replace(terms=terms[0].copy())
                self._kept[start] = made
            yield made

    def multiply(self, surface: Surface, light: Light) -> tuple[Surface, Light]:
        """Jᵀ W J, the prior's and the damping's curvature included."""
        level = self.level
        p, q = level.slopes(surface)
        change = np.ascontiguousarray(self._basis.matrix.T @ light, np.float32)
        slope = np.empty((2, level.size))
        total = np.zeros(light.shape, np.float64)
        num = min(CHUNK, level.size)
        shift = np.empty((num, light.shape[1]), np.float32)
        source = np.empty_like(shift)
        for part, terms, shading, by_p, by_q in self._chunks():
            size = terms.shape[1]
            np.dot(terms.T, change, out=shift[:size])
            elimination.normal_product(
                shading, by_p, by_q, shift[:size], self.weight[part], level.num_channels,
                self.fit.albedo[part], p[part], q[part], slope[:, part], source[:size],
            )  # fmt: skip
            total += terms @ source[:size]
        out = level.scatter(*slope)
        held = np.zeros(level.grid.shape)
        stencil.multiply(*self._hold, surface, held)
        out += held
        along = np.array([_dot(direction, surface) for direction in self.strains])
        self._pull(out, self.prior @ along)
        return out, self._basis.matrix @ total + light * self._light_damping

    def _pull(self, out: Surface, amounts: Float[np.ndarray, " 3"]) -> None:
        """Add so much of every strain's gradient."""
        for amount, direction in zip(amounts, self.strains, strict=True):
            if amount:
                out += amount * direction

    def damp(self, damping: Damping) -> None:
        """Set the damping and build the preconditioner for it."""
        level = self.level
        edge = damping.surface * self.curvature * level.cover.astype(float)
        nothing = np.zeros((3, level.size))
        self._hold = facets.assemble(nothing, edge, level.here, level.grid.shape)
        operator = facets.assemble(self.blocks, edge, level.here, level.grid.shape)
        self._inverse = Multigrid(operator)
        num, channels = len(self.modes), level.num_channels
        matrix = self._coarse.copy()
        inside = level.grid.inside
        held = np.zeros(level.grid.shape)
        images = np.zeros((num, int(inside.sum())))
        field_ = np.zeros(level.grid.shape)
        for k, mode in enumerate(self.modes):
            field_[inside] = mode
            stencil.multiply(*self._hold, field_, held)
            images[k] = held[inside]
        matrix[:num, :num] += self.modes @ images.T
        each = (len(matrix) - num) // channels
        self._light_damping = np.empty(self.light.shape[1])
        columns = self.light.shape[1] // channels
        diagonal = np.diag(matrix).copy()
        ridge = np.empty(len(matrix))
        ridge[:num] = _RIDGE * (diagonal[:num] + float(diagonal[:num].mean()) if num else 0)
        for c in range(channels):
            own = slice(num + c * each, num + (c + 1) * each)
            mean = float(diagonal[own].mean())
            self._light_damping[c * columns : (c + 1) * columns] = damping.light * mean
            ridge[own] = (damping.light + _RIDGE) * mean + 1e-30
        matrix[np.diag_indices(len(matrix))] += ridge
        self._factor = _factorised(matrix)

    def _make_coarse(self) -> None:
        """Dense system of smooth modes and light, from a sample of the pixels."""
        level, channels = self.level, self.level.num_channels
        num, size = len(self.modes), self._basis.size
        columns = self.light.shape[1] // channels
        each = size * columns
        matrix = np.zeros((num + channels * each, num + channels * each))
        rng = np.random.default_rng(0)
        sample = (
            np.arange(level.size)
            if level.size <= _SAMPLE
            else np.sort(rng.choice(level.size, _SAMPLE, replace=False))
        )
        factor = level.size / len(sample)
        slopes = np.empty((2, num, len(sample)))
        flat = np.zeros(level.grid.shape)
        for k, mode in enumerate(self.modes):
            flat[level.grid.inside] = mode
            slopes[:, k] = facets.slopes(flat, level.here[sample])
        uu, uv, vv = self.blocks[:, sample]
        p, q = slopes
        matrix[:num, :num] = (p * uu + q * uv) @ p.T + (p * uv + q * vv) @ q.T
        along_p, along_q = self._turns
        terms = np.empty((3, size, len(sample)), np.float32)
        monomials.evaluate_with_slopes(
            self._basis.exponents, self.fit.unit[:, sample], along_p[:, sample],
            along_q[:, sample], *terms,
        )  # fmt: skip
        shades = [(part.T @ self._coefficients).astype(float) for part in terms]
        harmonic = terms[0].T.astype(float) @ self._basis.matrix.T
        for c in range(channels):
            own = slice(c * columns, (c + 1) * columns)
            root = (self.fit.albedo[sample, c] * np.sqrt(self.weight[sample])).astype(float)
            shading = shades[0][:, own]
            direction = shading / np.sqrt((shading**2).sum(axis=1, keepdims=True) + 1e-20)
            scaled = harmonic * root[:, None]
            outer = (direction[:, :, None] * scaled[:, None, :]).reshape(len(sample), each)
            at = slice(num + c * each, num + (c + 1) * each)
            matrix[at, at] = np.kron(np.eye(columns), scaled.T @ scaled) - outer.T @ outer
            moved = []
            for by in shades[1:]:
                part = by[:, own]
                moved.append(part - direction * (direction * part).sum(axis=1, keepdims=True))
            for k in range(num):
                change = moved[0] * p[k][:, None] + moved[1] * q[k][:, None]
                matrix[k, at] = ((change * root[:, None]).T @ scaled).ravel()
            matrix[at, :num] = matrix[:num, at].T
        matrix *= factor
        along = np.stack([self.modes @ g[level.grid.inside] for g in self.strains])
        matrix[:num, :num] += along.T @ self.prior @ along
        self._coarse = matrix

    def _precondition(self, surface: Surface, light: Light) -> tuple[Surface, Light]:
        inside = self.level.grid.inside
        smooth = self._inverse(surface.astype(np.float32)).astype(float)
        size, channels = self._basis.size, self.level.num_channels
        stacked = light.reshape(size, channels, -1).transpose(1, 2, 0).ravel()
        right = np.concatenate([self.modes @ surface[inside], stacked]).astype(np.float32)
        found = scipy.linalg.cho_solve(self._factor, right, check_finite=False).astype(float)
        num = len(self.modes)
        smooth[inside] += found[:num] @ self.modes
        back = found[num:].reshape(channels, -1, size).transpose(2, 0, 1).reshape(light.shape)
        return smooth, back

    def solve(
        self,
        rtol: float,
        max_iterations: int,
        source: tuple[Surface, Light] | None = None,
    ) -> Step:
        """Solve for the step that the gradient asks for (or for another right-hand side)."""
        rs, rl = (-self.surface_gradient, -self.light_gradient) if source is None else source
        rs, rl = rs.copy(), rl.copy()
        xs, xl = np.zeros_like(rs), np.zeros_like(rl)
        zs, zl = self._precondition(rs, rl)
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
            rs -= along * ms
            rl -= along * ml
            zs, zl = self._precondition(rs, rl)
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


def _factorised(matrix: Float[np.ndarray, "n n"]) -> tuple[np.ndarray, bool]:
    """Cholesky factor in float32; what rounding made indefinite is lifted until it is not."""
    narrow = matrix.astype(np.float32)
    places = np.diag_indices(len(narrow))
    lift = np.float32(max(float(np.abs(narrow[places]).max(initial=0)), 1e-30) * 1e-6)
    while True:
        try:
            factor, lower = scipy.linalg.cho_factor(narrow, check_finite=False)
            return factor, lower
        except np.linalg.LinAlgError:
            narrow[places] += lift
            lift *= 10


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.vdot(a, b))

"""The small dense system of smooth surface changes and light that preconditions a step.

Smooth changes and light can make up for each other (the bas-relief valley), so they are treated
together. A sample of pixels is enough to know their couplings.
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from jaxtyping import Float

from anylight.facets.modes import Modes
from anylight.joint.problem.fit import Fit, Light, polynomial
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import monomials
from anylight.kernels.monomials import TILE, num_tiles
from anylight.threads import in_parallel

_SAMPLE = 2048
"""Pixels that the couplings are estimated from. [pixels]"""
_RIDGE = 1e-5
"""What keeps the couplings positive definite in single precision, relative to them. [share]"""
_LIFTS = 12
"""How often a matrix that rounding made indefinite is lifted. (guard)"""


@dataclass(eq=False)
class CoarseSystem:
    """Jᵀ W J between the modes and the light."""

    level: PyramidLevel
    modes: Modes
    fit: Fit
    light: Light
    weight: Float[np.ndarray, " P"]
    blocks: Float[np.ndarray, "3 P"]
    """Curvature by the slopes of every pixel."""
    stiffness: Float[np.ndarray, "m m"]
    """Curvature of the modes by themselves, apart from the photos."""
    _matrix: Float[np.ndarray, "n n"] = field(init=False)

    def __post_init__(self) -> None:
        level, num = self.level, len(self.modes)
        rng = np.random.default_rng(0)
        self._sample = (
            np.arange(level.size)
            if level.size <= _SAMPLE
            else np.sort(rng.choice(level.size, _SAMPLE, replace=False))
        )
        self._factor = level.size / len(self._sample)
        self._corners = self.modes.at_corners(self._sample)
        p, q = level.corner_slopes(self._corners)
        uu, uv, vv = self.blocks[:, self._sample].astype(float)
        own, coefficients = polynomial(self.light)
        channels = level.num_channels
        self._columns = self.light.shape[1] // channels
        self._each = own.size * self._columns
        size = num + channels * self._each
        matrix = np.zeros((size, size), np.float32)
        matrix[:num, :num] = (p * uu + q * uv) @ p.T + (p * uv + q * vv) @ q.T
        unit, length = self.fit.unit[:, self._sample], self.fit.length[self._sample]
        tiles = np.empty((3, num_tiles(len(self._sample)), own.size, TILE), np.float32)
        turns = level.turns(unit, length, self._sample)
        monomials.evaluate_with_slopes(own.exponents, unit, *turns, *tiles)
        terms = [monomials.flat(part, len(self._sample)) for part in tiles]
        shades = [part.T @ coefficients for part in terms]
        harmonic = terms[0].T @ own.matrix.T.astype(np.float32)
        slopes = (p.astype(np.float32), q.astype(np.float32))
        in_parallel(
            lambda channel: self._add_channel(matrix, channel, shades, harmonic, slopes),
            range(channels),
        )
        matrix *= np.float32(self._factor)
        matrix[:num, :num] += self.stiffness
        self._matrix = matrix

    def _light_of(self, channel: int) -> slice:
        first = len(self.modes) + channel * self._each
        return slice(first, first + self._each)

    def _add_channel(
        self,
        matrix: Float[np.ndarray, "n n"],
        channel: int,
        shades: list[np.ndarray],
        harmonic: Float[np.ndarray, "s K"],
        slopes: tuple[np.ndarray, np.ndarray],
    ) -> None:
        """Couplings of a channel's light with itself and with the modes."""
        sample, num, own = self._sample, len(self.modes), self._light_of(channel)
        columns = slice(channel * self._columns, (channel + 1) * self._columns)
        root = self.fit.albedo[sample, channel] * np.sqrt(self.weight[sample])
        shading, *moves = (shade[:, columns] for shade in shades)
        direction = shading / np.sqrt((shading**2).sum(axis=1, keepdims=True) + 1e-20)
        scaled = harmonic * root[:, None]
        outer = (direction[:, :, None] * scaled[:, None, :]).reshape(len(sample), self._each)
        matrix[own, own] = -(outer.T @ outer)
        square, size = scaled.T @ scaled, scaled.shape[1]
        for k in range(own.start, own.stop, size):
            matrix[k : k + size, k : k + size] += square
        by_p, by_q = (
            move - direction * (direction * move).sum(axis=1, keepdims=True) for move in moves
        )
        for k, (p, q) in enumerate(zip(*slopes, strict=True)):
            change = by_p * p[:, None] + by_q * q[:, None]
            matrix[k, own] = ((change * root[:, None]).T @ scaled).ravel()
        matrix[own, :num] = matrix[:num, own].T

    def damp(self, edge: Float[np.ndarray, " P"], light: float) -> Float[np.ndarray, " CR"] | None:
        """Factorise with damping; returns that of the light, column by column.

        None if the couplings are not finite.

        Args:
            edge: what holds the surface at every pixel (see `facets.assemble`).
            light: damping relative to the light's own curvature.
        """
        num = len(self.modes)
        matrix = self._matrix.copy()
        held = edge[self._sample] * (self._factor / 2)
        for one, other in ((0, 1), (2, 3), (0, 2), (1, 3)):
            change = self._corners[one] - self._corners[other]
            matrix[:num, :num] += (change * held) @ change.T
        diagonal = np.diag(matrix).copy()
        ridge = np.empty(len(matrix))
        ridge[:num] = _RIDGE * (diagonal[:num] + (float(diagonal[:num].mean()) if num else 0))
        damping = np.empty(self.light.shape[1])
        for c in range(self.level.num_channels):
            own = self._light_of(c)
            mean = float(diagonal[own].mean())
            damping[c * self._columns : (c + 1) * self._columns] = light * mean
            ridge[own] = (light + _RIDGE) * mean + 1e-30
        matrix[np.diag_indices(len(matrix))] += ridge
        factor = _factorised(matrix)
        if factor is None:
            return None
        self._inverse = factor
        return damping

    def solve(
        self, amounts: Float[np.ndarray, " m"], light: Light
    ) -> tuple[Float[np.ndarray, " m"], Light]:
        """Amounts of the modes and light that answer a right-hand side."""
        size, channels, num = len(light), self.level.num_channels, len(self.modes)
        stacked = light.reshape(size, channels, -1).transpose(1, 2, 0).ravel()
        right = np.concatenate([amounts, stacked]).astype(np.float32)
        found = scipy.linalg.cho_solve(self._inverse, right, check_finite=False).astype(float)
        back = found[num:].reshape(channels, -1, size).transpose(2, 0, 1).reshape(light.shape)
        return found[:num], back


def _factorised(matrix: Float[np.ndarray, "n n"]) -> tuple[np.ndarray, bool] | None:
    """Cholesky factor in float32; what rounding made indefinite is lifted until it is not."""
    if not np.isfinite(matrix).all():
        return None
    places = np.diag_indices(len(matrix))
    lift = np.float32(max(float(np.abs(matrix[places]).max(initial=0)), 1e-30) * 1e-6)
    for _ in range(_LIFTS):
        try:
            factor, lower = scipy.linalg.cho_factor(matrix, check_finite=False)
            return factor, lower
        except np.linalg.LinAlgError:
            matrix[places] += lift
            lift *= 10
    return None

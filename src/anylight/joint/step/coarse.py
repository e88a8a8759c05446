"""The small dense system of smooth surface changes and light that preconditions a step.

Smooth changes and light can make up for each other (the bas-relief valley), so they are treated
together. A sample of pixels is enough to know their couplings.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import scipy.linalg
from jaxtyping import Float, Int

from anylight.facets.modes import Modes
from anylight.joint.problem.fit import Fit, Light, basis_of, linearise
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import couplings, triangular
from anylight.kernels.harmonics import some_harmonics
from anylight.kernels.monomials import flat
from anylight.linalg import memory
from anylight.photometry.products import products

_SAMPLE = 2048
"""Pixels that the couplings are estimated from, at most. [pixels]"""
_SAMPLE_EACH = 5
"""Pixels for every mode and every coefficient of a channel's light, at most. [pixels]"""
_EDGE_EACH = 4
"""What holds the surface is estimated from every so many of these pixels. (memory)"""
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
    _own: Float[np.ndarray, "m m"] = field(init=False)
    """Of the modes with themselves."""

    def __post_init__(self) -> None:
        level = self.level
        self._columns = self.light.shape[1] // level.num_channels
        unknowns = len(self.modes) + len(self.light) * self._columns
        self._sample = _sample(level.size, min(_SAMPLE, int(_SAMPLE_EACH * unknowns)))
        self._factor = level.size / len(self._sample)
        corners = self.modes.at_corners(self._sample)
        p, q = level.corner_slopes(corners)
        self._edges = np.concatenate(
            [
                corners[a, :, ::_EDGE_EACH] - corners[b, :, ::_EDGE_EACH]
                for a, b in ((0, 1), (2, 3), (0, 2), (1, 3))
            ],
            axis=1,
            dtype=np.float32,
        )
        uu, uv, vv = self.blocks[:, self._sample]
        sampled = self.fit.some(self._sample)
        weight = self.weight[self._sample]
        at = linearise(level, self.light, sampled, weight, self._sample, gather=False, keep=True)
        num = len(self._sample)
        own, channels = basis_of(level, self.light), level.num_channels
        harmonic = flat(at.terms, num).T @ own.matrix.T.astype(np.float32)
        shading, by_p, by_q = (
            flat(at.shades[:, k], num).reshape(channels, -1, num) for k in range(3)
        )
        direction = shading / np.sqrt((shading**2).sum(axis=1, keepdims=True) + 1e-20)
        by_p, by_q = (
            move - direction * (direction * move).sum(axis=1, keepdims=True)
            for move in (by_p, by_q)
        )
        painted = np.ascontiguousarray(sampled.albedo.T, np.float32) ** 2
        painted *= (weight * self._factor).astype(np.float32)
        across = np.empty((len(self.modes), *shading.shape[:2], len(own.matrix)), np.float32)
        slopes = (p.astype(np.float32), q.astype(np.float32))
        couplings.across(*slopes, by_p, by_q, painted, np.ascontiguousarray(harmonic), across)
        size = self._columns * len(own.matrix)
        self._bordered = np.empty((channels, size + len(self.modes), size), np.float32)
        self._bordered[:, size:] = across.reshape(-1, channels, size).transpose(1, 0, 2)
        if len(own.fields):
            roots = np.sqrt(painted)[:, :, None]
            for c in range(channels):
                self._bordered[c, :size] = _plain(direction[c].T, harmonic * roots[c])
        else:
            made = products(own.order)
            functions = some_harmonics(sampled.unit, made.wanted)
            couplings.own(direction, painted, functions, made.single, made.place, self._bordered)
        p, q = slopes
        photos = (p * uu + q * uv) @ p.T + (p * uv + q * vv) @ q.T
        self._own = self._factor * photos + self.stiffness

    def damp(self, edge: Float[np.ndarray, " P"], light: float) -> Float[np.ndarray, " CR"] | None:
        """Factorise with damping; returns that of the light, column by column.

        None if the couplings are not finite.

        Args:
            edge: what holds the surface at every pixel (see `facets.assemble`).
            light: damping relative to the light's own curvature.
        """
        matrix = self._own.copy()
        some = self._sample[::_EDGE_EACH]
        held = edge[some] * (self.level.size / len(some) / 2)
        matrix += (self._edges * np.tile(held, 4)) @ self._edges.T
        diagonal = np.diag(matrix).copy()
        lift = _RIDGE * (diagonal + (float(diagonal.mean()) if len(diagonal) else 0))
        matrix[np.diag_indices(len(matrix))] += lift
        sizes = np.diagonal(self._bordered, axis1=1, axis2=2).mean(axis=1, dtype=float)
        factors = _factorised(self._bordered, (light + _RIDGE) * sizes + 1e-30)
        if factors is None:
            return None
        half = np.concatenate(factors[:, factors.shape[2] :], axis=1).astype(float)
        inverse = _inverted(matrix - half @ half.T)
        if inverse is None:
            return None
        self._factors, self._inverse = factors, inverse
        return np.repeat(light * sizes, self._columns)

    def solve(
        self, amounts: Float[np.ndarray, " m"], light: Light
    ) -> tuple[Float[np.ndarray, " m"], Light]:
        """Amounts of the modes and light that answer a right-hand side."""
        size, channels = len(light), self.level.num_channels
        stacked = light.reshape(size, channels, -1).transpose(1, 2, 0).reshape(channels, -1)
        found, given = stacked.astype(np.float32), np.empty((channels, len(amounts)), np.float32)
        triangular.forward(self._factors, found, given)
        moved = self._inverse @ (amounts - given.sum(axis=0, dtype=float))
        triangular.backward(self._factors, moved.astype(np.float32), found)
        back = found.astype(float).reshape(channels, -1, size)
        return moved, back.transpose(2, 0, 1).reshape(light.shape)


@lru_cache(maxsize=16)
def _sample(size: int, num: int) -> Int[np.ndarray, " n"]:
    """Numbers of so many pixels, or of all if these are fewer, in order."""
    if size <= num:
        return np.arange(size)
    return np.sort(np.random.default_rng(0).choice(size, num, replace=False))


def _plain(
    direction: Float[np.ndarray, "s r"], scaled: Float[np.ndarray, "s K"]
) -> Float[np.ndarray, "l l"]:
    """Couplings of the light of a channel's photos by their shading, across its direction."""
    outer = (direction[:, :, None] * scaled[:, None, :]).reshape(len(scaled), -1)
    own = -(outer.T @ outer)
    square, size = scaled.T @ scaled, scaled.shape[1]
    for k in range(0, len(own), size):
        own[k : k + size, k : k + size] += square
    return np.asarray(own)


def _factorised(
    bordered: Float[np.ndarray, "C n l"], held: Float[np.ndarray, " C"]
) -> Float[np.ndarray, "C n l"] | None:
    """Factors of the channels' light and its couplings with the modes (see `triangular`).

    What rounding made indefinite is lifted until it is not; None if that does not help.

    Args:
        bordered: couplings of the light of every channel, and below them those with the modes:
            channels know of each other through the modes alone.
        held: what is added to the diagonals.
    """
    channels, _, size = bordered.shape
    diagonals, places = np.diagonal(bordered, axis1=1, axis2=2), np.arange(size)
    lift = np.maximum(np.abs(diagonals).max(axis=1), 1e-30) * 1e-6
    good = np.empty(channels, bool)
    for _ in range(_LIFTS):
        systems = memory.copied(bordered)
        systems[:, places, places] += held[:, None].astype(np.float32)
        triangular.factorise(systems, good)
        if good.all():
            return systems
        held = np.where(good, held, held + lift)
        lift *= 10
    return None


def _inverted(matrix: Float[np.ndarray, "m m"]) -> Float[np.ndarray, "m m"] | None:
    """Inverse of a symmetric matrix; what rounding made indefinite is lifted until it is not."""
    if not np.isfinite(matrix).all():
        return None
    matrix = (matrix + matrix.T) / 2
    places = np.diag_indices(len(matrix))
    lift = max(float(np.abs(matrix[places]).max(initial=0)), 1e-30) * 1e-6
    for _ in range(_LIFTS):
        try:
            root = scipy.linalg.inv(np.linalg.cholesky(matrix), check_finite=False)
            return root.T @ root
        except np.linalg.LinAlgError:
            matrix[places] += lift
            lift *= 10
    return None

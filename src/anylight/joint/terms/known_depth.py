"""Heights that are known from elsewhere (a sensor, MVS, a laser): a term of the energy.

Photos tell slopes, a sensor tells heights: where both speak, fine detail follows the photos and the
overall shape the sensor, because a height that is wrong over a wide area costs much here and little
there. The penalty is Cauchy's, so stray measurements count little. The mean difference is free: it
is the scale of the depth, which is set at the end.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import FacetGrid, Heights
from anylight.facets.modes import Modes
from anylight.facets.resolution import block_of
from anylight.geometry.camera import Orthographic
from anylight.joint.problem.fit import Fit

_RELATIVE_SPREAD = 0.1
"""Standard deviation of known heights. [standard deviations of the relief]"""
_STRAY = 0.25
"""Difference at which a measurement counts half. [standard deviations of the relief]"""
_SAMPLE = 2048
"""Pixels that the curvature along modes is estimated from. (memory)"""
_ROUNDS = 50
"""Rounds of finding the mean difference, at most. (guard)"""


@dataclass(frozen=True, eq=False)
class Deviation:
    """How far a surface is from what is known, and how much each pixel counts."""

    value: Float[np.ndarray, " P"]
    """Less the mean."""
    weight: Float[np.ndarray, " P"]
    mean: float


@dataclass(frozen=True, eq=False)
class KnownDepth:
    """Heights of the pixels, up to a constant."""

    level: FacetGrid
    height: Float[np.ndarray, " P"]
    weight: Float[np.ndarray, " P"]
    """How much each counts; zero where nothing is known."""
    strength: float
    """What one standard deviation from them costs, as a share of the photos' energy."""

    @property
    def relief(self) -> float:
        """Standard deviation of the known heights."""
        return max(float(self.height[self.weight > 0].std()), 1e-9)

    @property
    def _stray(self) -> float:
        return (_STRAY * self.relief) ** 2

    def deviation(self, height: Float[np.ndarray, " P"]) -> Deviation:
        """Compare heights of the pixels with the known ones; strays lose their weight."""
        raw = np.where(self.weight > 0, height - self.height, 0.0)
        stray = self._stray
        mean = float(np.median(raw[self.weight > 0]))
        for _ in range(_ROUNDS):
            weight = self.weight / (1 + (raw - mean) ** 2 / stray)
            before, mean = mean, float(weight @ raw / weight.sum())
            if abs(mean - before) < 1e-9 * np.sqrt(stray):
                break
        return Deviation(np.where(self.weight > 0, raw - mean, 0.0), weight, mean)

    def cost(self, surface: Heights, unit: Float[np.ndarray, "3 P"]) -> float:
        """Cauchy's penalty of the deviation."""
        del unit
        found = self.deviation(self.level.at_pixels(surface))
        penalty = self._stray * np.log1p(found.value**2 / self._stray)
        spread = _RELATIVE_SPREAD * self.relief
        spreads = self.weight @ penalty / self.weight.sum() / spread**2
        return float(self.strength * spreads)

    def linearise(self, surface: Heights, fit: Fit, energy: float) -> "LinearKnownDepth":
        """Reweighted least squares."""
        del fit
        found = self.deviation(self.level.at_pixels(surface))
        spread = _RELATIVE_SPREAD * self.relief
        scale = self.strength * energy / (self.weight.sum() * spread**2)
        return LinearKnownDepth(self.level, found.value, scale * found.weight)

    def halved(self, fine: FacetGrid, coarse: FacetGrid) -> "KnownDepth":
        """Known heights of blocks of pixels; parallel rays measure them in pixels."""
        _, own = block_of(fine.mask)
        weight = np.bincount(own, self.weight)
        total = np.bincount(own, np.where(self.weight > 0, self.height, 0) * self.weight)
        scale = 0.5 if isinstance(fine.camera, Orthographic) else 1.0
        height = scale * total / np.maximum(weight, 1e-12)
        return KnownDepth(coarse, height, weight / 4, self.strength)


@dataclass(frozen=True, eq=False)
class LinearKnownDepth:
    """The term at a surface: weighed least squares of the heights, their mean free."""

    level: FacetGrid
    value: Float[np.ndarray, " P"]
    weight: Float[np.ndarray, " P"]

    def add_gradient(self, out: Heights) -> None:
        """Add Aᵀ W d; A takes heights of corners to pixels."""
        out += self.level.from_pixels(self.weight * self.value).astype(out.dtype)

    def add_product(self, change: Heights, out: Heights) -> None:
        """Add Aᵀ W (A x − mean)."""
        moved = self.level.at_pixels(change)
        mean = float(self.weight @ moved) / max(float(self.weight.sum()), 1e-300)
        out += self.level.from_pixels(self.weight * (moved - mean)).astype(out.dtype)

    def add_diagonal(self, out: Heights) -> None:
        """Add the row sums of Aᵀ W A."""
        out += self.level.from_pixels(self.weight).astype(out.dtype)

    def stiffness(self, modes: Modes) -> Float[np.ndarray, "m m"]:
        """Curvature along modes, from a sample of the pixels."""
        size = self.level.size
        sample = np.arange(0, size, max(1, size // _SAMPLE))
        heights = modes.at_corners(sample).mean(axis=0)
        weight = self.weight[sample] * (size / len(sample))
        heights = heights - (heights @ weight / max(weight.sum(), 1e-300))[:, None]
        return (heights * weight) @ heights.T

"""Heights that are known from elsewhere (a sensor, MVS, a laser): a term of the energy.

Photos tell slopes, a sensor tells heights: where both speak, fine detail follows the photos and the
overall shape the sensor, because a height that is wrong over a wide area costs much here and little
there. The penalty is Cauchy's, so stray measurements count little. The mean difference is free: it
is the scale of the depth, which is set at the end.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from .level import Level, Surface
from .modes import Modes

_RELATIVE_SPREAD = 0.1
"""Standard deviation of known heights, in standard deviations of the relief."""
_STRAY = 0.25
"""Difference at which a measurement counts half, in standard deviations of the relief."""
_SAMPLE = 2048
_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class Difference:
    """How far a surface is from what is known, and how much each pixel counts."""

    value: Float[np.ndarray, " P"]
    """Less the mean."""
    weight: Float[np.ndarray, " P"]
    mean: float


def difference(level: Level, height: Float[np.ndarray, " P"]) -> Difference:
    """Compare heights of the pixels with the known ones; strays lose their weight."""
    known, given = level.known, level.known_weight
    assert known is not None
    assert given is not None
    raw = np.where(given > 0, height - known, 0.0)
    stray = (_STRAY * relief(level)) ** 2
    mean = _median(raw, given)
    for _ in range(_ROUNDS):
        weight = given / (1 + (raw - mean) ** 2 / stray)
        before, mean = mean, float(weight @ raw / weight.sum())
        if abs(mean - before) < 1e-9 * np.sqrt(stray):
            break
    return Difference(np.where(given > 0, raw - mean, 0.0), weight, mean)


def relief(level: Level) -> float:
    """Standard deviation of the known heights."""
    known, given = level.known, level.known_weight
    assert known is not None
    assert given is not None
    inside = known[given > 0]
    return max(float(inside.std()), 1e-9)


def cost(level: Level, surface: Surface) -> float:
    """Energy of the difference, as a share of the data's."""
    if level.known is None:
        return 0.0
    found = difference(level, level.at_pixels(surface))
    given = level.known_weight
    assert given is not None
    size = relief(level)
    stray = (_STRAY * size) ** 2
    penalty = stray * np.log1p(found.value**2 / stray)
    spreads = given @ penalty / given.sum() / (_RELATIVE_SPREAD * size) ** 2
    return float(level.known_strength * spreads)


class KnownTerm:
    """The term's gradient and curvature at a surface."""

    def __init__(self, level: Level, surface: Surface, data: float) -> None:
        """Linearise at a surface, where the photos' energy is so much in all."""
        found = difference(level, level.at_pixels(surface))
        given = level.known_weight
        assert given is not None
        self._level = level
        spread = _RELATIVE_SPREAD * relief(level)
        scale = level.known_strength * data / (given.sum() * spread**2)
        self._weight = scale * found.weight
        self._total = float(self._weight.sum())
        self.gradient = level.from_pixels(self._weight * found.value)

    def multiply(self, surface: Surface) -> Surface:
        """Curvature times a change of the surface."""
        change = self._level.at_pixels(surface)
        mean = float(self._weight @ change) / max(self._total, 1e-300)
        return self._level.from_pixels(self._weight * (change - mean))

    def diagonal(self) -> Surface:
        """Row sums of the curvature's sizes: what a preconditioner may add to its diagonal."""
        return self._level.from_pixels(self._weight)

    def stiffness(self, modes: Modes) -> Float[np.ndarray, "m m"]:
        """Curvature along modes, from a sample of the pixels."""
        size = self._level.size
        sample = np.arange(0, size, max(1, size // _SAMPLE))
        heights = modes.at_corners(sample).mean(axis=0)
        weight = self._weight[sample] * (size / len(sample))
        heights = heights - (heights @ weight / max(weight.sum(), 1e-300))[:, None]
        return (heights * weight) @ heights.T


def _median(values: Float[np.ndarray, " P"], weight: Float[np.ndarray, " P"]) -> float:
    return float(np.median(values[weight > 0]))

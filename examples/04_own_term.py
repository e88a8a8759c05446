"""Add a term of your own to the energy: the object is its own mirror image.

Five photos through a long lens hardly decide the overall tilt; symmetry does.

Run: python examples/04_own_term.py
"""

from dataclasses import dataclass

import numpy as np

import anylight


@dataclass(frozen=True, eq=False)
class MirrorSymmetry:
    """Heights left and right of a column should be the same: a term, and its own linearisation."""

    level: anylight.FacetGrid
    column: float
    scale: float = 1e4  # share of the photos' energy per squared difference of log-depth

    def pairs(self) -> np.ndarray:
        """Numbers of the pixels and of their mirror images, where both exist."""
        u, v = self.level.domain.pixels.T.astype(int)
        other = np.round(2 * self.column - u).astype(int)
        inside = (other >= 0) & (other < self.level.mask.shape[1])
        partner = np.full(len(u), -1)
        partner[inside] = self.level.domain.numbers[v[inside], other[inside]]
        here = np.flatnonzero(partner >= 0)
        return np.stack([here, partner[here]])

    def odd(self, surface: np.ndarray) -> np.ndarray:
        here, there = self.pairs()
        heights = self.level.at_pixels(surface)
        return heights[here] - heights[there]

    def cost(self, surface: np.ndarray, unit: np.ndarray) -> float:
        return float(self.scale * (self.odd(surface) ** 2).mean())

    def linearise(self, surface, fit, energy):  # type: ignore[no-untyped-def]
        weight = self.scale * energy / max(self.pairs().shape[1], 1)
        return LinearSymmetry(self, surface, weight)

    def halved(self, fine: anylight.FacetGrid, coarse: anylight.FacetGrid) -> "MirrorSymmetry":
        return MirrorSymmetry(coarse, (self.column + 0.5) / 2 - 0.5, self.scale)


@dataclass(frozen=True, eq=False)
class LinearSymmetry:
    """Dᵀ D of the differences, weighed."""

    term: MirrorSymmetry
    surface: np.ndarray
    weight: float

    def add_gradient(self, out: np.ndarray) -> None:
        self.add_product(self.surface, out)

    def add_product(self, change: np.ndarray, out: np.ndarray) -> None:
        here, there = self.term.pairs()
        difference = self.weight * self.term.odd(change)
        size = self.term.level.size
        sums = np.bincount(here, difference, size) - np.bincount(there, difference, size)
        out += self.term.level.from_pixels(sums).astype(out.dtype)

    def add_diagonal(self, out: np.ndarray) -> None:
        count = np.bincount(self.term.pairs().ravel(), minlength=self.term.level.size)
        out += self.term.level.from_pixels(2 * self.weight * count).astype(out.dtype)

    def stiffness(self, modes: anylight.Modes) -> np.ndarray:
        heights = modes.at_corners(np.arange(self.term.level.size)).mean(axis=0)
        here, there = self.term.pairs()
        difference = heights[:, here] - heights[:, there]
        return self.weight * difference @ difference.T


options = anylight.SynthOptions(shape="vase", images=5, height=64, focal=6.0)
rendering = anylight.render(options)
capture, truth = rendering.capture, rendering.truth
middle = (capture.mask.shape[1] - 1) / 2
symmetric = anylight.default_method([lambda level: MirrorSymmetry(level, middle)], "symmetric")

plain = anylight.reconstruct(capture).reconstruction
even = anylight.reconstruct(capture, method=symmetric).reconstruction
print(f"without symmetry: {anylight.evaluate(plain, truth).mae_deg:.2f} degrees")
print(f"with symmetry:    {anylight.evaluate(even, truth).mae_deg:.2f} degrees")

"""Smooth changes of the surface and its relief: what light can make up for.

The solver treats them together with the light.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from anylight.facets.grid import FacetGrid, Heights
from anylight.kernels import place_monomials as kernel
from anylight.linalg import memory, stencil

_KEPT = 1e-12
"""Modes whose share of the whole falls below this repeat others. (guard)"""


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes that are orthonormal over the corners and change no mean."""

    level: FacetGrid
    height: Heights
    """The surface, centred and scaled to unit spread."""
    frame: tuple[float, float, float]
    weights: Float[np.ndarray, "m n"]
    """How much of every monomial a mode has."""

    def __len__(self) -> int:
        return len(self.weights)

    def collect(self, field: Heights) -> Float[np.ndarray, " m"]:
        """Product of the field with every mode."""
        inside = self.level.grid.inside
        return self.weights @ kernel.collect(field, self.height, inside, self.frame)

    def add(self, amounts: Float[np.ndarray, " m"], out: Heights) -> None:
        """Add so much of every mode to the field."""
        own = self.weights.T @ amounts
        kernel.expand(own, self.height, self.level.grid.inside, self.frame, out)

    def at_corners(self, pixels: Int[np.ndarray, " n"]) -> Float[np.ndarray, "4 m n"]:
        """Modes at the upper left, upper right, lower left and lower right corner of pixels."""
        width = self.level.grid.shape[1]
        steps = np.array([0, 1, width, width + 1])[:, None]
        place = (self.level.here[pixels] + steps).ravel()
        rows, columns = np.divmod(place, width)
        table = kernel.at(rows, columns, self.height.ravel()[place], self.frame)
        every = self.weights @ table
        return every.reshape(len(every), 4, -1).swapaxes(0, 1)


def smooth_modes(level: FacetGrid, surface: Heights) -> Modes:
    """Find the modes of a surface, which is zero where there is no corner."""
    inside, frame, count = level.grid.inside, level.grid.frame, len(level.grid.places)
    centred = level.centred(surface)
    height = memory.copied(centred, np.float32)
    spread = float(np.sqrt(stencil.dot(height, height) / count))
    height = memory.copied(centred, np.float32, factor=1 / max(spread, 1e-12))
    products = kernel.squares(height, inside, frame)
    mean = products[0] / count
    varying = products[1:, 1:] - count * np.outer(mean[1:], mean[1:])
    amounts, vectors = np.linalg.eigh(varying)
    kept = amounts > _KEPT * amounts[-1]
    own = (vectors[:, kept] / np.sqrt(amounts[kept])).T
    weights = np.concatenate([-own @ mean[1:, None], own], axis=1)
    return Modes(level, height, frame, weights)

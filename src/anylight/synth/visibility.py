"""Which part of the environment each surface point sees: cast shadows.

Light comes in cells of 2×2 texels; one ray towards the centre of a cell decides for all of it.
A mesh is traced with Embree, an embedded shape by the horizon of its depth map.
"""

import numpy as np
from jaxtyping import Bool, Float

from anylight.geometry.camera import Camera
from anylight.geometry.domain import Domain
from anylight.photometry.environment import texel_directions

from .horizon import horizon_sines, is_under_horizon

CELL = 2

Directions = Float[np.ndarray, "d 3"]


def cell_directions(height: int) -> Directions:
    """Directions to the cells of an environment of a given height."""
    return texel_directions(height // CELL, 2 * height // CELL).reshape(-1, 3)


def to_texels(cells: Bool[np.ndarray, "P d"], height: int) -> Bool[np.ndarray, "P T"]:
    """Give every texel the visibility of its cell."""
    grid = cells.reshape(len(cells), height // CELL, 2 * height // CELL)
    return grid.repeat(CELL, axis=1).repeat(CELL, axis=2).reshape(len(cells), -1)


class Horizon:
    """Horizons of a depth map."""

    def __init__(self, camera: Camera, depth: Float[np.ndarray, "H W"], domain: Domain) -> None:
        self._camera = camera.numbers
        self._pixels = domain.pixels
        self._sines: np.ndarray = horizon_sines(depth, self._camera, domain.pixels)

    def is_blocked(self, pixels: slice, directions: Directions) -> Bool[np.ndarray, "p d"]:
        """Whether light from each direction is blocked on its way to some of the pixels."""
        blocked: Bool[np.ndarray, "p d"] = is_under_horizon(
            self._sines[pixels], self._camera, self._pixels[pixels], directions
        )
        return blocked

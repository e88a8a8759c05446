"""Between resolutions: blocks of two by two pixels are one pixel of the next coarser grid."""

import numpy as np
from jaxtyping import Int

from anylight.arrays import Mask
from anylight.facets.grid import FacetGrid, Heights
from anylight.geometry.camera import Orthographic
from anylight.geometry.domain import ABSENT, Domain
from anylight.kernels import resolution as kernel


def block_of(mask: Mask) -> tuple[Int[np.ndarray, " B"], Int[np.ndarray, " P"]]:
    """Flat places of the blocks of two by two that hold pixels, and the number of each pixel's."""
    rows, columns = np.nonzero(mask)
    height, width = ((n + 1) // 2 for n in mask.shape)
    places = (rows // 2) * width + columns // 2
    holds = np.zeros(height * width, bool)
    holds[places] = True
    return np.flatnonzero(holds), (np.cumsum(holds) - 1)[places]


def children_of(domain: Domain) -> tuple[Mask, Int[np.ndarray, "B 4"]]:
    """Mask of the next coarser grid, and the numbers of every block's pixels; −1 for none."""
    height, width = ((n + 1) // 2 for n in domain.mask.shape)
    numbers = np.full((2 * height, 2 * width), ABSENT, np.int32)
    numbers[: domain.mask.shape[0], : domain.mask.shape[1]] = domain.numbers
    quarters = [numbers[row::2, column::2] for row in (0, 1) for column in (0, 1)]
    mask = np.maximum.reduce(quarters) >= 0
    places = np.flatnonzero(mask)
    return mask, np.stack([part.ravel()[places] for part in quarters], axis=1)


def refine(coarse: FacetGrid, fine: FacetGrid, surface: Heights) -> Heights:
    """Interpolate a surface: corner (i, j) of the coarse pixels is corner (2i, 2j) of the fine."""
    (top, left), (coarse_top, coarse_left) = _first(fine.mask), _first(coarse.mask)
    scale = 2.0 if isinstance(fine.camera, Orthographic) else 1.0
    result = np.empty(fine.grid.shape)
    # Grids have a margin, so they begin one row and column before the first corner.
    kernel.refine(
        surface, coarse.grid.inside, fine.grid.inside, (top - 1, coarse_top - 1),
        (left - 1, coarse_left - 1), scale, result,
    )  # fmt: skip
    return fine.centred(result)


def _first(mask: Mask) -> tuple[int, int]:
    return int(np.flatnonzero(mask.any(axis=1))[0]), int(np.flatnonzero(mask.any(axis=0))[0])

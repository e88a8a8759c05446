"""Between resolutions: blocks of two by two pixels are one pixel of the next coarser grid."""

import numpy as np
from jaxtyping import Int

from anylight.arrays import Mask
from anylight.facets.grid import FacetGrid, Heights
from anylight.geometry.camera import Orthographic
from anylight.geometry.domain import ABSENT, Domain


def block_of(mask: Mask) -> tuple[Int[np.ndarray, " B"], Int[np.ndarray, " P"]]:
    """Flat places of the blocks of two by two that hold pixels, and the number of each pixel's."""
    rows, columns = np.nonzero(mask)
    height, width = ((n + 1) // 2 for n in mask.shape)
    places = (rows // 2) * width + columns // 2
    holds = np.zeros(height * width, bool)
    holds[places] = True
    return np.flatnonzero(holds), (np.cumsum(holds) - 1)[places]


def blocks_of(domain: Domain) -> tuple[Mask, Int[np.ndarray, "B 4"]]:
    """Mask of the next coarser grid, and the numbers of every block's pixels; −1 for none."""
    height, width = ((n + 1) // 2 for n in domain.mask.shape)
    numbers = np.full((2 * height, 2 * width), ABSENT, np.int32)
    numbers[: domain.mask.shape[0], : domain.mask.shape[1]] = domain.numbers
    quarters = numbers.reshape(height, 2, width, 2)
    mask = (quarters >= 0).any(axis=(1, 3))
    return mask, quarters.transpose(0, 2, 1, 3)[mask].reshape(-1, 4)


def refine(coarse: FacetGrid, fine: FacetGrid, surface: Heights) -> Heights:
    """Interpolate a surface: corner (i, j) of the coarse pixels is corner (2i, 2j) of the fine."""
    image = np.zeros((coarse.mask.shape[0] + 1, coarse.mask.shape[1] + 1))
    known = np.zeros_like(image)
    top, left = _first(coarse.mask)
    height, width = (n - 2 for n in coarse.grid.shape)
    box = (slice(top, top + height), slice(left, left + width))
    known[box] = coarse.grid.inside[1:-1, 1:-1]
    image[box] = surface[1:-1, 1:-1] * known[box]
    rows, columns = np.nonzero(fine.grid.inside)
    top, left = _first(fine.mask)
    i, j = rows - 1 + top, columns - 1 + left
    total, count = np.zeros(len(i)), np.zeros(len(i))
    for a in (i // 2, (i + 1) // 2):
        for b in (j // 2, (j + 1) // 2):
            total += image[a, b]
            count += known[a, b]
    result = np.zeros(fine.grid.shape)
    scale = 2.0 if isinstance(fine.camera, Orthographic) else 1.0
    result[rows, columns] = scale * total / np.maximum(count, 1)
    return fine.centred(result)


def _first(mask: Mask) -> tuple[int, int]:
    return int(np.flatnonzero(mask.any(axis=1))[0]), int(np.flatnonzero(mask.any(axis=0))[0])

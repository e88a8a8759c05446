"""The masked pixels as part of a rectangular grid with one row and column of margin."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from anylight.arrays import Mask

from . import memory


@dataclass(frozen=True, eq=False)
class Grid:
    """The bounding box of a mask, padded by one pixel on every side.

    Stencils read neighbours without asking whether they exist: outside the mask everything is zero.
    """

    mask: Mask

    @cached_property
    def inside(self) -> Bool[np.ndarray, "h w"]:
        """The mask on the padded grid."""
        rows, columns = np.nonzero(self.mask.any(axis=1))[0], np.nonzero(self.mask.any(axis=0))[0]
        box = self.mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return np.pad(box, 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the padded grid."""
        height, width = self.inside.shape
        return height, width

    @cached_property
    def places(self) -> Int[np.ndarray, " P"]:
        """Flat place on the padded grid of every masked pixel, in the order of the pixels."""
        return np.flatnonzero(self.inside)

    @cached_property
    def frame(self) -> tuple[float, float, float]:
        """Row and column of the middle of the mask, and half its longer side."""
        rows, columns = (np.count_nonzero(self.inside, axis=axis) for axis in (1, 0))
        count = len(self.places)
        return (
            float(rows @ np.arange(len(rows))) / count,
            float(columns @ np.arange(len(columns))) / count,
            max(int(np.count_nonzero(rows)), int(np.count_nonzero(columns)), 2) / 2,
        )

    def spread(self, values: Shaped[np.ndarray, "*c P"]) -> Shaped[np.ndarray, "*c h w"]:
        """Lay pixel values on the grid, zero elsewhere."""
        size = self.shape[0] * self.shape[1]
        if values.ndim == 1 and values.dtype == np.float32:
            return memory.spread(values, self.places, size, values.dtype.type).reshape(self.shape)
        lead = values.shape[:-1]
        result = np.zeros((*lead, size), values.dtype)
        result[..., self.places] = values
        return result.reshape(*lead, *self.shape)

    def collect(self, image: Shaped[np.ndarray, "*c h w"]) -> Shaped[np.ndarray, "*c P"]:
        """Take pixel values from the grid."""
        flat = image.reshape(*image.shape[:-2], -1)
        if flat.ndim == 1 and flat.dtype == np.float32:
            return memory.collect(flat, self.places)
        return flat[..., self.places]

    def sums(
        self, image: Float[np.ndarray, "h w"], component: Int[np.ndarray, " P"], num: int
    ) -> Float[np.ndarray, " components"]:
        """Sum over every component of the mask, in float64."""
        return np.bincount(component, self.collect(image).astype(np.float64), num)

"""The masked pixels: a vector on one side, an image on the other."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int, Shaped
from scipy import ndimage

from anylight.arrays import Mask, PixelIndex

ABSENT = -1


@dataclass(frozen=True, eq=False)
class Domain:
    """The masked pixels, numbered row by row."""

    mask: Mask

    @cached_property
    def size(self) -> int:
        """Number of masked pixels P."""
        return int(np.count_nonzero(self.mask))

    @cached_property
    def pixels(self) -> Int[np.ndarray, "P 2"]:
        """Coordinates (u, v) of every masked pixel."""
        pixels = np.empty((self.size, 2), np.int32)
        pixels[:, 1], pixels[:, 0] = np.nonzero(self.mask)
        return pixels

    def gather(self, image: Shaped[np.ndarray, "H W *c"]) -> Shaped[np.ndarray, "P *c"]:
        """Take the masked pixels of an image."""
        return image[self.mask]

    def scatter(
        self, values: Shaped[np.ndarray, "P *c"], fill: float = np.nan
    ) -> Shaped[np.ndarray, "H W *c"]:
        """Lay pixel values back into an image."""
        each = values.shape[1:]
        image = np.full((self.mask.size, *each), fill, values.dtype)
        image[np.flatnonzero(self.mask)] = values
        return image.reshape(self.mask.shape + each)

    @cached_property
    def numbers(self) -> Int[np.ndarray, "H W"]:
        """Number of each pixel of the image; −1 outside the mask."""
        numbers = np.full(self.mask.size, ABSENT, np.int32)
        numbers[np.flatnonzero(self.mask)] = np.arange(self.size, dtype=np.int32)
        return numbers.reshape(self.mask.shape)

    def neighbour(self, du: int, dv: int) -> PixelIndex:
        """Number of the masked pixel at (u + du, v + dv); −1 where there is none."""
        padded = np.pad(self.numbers, max(abs(du), abs(dv)), constant_values=ABSENT)
        margin = max(abs(du), abs(dv))
        rows, columns = np.nonzero(self.mask)
        return padded[rows + margin + dv, columns + margin + du]

    @cached_property
    def components(self) -> Int[np.ndarray, " P"]:
        """Number 0, 1, … of the 4-connected component of each pixel."""
        labels, _ = ndimage.label(self.mask)
        return self.gather(labels) - 1

    @cached_property
    def num_components(self) -> int:
        """How many 4-connected pieces the mask has."""
        return int(self.components.max(initial=-1)) + 1

    @cached_property
    def is_rim(self) -> Bool[np.ndarray, " P"]:
        """Pixels that touch the outside (the image's border counts as outside)."""
        return self.gather(~ndimage.binary_erosion(self.mask))

"""Images that are computed band by band, at the masked pixels alone.

A few rows stay in a core's cache, and threads share the bands. Arrays of the whole image in between
would take longer to come by than to compute.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Shaped

from anylight.arrays import Mask
from anylight.threads import chunks, in_parallel

_PIXELS = 65536
"""Of a band, about."""

BandMask: TypeAlias = Bool[np.ndarray, "h W"]
Values: TypeAlias = Callable[[slice, BandMask], np.ndarray]
"""Of the masked pixels of a band, by its rows and by which of its pixels are masked."""


def bands(shape: tuple[int, ...]) -> list[slice]:
    """Rows of an image, a few at a time."""
    return list(chunks(shape[0], max(1, _PIXELS // max(shape[1], 1))))


def fill(image: Shaped[np.ndarray, "H W *c"], mask: Mask, values: Values) -> None:
    """Put values into the masked pixels of an image."""

    def fill_band(rows: slice) -> None:
        inside = mask[rows]
        if inside.any():
            image[rows][inside] = values(rows, inside)

    in_parallel(fill_band, bands(mask.shape))


def finite_pixels(image: Shaped[np.ndarray, "*n c"]) -> Bool[np.ndarray, "*n"]:
    """Where all numbers of a pixel are finite."""
    finite: Bool[np.ndarray, "*n"] = np.isfinite(image[..., 0])
    for channel in range(1, image.shape[-1]):
        finite &= np.isfinite(image[..., channel])
    return finite

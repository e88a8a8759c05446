"""One sample of a photo: what is white, what is usable, what is saturated."""

import numpy as np
from jaxtyping import Bool, Float, Shaped

from anylight.errors import InvalidInputError
from anylight.model.capture import Capture

WHITE_QUANTILE = 0.99
"""Share of the samples on the object that are darker than white."""
SATURATED = 0.985
"""Integer samples above this share of the full scale tell only that they were bright."""
GLARE = 1e3
"""Brighter than this, relative to white, makes no difference."""


def is_usable(photos: np.ndarray) -> Bool[np.ndarray, "*n"]:
    """Samples that are neither saturated nor black: an exact zero is no measurement."""
    if photos.dtype.kind != "u":
        return np.isfinite(photos) & (photos > 0)
    return (photos > 0) & ~is_saturated(photos)


def scaled(stored: Shaped[np.ndarray, "*n"], white: float) -> Float[np.ndarray, "*n"]:
    """Samples relative to white; what is absurdly bright only counts as very bright."""
    return np.minimum(stored / white, GLARE)


def is_saturated(photos: np.ndarray) -> Bool[np.ndarray, "*n"]:
    """Samples that were cut off; floats never are."""
    if photos.dtype.kind != "u":
        return np.zeros(photos.shape, bool)
    return photos >= SATURATED * np.iinfo(photos.dtype).max


def mean_photo(capture: Capture) -> Float[np.ndarray, "C P"]:
    """The masked pixels of the mean of all photos, relative to full scale."""
    total = np.zeros((np.count_nonzero(capture.mask), capture.num_channels))
    for photo in capture.photos:
        total += photo[capture.mask]
    return (total / (capture.full_scale * capture.num_photos)).T.copy()


def white_level(capture: Capture) -> float:
    """Stored value that becomes one: the 99 % quantile of all samples on the object."""
    dtype = capture.photos.dtype
    if dtype.kind == "u":
        white = _counted_quantile(capture)
    else:
        white = float(np.quantile(capture.photos[:, capture.mask, :], WHITE_QUANTILE))
    if not white > 0:
        raise InvalidInputError("the photos are black inside the mask: check mask and exposure.")
    return white


def _counted_quantile(capture: Capture) -> float:
    """Quantile of integers by counting, without sorting."""
    dtype = capture.photos.dtype
    counts = np.zeros(np.iinfo(dtype).max + 1, np.int64)
    for photo in capture.photos:
        counts += np.bincount(photo[capture.mask].ravel(), minlength=len(counts))
    return float(np.searchsorted(np.cumsum(counts), WHITE_QUANTILE * counts.sum()))

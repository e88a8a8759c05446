"""One sample of a photo: what is white, what is usable, what is saturated."""

from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from anylight.errors import InvalidInputError
from anylight.model.capture import Capture
from anylight.threads import in_parallel

WHITE_QUANTILE = 0.99
"""Share of the samples on the object that are darker than white."""
SATURATED = 0.985
"""Integer samples above this share of the full scale tell only that they were bright."""
_CHUNK = 4096
"""Pixels that are summed together. (memory)"""
_ENOUGH = 30_000
"""Pixels of every photo that white and colour are found from, at least. (memory)"""
_WHITE: WeakKeyDictionary[Capture, float] = WeakKeyDictionary()
"""What is white in captures that are in use: several parts ask for it."""
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


def saturation(dtype: np.dtype) -> float:
    """Stored value from which samples were cut off; floats never are."""
    return SATURATED * np.iinfo(dtype).max if dtype.kind == "u" else np.inf


def is_saturated(photos: np.ndarray) -> Bool[np.ndarray, "*n"]:
    """Samples that were cut off."""
    if photos.dtype.kind != "u":
        return np.zeros(photos.shape, bool)
    return photos >= saturation(photos.dtype)


def mean_photo(capture: Capture, every: int = 1) -> Float[np.ndarray, "C n"]:
    """Every masked pixel, or some, of the mean of all photos, relative to full scale."""
    return _mean_at(capture, np.flatnonzero(capture.mask)[::every])


def mean_colour(capture: Capture) -> Float[np.ndarray, " C"]:
    """The mean of these; of large objects some pixels are looked at, evenly spread."""
    return _mean_at(capture, _some_places(capture)).mean(axis=1)


def _some_places(capture: Capture) -> Int[np.ndarray, " n"]:
    """Pixels, evenly spread, that are enough to know what all photos are like."""
    places = np.flatnonzero(capture.mask)
    return places[:: max(1, len(places) // _ENOUGH)]


def _mean_at(capture: Capture, places: Int[np.ndarray, " n"]) -> Float[np.ndarray, "C n"]:
    flat = capture.photos.reshape(capture.num_photos, -1, capture.num_channels)
    total = np.zeros((len(places), capture.num_channels))

    def add(start: int) -> None:
        some, own = places[start : start + _CHUNK], total[start : start + _CHUNK]
        for photo in flat:
            own += photo[some]

    in_parallel(add, range(0, len(places), _CHUNK))
    return (total / (capture.full_scale * capture.num_photos)).T.copy()


def white_level(capture: Capture) -> float:
    """Stored value that becomes one: the 99 % quantile of the samples on the object.

    Large objects have more pixels than it takes to know it: some are looked at, evenly spread.
    """
    if capture not in _WHITE:
        _WHITE[capture] = _white_level(capture)
    return _WHITE[capture]


def _white_level(capture: Capture) -> float:
    places = _some_places(capture)
    flat = capture.photos.reshape(capture.num_photos, -1, capture.num_channels)
    if capture.photos.dtype.kind == "u":
        white = _counted_quantile(flat, places)
    else:
        white = float(np.quantile(flat[:, places], WHITE_QUANTILE))
    if not white > 0:
        raise InvalidInputError("the photos are black inside the mask: check mask and exposure.")
    return white


def _counted_quantile(flat: Shaped[np.ndarray, "M N C"], places: Int[np.ndarray, " P"]) -> float:
    """Quantile of integers by counting, without sorting."""
    num = np.iinfo(flat.dtype).max + 1
    each = in_parallel(lambda photo: np.bincount(photo[places].ravel(), minlength=num), flat)
    counts = np.sum(each, axis=0)
    return float(np.searchsorted(np.cumsum(counts), WHITE_QUANTILE * counts.sum()))

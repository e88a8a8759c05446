"""Where a photo is locally brightest the normal points to the lamp (Favaro and Papadhimitri)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage

from anylight.geometry.domain import Domain

_SIGMA_PX = 2.0
_SUPPORT_PX = 11
_ALL_NEIGHBOURS = np.ones((3, 3), bool)


@dataclass(frozen=True, eq=False)
class Maxima:
    """One sample per pixel and photo where the diffuse reflection is greatest."""

    pixel: Int[np.ndarray, " S"]
    photo: Int[np.ndarray, " S"]


def regional_maxima(image: Float[np.ndarray, "H W"]) -> Bool[np.ndarray, "H W"]:
    """Pixels, or plateaus, higher than everything around them (eight neighbours)."""
    top = image == ndimage.maximum_filter(image, footprint=_ALL_NEIGHBOURS, mode="nearest")
    below = np.where(top, -np.inf, image)
    beside = ndimage.maximum_filter(below, footprint=_ALL_NEIGHBOURS, mode="nearest")
    leaks = top & (beside == image)  # the plateau goes on to where something is higher
    labels, count = ndimage.label(top, _ALL_NEIGHBOURS)
    is_good = np.ones(count + 1, bool)
    is_good[labels[leaks]] = False
    is_good[0] = False
    return is_good[labels]


def diffuse_maxima(domain: Domain, photos: Float[np.ndarray, "P M"]) -> Maxima:
    """Maxima of the smoothed photos that no other photo shares and that are bright."""

    def blurred(image: Float[np.ndarray, "H W"]) -> Float[np.ndarray, "H W"]:
        truncate = _SUPPORT_PX / _SIGMA_PX
        return ndimage.gaussian_filter(image, _SIGMA_PX, mode="constant", truncate=truncate)

    share = blurred(np.ones(domain.mask.shape))
    cross = ndimage.generate_binary_structure(2, 1)
    marks = np.zeros(photos.shape, bool)
    for k, photo in enumerate(photos.T):
        if photo.max() > photo.min():
            image = blurred(domain.scatter(photo, fill=0.0)) / share
            marked = ndimage.binary_dilation(regional_maxima(image), cross)
            marks[:, k] = domain.gather(marked)
    is_shared = np.count_nonzero(marks, axis=1, keepdims=True) >= 2
    is_bright = photos >= (photos.max(axis=0) - photos.min(axis=0)) / 2
    pixel, photo_number = np.nonzero(marks & ~is_shared & is_bright)
    return Maxima(pixel=pixel, photo=photo_number)

"""Sums over stored samples against plain NumPy."""

import numpy as np
import pytest

from anylight.kernels.monomials import TILE, basis
from anylight.kernels.samples import albedo_system
from anylight.model.samples import GLARE, is_usable, saturation, scaled
from anylight.photometry import robust

NUM, PHOTOS, CHANNELS, WHITE, SCALE = TILE + 77, 7, 2, 50000.0, 0.2


def stored(rng, dtype):
    photos = rng.integers(0, 65536, (PHOTOS, 2 * NUM, CHANNELS)).astype(np.uint16)
    photos[0, ::5], photos[1, ::7] = 0, 65535
    if dtype is np.uint16:
        return photos
    photos = photos.astype(dtype)
    photos[2, ::3], photos[3, ::4], photos[4, ::6], photos[5, ::8] = np.nan, np.inf, -3, 1e12
    return photos


@pytest.mark.twin("kernels.samples.albedo_system")
@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_sums_are_those_of_the_usable_samples(rng, dtype):
    photos, own = stored(rng, dtype), basis(4)
    places = np.sort(rng.permutation(2 * NUM)[:NUM])
    unit = rng.standard_normal((3, NUM))
    unit /= np.linalg.norm(unit, axis=0)
    light = 0.3 * rng.standard_normal((CHANNELS, PHOTOS, own.size))
    albedo = rng.random((CHANNELS, NUM)).astype(np.float32)
    diagonal, source = np.empty((2, CHANNELS, NUM), np.float32)
    albedo_system(
        own.exponents, unit.astype(np.float32), light.astype(np.float32), photos, places, WHITE,
        saturation(photos.dtype), np.float32(GLARE), SCALE, albedo, diagonal, source,
    )  # fmt: skip
    terms = np.prod(unit.T[:, None, :] ** own.exponents, axis=2)
    for c in range(CHANNELS):
        shading, given = light[c] @ terms.T, photos[:, places, c]
        usable = is_usable(given)
        values = np.where(usable, scaled(given, WHITE), 0.0)
        weight = usable * robust.cauchy_weight(albedo[c] * shading - values, SCALE)
        for found, wanted in zip(
            (diagonal[c], source[c]), robust.albedo_system(shading, values, weight), strict=True
        ):
            assert np.allclose(found, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).mean())

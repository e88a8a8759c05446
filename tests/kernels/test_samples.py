"""Sums over stored samples against plain NumPy."""

import numpy as np
import pytest

from anylight.kernels.monomials import TILE, basis
from anylight.kernels.samples import albedo_system, light_system
from anylight.model.samples import GLARE, is_usable, saturation, scaled
from anylight.photometry import robust

NUM, PHOTOS, CHANNELS, WHITE, SCALE = TILE + 77, 7, 2, 50000.0, 0.2


def stored(rng, dtype, num=NUM):
    photos = rng.integers(0, 65536, (PHOTOS, 2 * num, CHANNELS)).astype(np.uint16)
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


@pytest.mark.twin("kernels.samples.light_system")
def test_the_light_is_found_from_the_usable_samples(rng):
    size, functions = 5, rng.standard_normal((11, NUM)).astype(np.float32)
    terms = rng.standard_normal((size, NUM)).astype(np.float32)
    values = rng.random((CHANNELS, PHOTOS, NUM)).astype(np.float32)
    usable = rng.random(values.shape) < 0.8
    values[~usable] = -1
    albedo = rng.random((CHANNELS, NUM)).astype(np.float32)
    light = 0.3 * rng.standard_normal((CHANNELS, PHOTOS, size)).astype(np.float32)
    tiles = -(-NUM // TILE)
    sums = np.empty((tiles, CHANNELS, PHOTOS, len(functions)), np.float32)
    source = np.empty((tiles, CHANNELS, PHOTOS, size), np.float32)
    left = np.empty(values.shape, np.float32)
    light_system(terms, functions, values, albedo, light, SCALE, sums, source, left)
    residual = albedo[:, None] * (light.astype(float) @ terms) - values
    assert np.allclose(left, np.where(usable, residual, 0), atol=1e-5)
    weight = usable * robust.cauchy_weight(residual, SCALE)
    wanted = np.einsum("cmn,cn,an->cma", weight, albedo**2, functions)
    assert np.allclose(sums.sum(axis=0), wanted, atol=1e-4 * np.abs(wanted).max())
    for c in range(CHANNELS):
        for m in range(PHOTOS):
            painted = (albedo[c] * terms).T.astype(float)
            pull = robust.light_system(painted, values[c, m], weight[c, m])[1]
            assert np.allclose(source[:, c, m].sum(axis=0), pull, rtol=1e-3, atol=1e-3)

"""Means over channels and blocks, against NumPy's own."""

import numpy as np
import pytest

from anylight.photometry.means import block_means, grey


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [1, 2, 3, 5])
def test_grey_is_the_mean_of_the_channels(rng, kind, channels):
    photo = (200 * rng.random((37, 11, channels))).astype(kind)
    assert np.allclose(grey(photo), photo.mean(axis=2), rtol=1e-6, atol=0)


@pytest.mark.parametrize("factor", [1, 2, 5, 7])
@pytest.mark.parametrize("kind", [bool, np.uint8, np.uint16])
def test_means_of_blocks_of_integers_are_exact(rng, factor, kind):
    image = rng.integers(0, 2 if kind is bool else np.iinfo(kind).max + 1, (23, 17, 3)).astype(kind)
    height, width = 23 // factor, 17 // factor
    whole = image[: height * factor, : width * factor]
    blocks = whole.reshape(height, factor, width, factor, 3)
    assert np.array_equal(block_means(image, factor), blocks.mean(axis=(1, 3)))
    assert np.array_equal(block_means(image[..., 0], factor), blocks.mean(axis=(1, 3))[..., 0])


def test_sums_of_large_blocks_do_not_overflow():
    assert block_means(np.full((300, 300), 65535, np.uint16), 300) == 65535


def test_means_of_blocks_of_floats(rng):
    image = rng.random((20, 31)).astype(np.float32)
    blocks = image[:, :28].reshape(5, 4, 7, 4)
    assert np.allclose(block_means(image, 4), blocks.mean(axis=(1, 3)), rtol=1e-6, atol=0)

"""From stored samples to eigen-photos, against plain NumPy."""

import numpy as np
import pytest

from anylight.kernels import compression
from anylight.model.samples import GLARE, is_usable, saturation, scaled
from tests.kernels.test_samples import stored

NUM, WHITE, KEPT = compression.BLOCK + 77, 50000.0, 4


@pytest.mark.twin(
    "kernels.compression.look", "kernels.compression._load", "kernels.compression.describe"
)
@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_products_and_coefficients_of_whole_pixels(rng, dtype):
    photos = stored(rng, dtype, NUM)
    num, every, channels = photos.shape
    places = np.sort(rng.permutation(every)[:NUM])
    blocks = -(-NUM // compression.BLOCK)
    good, whole = np.empty(NUM, np.float32), np.empty((channels, NUM), bool)
    bad, grams = np.empty(blocks, np.int64), np.empty((blocks, channels, num, num))
    top = float(saturation(photos.dtype))
    compression.look(photos, places, WHITE, top, GLARE, good, whole, bad, grams)
    given = photos[:, places].transpose(2, 0, 1)
    usable = is_usable(given)
    assert np.allclose(good, usable.mean(axis=(0, 1)))
    assert np.array_equal(whole, usable.all(axis=1))
    assert bad.sum() == np.count_nonzero(~usable)
    assert 0 < whole.sum() < whole.size
    sample = np.where(whole[:, None], scaled(given, WHITE), 0)
    assert np.allclose(grams.sum(axis=0), sample @ sample.swapaxes(1, 2))
    basis = rng.standard_normal((channels, KEPT, num)).astype(np.float32)
    values = np.full((NUM, channels * KEPT), -5, np.float32)
    compression.describe(photos, places, WHITE, GLARE, whole, basis, values)
    wanted = np.einsum("ckm,cmp->pck", basis, sample)
    found = values.reshape(NUM, channels, KEPT)
    tolerance = 1e-5 * np.abs(wanted).max()
    assert np.allclose(found[whole.T], wanted[whole.T], rtol=1e-4, atol=tolerance)
    assert (found[~whole.T] == -5).all()

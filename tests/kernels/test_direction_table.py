import numpy as np
import pytest

from anylight.kernels.direction_table import best
from anylight.kernels.monomials import TILE


@pytest.mark.twin("kernels.direction_table.best")
def test_the_best_visible_direction_is_found(rng):
    channels, each, num, pixels = 3, 4, 50, 2 * TILE + 31
    shading = rng.standard_normal((channels, num, each)).astype(np.float32)
    shading /= np.linalg.norm(shading, axis=2, keepdims=True)
    directions = rng.standard_normal((num, 3)).astype(np.float32)
    view = rng.standard_normal((3, pixels)).astype(np.float32)
    photos = rng.standard_normal((pixels, channels * each)).astype(np.float32)
    found = np.empty(pixels, np.int32)
    best(photos, shading, directions, view, np.float32(0.1), found)
    alike = np.einsum("pcr,cnr->pcn", photos.reshape(pixels, channels, each), shading)
    explained = (np.maximum(alike, 0) ** 2).sum(axis=1)
    explained[(directions @ view).T > 0.1] = -1
    assert (found == explained.argmax(axis=1)).mean() > 0.999

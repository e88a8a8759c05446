"""Means of blocks, packed again, against plain NumPy."""

import numpy as np
import pytest

from anylight.facets.resolution import block_of, children_of
from anylight.geometry.domain import Domain
from anylight.joint.problem.packed import pack
from anylight.kernels import packing


@pytest.mark.twin(
    "kernels.packing.average", "kernels.packing.pack", "kernels.packing._pack_row"
)  # fmt: skip
def test_means_are_those_of_the_pixels_as_they_count(rng):
    mask = rng.random((31, 44)) < 0.7
    domain = Domain(mask)
    small, children = children_of(domain)
    present, own = block_of(mask)
    assert np.array_equal(np.flatnonzero(small), present)
    for n, block in enumerate(children):
        assert np.array_equal(np.sort(block[block >= 0]), np.flatnonzero(own == n))
    values = rng.standard_normal((domain.size, 6)).astype(np.float32)
    cover = rng.uniform(0.1, 1, domain.size).astype(np.float32)
    photos = pack(values)
    assert np.allclose(photos.values(), values, atol=1e-4)
    numbers, (scale, mean_cover) = (
        np.empty((len(children), 6), np.int16), np.empty((2, len(children)), np.float32)
    )  # fmt: skip
    packing.average(children, photos.numbers, photos.scale, cover, numbers, scale, mean_cover)
    total = np.bincount(own, cover)
    assert np.allclose(mean_cover, total / 4)
    for k in range(6):
        wanted = np.bincount(own, cover * photos.values()[:, k]) / total
        assert np.allclose(numbers[:, k] * scale, wanted, atol=1e-4)

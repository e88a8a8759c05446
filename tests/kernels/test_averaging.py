"""Averaging alike neighbours against a plain double loop."""

import numpy as np
import pytest

from anylight.kernels.averaging import average_alike


@pytest.mark.twin("kernels.averaging.average_alike")
def test_means_are_those_of_all_alike_neighbours(rng):
    mask = rng.random((9, 11)) < 0.8
    radius, limit = 2, 0.5
    numbers = np.full((13, 15), -1)
    numbers[2:-2, 2:-2][mask] = np.arange(mask.sum())
    values = rng.random((mask.sum(), 3), dtype=np.float32)
    found = np.empty_like(values)
    places = np.flatnonzero(numbers.ravel() >= 0)
    average_alike(values, places, numbers.ravel(), 15, radius, np.float32(limit), found)
    rows, columns = np.nonzero(mask)
    for j in range(len(values)):
        near = (np.abs(rows - rows[j]) <= radius) & (np.abs(columns - columns[j]) <= radius)
        alike = near & (((values - values[j]) ** 2).sum(axis=1) <= limit)
        assert np.allclose(found[j], values[alike].mean(axis=0), atol=1e-6)

"""One step of Huber's total variation against its normal equations."""

import numpy as np
import pytest

from anylight.geometry.differences import forward
from anylight.geometry.domain import Domain
from anylight.kernels.variation import huber_step
from anylight.linalg.grid import Grid
from tests.conftest import odd_mask

STRENGTH, WIDTH = 0.7, 0.2


@pytest.mark.twin("kernels.variation._weigh", "kernels.variation._gather")
def test_the_step_solves_its_normal_equations(rng):
    domain = Domain(odd_mask())
    image, source = rng.random((2, domain.size))
    diagonal = rng.uniform(0.5, 2, domain.size)
    columns = np.eye(domain.size)
    along = [
        np.stack([forward(domain, axis).apply(column) for column in columns], axis=1)
        for axis in ("u", "v")
    ]
    share = 1 / np.maximum(WIDTH, np.hypot(*(each @ image for each in along)))
    matrix = np.diag(diagonal)
    for each in along:
        matrix += STRENGTH / 2 * (each.T * share) @ each
    grid = Grid(domain.mask)
    found = huber_step(grid, image, (diagonal, source), STRENGTH, WIDTH)
    assert np.allclose(grid.collect(found.solution), np.linalg.solve(matrix, source), atol=1e-3)
    assert not found.solution[~grid.inside].any()

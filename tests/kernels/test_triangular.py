"""Systems with known Cholesky factors against the library's solver."""

import numpy as np
import pytest
import scipy.linalg

from anylight.kernels import triangular


@pytest.mark.twin("kernels.triangular.solve")
@pytest.mark.parametrize("size", [1, 2, 33])
def test_solves_every_system(size):
    rng = np.random.default_rng(size)
    root = rng.standard_normal((3, size, size + 4))
    matrices = root @ root.transpose(0, 2, 1)
    lower = np.stack([np.linalg.cholesky(each) for each in matrices]).astype(np.float32)
    right = rng.standard_normal((3, size)).astype(np.float32)
    found = right.copy()
    triangular.solve(lower, found)
    for factor, b, x in zip(lower.astype(float), right, found, strict=True):
        np.testing.assert_allclose(
            x, scipy.linalg.cho_solve((factor, True), b), rtol=1e-3, atol=1e-5
        )


def test_what_lies_above_the_diagonal_has_no_meaning():
    factor = np.array([[[2, 7], [1, 3]]], np.float32)
    other = np.array([[[2, 0], [1, 3]]], np.float32)
    one, two = np.ones((2, 1, 2), np.float32)
    triangular.solve(factor, one)
    triangular.solve(other, two)
    assert (one == two).all()

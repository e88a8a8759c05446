"""Bordered systems against the library's factors and solver."""

import numpy as np
import pytest
import scipy.linalg

from anylight.kernels import triangular

SIZES = [(1, 0), (2, 1), (33, 5), (48, 3), (49, 60), (150, 23)]


def systems(size, border):
    rng = np.random.default_rng(size)
    root = rng.standard_normal((3, size, 2 * size + 4))
    own, across = root @ root.transpose(0, 2, 1), rng.standard_normal((3, border, size))
    return own, across, np.concatenate([own, across], axis=1).astype(np.float32)


@pytest.mark.twin("kernels.triangular._diagonal", "kernels.triangular._column")
@pytest.mark.twin("kernels.triangular._factorise_block", "kernels.triangular._panel")
@pytest.mark.twin("kernels.triangular._left_of")
@pytest.mark.parametrize(("size", "border"), SIZES)
def test_factors_and_borders_are_the_librarys(size, border):
    own, across, found = systems(size, border)
    good = np.zeros(3, bool)
    triangular.factorise(found, good)
    assert good.all()
    for c in range(3):
        lower = np.linalg.cholesky(own[c])
        np.testing.assert_allclose(np.tril(found[c, :size]), lower, atol=1e-4 * lower.max())
        half = scipy.linalg.solve_triangular(lower, across[c].T, lower=True).T
        np.testing.assert_allclose(found[c, size:], half, atol=1e-4)


@pytest.mark.parametrize("bad", [0, 70, 149])
def test_what_is_not_definite_is_said(bad):
    *_, found = systems(150, 2)
    found[1, bad, bad] = -1
    found[2, bad, bad] = np.nan
    good = np.zeros(3, bool)
    triangular.factorise(found, good)
    assert list(good) == [True, False, False]


@pytest.mark.twin("kernels.triangular.forward", "kernels.triangular.backward")
@pytest.mark.parametrize(("size", "border"), SIZES)
def test_solves_every_system_given_what_its_border_does(size, border):
    rng = np.random.default_rng(0)
    own, across, factors = systems(size, border)
    triangular.factorise(factors, np.zeros(3, bool))
    right, moved = rng.standard_normal((3, size)), rng.standard_normal(border)
    found, given = right.astype(np.float32), np.empty((3, border), np.float32)
    triangular.forward(factors, found, given)
    for c in range(3):
        wanted = across[c] @ np.linalg.solve(own[c], right[c])
        np.testing.assert_allclose(given[c], wanted, rtol=1e-3, atol=1e-4)
    triangular.backward(factors, moved.astype(np.float32), found)
    for c in range(3):
        wanted = np.linalg.solve(own[c], right[c] - across[c].T @ moved)
        np.testing.assert_allclose(found[c], wanted, rtol=1e-3, atol=1e-4)


def test_what_lies_above_the_diagonal_has_no_meaning():
    factor = np.array([[[2, 7], [1, 3]]], np.float32)
    other = np.array([[[2, 0], [1, 3]]], np.float32)
    one, two = np.ones((2, 1, 2), np.float32)
    for own, right in ((factor, one), (other, two)):
        triangular.forward(own, right, np.empty((1, 0), np.float32))
        triangular.backward(own, np.empty(0, np.float32), right)
    assert (one == two).all()

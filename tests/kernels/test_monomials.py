import numpy as np
import pytest

from anylight.kernels.monomials import (
    TILE,
    basis,
    evaluate,
    evaluate_with_slopes,
    flat,
    gather,
    num_tiles,
    shade,
)
from anylight.photometry.harmonics import d_harmonics, harmonics, num_harmonics

ORDERS = [1, 2, 4, 6, 8]


def directions(rng, num=1300):
    points = rng.standard_normal((num, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.twin("kernels.monomials.evaluate", "kernels.monomials._fill_powers")
@pytest.mark.parametrize("order", ORDERS)
def test_monomials_become_harmonics(order, rng):
    points = directions(rng)
    own = basis(order)
    tiles = np.full((num_tiles(len(points)), num_harmonics(order), TILE), np.nan, np.float32)
    evaluate(own.exponents, points.T.copy(), tiles)
    found = own.matrix @ flat(tiles, len(points))
    assert np.allclose(found, harmonics(points, order).T, atol=5e-5)
    assert not flat(tiles, len(tiles) * TILE)[:, len(points) :].any()


@pytest.mark.twin("kernels.monomials.shade", "kernels.monomials._gather")
def test_shading_and_gathering_are_products_with_all_tiles(rng):
    tiles = rng.standard_normal((3, 9, TILE)).astype(np.float32)
    coefficients = rng.standard_normal((9, 5)).astype(np.float32)
    source = rng.standard_normal((3 * TILE, 5)).astype(np.float32)
    every = flat(tiles, 3 * TILE)
    out = np.empty((3 * TILE, 5), np.float32)
    shade(tiles, coefficients, out)
    assert np.allclose(out, every.T @ coefficients, atol=1e-4)
    assert np.allclose(gather(tiles, source), every @ source, atol=1e-2)


@pytest.mark.twin("kernels.monomials.evaluate_with_slopes")
@pytest.mark.parametrize("order", ORDERS)
def test_derivatives_along_the_sphere(order, rng):
    points = directions(rng)
    turns = np.cross(rng.standard_normal((2, len(points), 3)), points)
    own = basis(order)
    tiles = np.empty((3, num_tiles(len(points)), num_harmonics(order), TILE), np.float32)
    evaluate_with_slopes(own.exponents, points.T.copy(), *(t.T.copy() for t in turns), *tiles)
    exact = d_harmonics(points, order)
    for turn, found in zip(turns, tiles[1:], strict=True):
        wanted = np.einsum("pki,pi->kp", exact, turn)
        assert np.allclose(own.matrix @ flat(found, len(points)), wanted, atol=5e-4)

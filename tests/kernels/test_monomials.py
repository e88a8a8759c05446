import numpy as np
import pytest

from anylight.kernels.monomials import (
    EVERYWHERE,
    TILE,
    WORK,
    basis,
    combine,
    evaluate,
    fill_tile_with_slopes,
    flat,
    near_basis,
    num_tiles,
    place_fields,
    spread_tile,
)
from anylight.photometry.harmonics import d_harmonics, harmonics, num_harmonics
from anylight.photometry.near import near_response

ORDERS = [1, 2, 4, 6, 8]


def directions(rng, num=1300):
    points = rng.standard_normal((num, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.twin(
    "kernels.monomials.evaluate",
    "kernels.monomials.fill_tile",
    "kernels.monomials._fill_powers",
    "kernels.monomials.load_tile",
)
@pytest.mark.parametrize("order", ORDERS)
def test_monomials_become_harmonics(order, rng):
    points = directions(rng)
    own = basis(order)
    tiles = np.full((num_tiles(len(points)), num_harmonics(order), TILE), np.nan, np.float32)
    unit = points.T.astype(np.float32)
    evaluate(own.exponents, unit, own.fields, EVERYWHERE, tiles)
    found = own.matrix @ flat(tiles, len(points))
    assert np.allclose(found, harmonics(points, order).T, atol=5e-5)
    assert not flat(tiles, len(tiles) * TILE)[:, len(points) :].any()


@pytest.mark.twin("kernels.monomials.fill_tile_with_slopes")
@pytest.mark.parametrize("order", ORDERS)
def test_derivatives_along_the_sphere(order, rng):
    points = directions(rng, 300)
    turns = np.cross(rng.standard_normal((2, len(points), 3)), points)
    own = basis(order)
    first, size = 300 - TILE + 40, TILE - 40
    tile = np.full((3, num_harmonics(order), TILE), np.nan, np.float32)
    args = (points.T.copy(), *(t.T.copy() for t in turns))
    work = np.full((WORK, TILE), np.nan, np.float32)
    fill_tile_with_slopes(own.exponents, *args, first, size, work, tile)
    exact = d_harmonics(points, order)
    for turn, found in zip(turns, tile[1:], strict=True):
        wanted = np.einsum("pki,pi->kp", exact, turn)
        assert np.allclose(own.matrix @ found[:, :size], wanted[:, first:], atol=5e-4)
    assert not tile[:, :, size:].any()


@pytest.mark.twin("kernels.monomials.spread_tile")
def test_monomials_are_multiplied_by_functions_of_the_place(rng):
    tile = rng.standard_normal((4, TILE)).astype(np.float32)
    fields, places = np.array([0, 2, 0, 9]), rng.standard_normal((9, 700)).astype(np.float32)
    before = tile.copy()
    spread_tile(fields, places, 300, TILE, tile)
    assert np.array_equal(tile[[0, 2]], before[[0, 2]])
    assert np.allclose(tile[1], before[1] * places[1, 300 : 300 + TILE])
    assert np.allclose(tile[3], before[3] * places[8, 300 : 300 + TILE])


def test_near_light_is_a_sum_of_monomials(rng):
    points, places = directions(rng, 400), rng.uniform(-0.4, 0.4, (400, 3))
    own = near_basis(8, 0.4)
    table = np.prod(points[:, None, :] ** own.exponents, axis=2)
    values = np.concatenate([np.ones((1, 400)), place_fields(places)])
    found = (table * values[own.fields].T) @ own.matrix.T
    wanted = near_response(points, places, 8, 0.4)
    for low, high, most in ((0, 4, 0.01), (4, 9, 0.02), (9, 16, 0.05), (16, 49, 0.12)):
        off = found[:, low:high] - wanted[:, low:high]
        assert np.sqrt((off**2).mean()) < most * np.sqrt((wanted[:, low:high] ** 2).mean()) + 2e-3


@pytest.mark.twin("kernels.monomials._combine")
@pytest.mark.parametrize("order", ORDERS)
def test_sums_of_harmonics(order, rng):
    points, amounts = directions(rng, 2 * TILE + 9), rng.standard_normal((3, num_harmonics(order)))
    found = combine(amounts, points.T, order)
    assert np.allclose(found, amounts @ harmonics(points, order).T, atol=2e-3)

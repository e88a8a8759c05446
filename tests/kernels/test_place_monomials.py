"""Passes over monomials of the place against a table of all of them."""

import numpy as np
import pytest

from anylight.kernels import place_monomials

FRAME = (3.0, 4.0, 5.0)


@pytest.fixture
def case(rng):
    inside = rng.random((7, 9)) < 0.8
    return inside, rng.standard_normal(inside.shape) * inside


def table(inside, height):
    """All monomials at the places inside, and the height times the lowest three."""
    rows, columns = np.nonzero(inside)
    x, y = (columns - FRAME[1]) / FRAME[2], (rows - FRAME[0]) / FRAME[2]
    degree = place_monomials.DEGREE
    places = [x**a * y ** (d - a) for d in range(degree + 1) for a in range(d + 1)]
    z = height[inside]
    return np.stack([*places, z, z * x, z * y])


@pytest.mark.twin("kernels.place_monomials._fill")
def test_values_at_places(case):
    inside, height = case
    rows, columns = np.nonzero(inside)
    found = place_monomials.at(rows, columns, height[inside], FRAME)
    assert np.allclose(found, table(inside, height))


@pytest.mark.twin("kernels.place_monomials._collect")
def test_collecting_is_the_product_with_the_table(case, rng):
    inside, height = case
    field = rng.standard_normal(inside.shape)
    found = place_monomials.collect(field, height, inside, FRAME)
    assert np.allclose(found, table(inside, height) @ field[inside])


@pytest.mark.twin("kernels.place_monomials._squares")
def test_squares_are_the_gram_matrix(case):
    inside, height = case
    rows = table(inside, height)
    assert np.allclose(place_monomials.squares(height, inside, FRAME), rows @ rows.T)


@pytest.mark.twin("kernels.place_monomials.expand")
def test_expanding_adds_combinations(case, rng):
    inside, height = case
    amounts, before = rng.standard_normal(place_monomials.NUM), rng.standard_normal(inside.shape)
    out = before.copy()
    place_monomials.expand(amounts, height, inside, FRAME, out)
    assert np.allclose(out[inside] - before[inside], amounts @ table(inside, height))
    assert np.array_equal(out[~inside], before[~inside])

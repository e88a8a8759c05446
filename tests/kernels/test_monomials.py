import numpy as np
import pytest

from anylight.kernels.monomials import basis, evaluate, evaluate_with_slopes
from anylight.photometry.harmonics import d_harmonics, harmonics, num_harmonics

ORDERS = [1, 2, 4, 6]


def directions(rng, num=300):
    points = rng.standard_normal((num, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("order", ORDERS)
def test_monomials_become_harmonics(order, rng):
    points = directions(rng)
    own = basis(order)
    out = np.empty((num_harmonics(order), len(points)), np.float32)
    evaluate(own.exponents, points.T.copy(), out)
    assert np.allclose(own.matrix @ out, harmonics(points, order).T, atol=2e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_derivatives_along_the_sphere(order, rng):
    points = directions(rng)
    turns = np.cross(rng.standard_normal((2, len(points), 3)), points)
    own = basis(order)
    out = np.empty((3, num_harmonics(order), len(points)), np.float32)
    evaluate_with_slopes(own.exponents, points.T.copy(), *(t.T.copy() for t in turns), *out)
    exact = d_harmonics(points, order)
    for turn, found in zip(turns, out[1:], strict=True):
        wanted = np.einsum("pki,pi->kp", exact, turn)
        assert np.allclose(own.matrix @ found, wanted, atol=2e-4)

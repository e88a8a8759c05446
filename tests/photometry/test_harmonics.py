import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import lpmv

from anylight.photometry.harmonics import (
    DEGREES,
    d_harmonics,
    degrees,
    half_cosine,
    half_cosines,
    harmonics,
    num_harmonics,
    order_of,
)


def gauss_sphere(size=24):
    """Nodes and weights that integrate polynomials of degree < 2·size exactly."""
    z, weight = np.polynomial.legendre.leggauss(size)
    phi = 2 * np.pi * np.arange(2 * size) / (2 * size)
    zz, pp = np.meshgrid(z, phi, indexing="ij")
    r = np.sqrt(1 - zz**2)
    nodes = np.stack([r * np.cos(pp), r * np.sin(pp), zz], -1).reshape(-1, 3)
    return nodes, np.repeat(weight * np.pi / size, 2 * size)


def unit_vectors(rng, num=200):
    vectors = rng.standard_normal((num, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("order", DEGREES)
def test_orthonormal(order):
    nodes, weights = gauss_sphere()
    basis = harmonics(nodes, order)
    gram = (basis * weights[:, None]).T @ basis
    assert np.allclose(gram, np.eye(num_harmonics(order)), atol=1e-12)


def test_counts_and_orders():
    assert [num_harmonics(order) for order in DEGREES] == [1, 4, 9, 18, 31, 48]
    assert [order_of(num_harmonics(order)) for order in DEGREES] == list(DEGREES)
    with pytest.raises(ValueError, match="one of"):
        degrees(3)
    with pytest.raises(ValueError, match="number of harmonics"):
        order_of(16)


def test_second_order_by_hand(rng):
    x, y, z = unit_vectors(rng).T
    a, b = math.sqrt(3 / (4 * math.pi)), math.sqrt(15 / (4 * math.pi))
    by_hand = [
        np.full_like(x, math.sqrt(1 / (4 * math.pi))),
        a * y, a * z, a * x,
        b * x * y, b * y * z, b * (3 * z**2 - 1) / math.sqrt(12), b * x * z, b * (x**2 - y**2) / 2,
    ]  # fmt: skip
    assert np.allclose(harmonics(np.stack([x, y, z], -1), 2), np.stack(by_hand, -1))


def test_all_orders_against_legendre_functions(rng):
    n = unit_vectors(rng)
    phi = np.arctan2(n[:, 1], n[:, 0])
    columns = []
    for degree in degrees(6):
        for m in range(-degree, degree + 1):
            k = abs(m)
            ratio = math.factorial(degree - k) / math.factorial(degree + k)
            norm = math.sqrt((2 * degree + 1) / (4 * math.pi) * ratio * (2 if m else 1))
            wave = np.cos(k * phi) if m >= 0 else np.sin(k * phi)
            # scipy includes the Condon-Shortley sign, we do not
            columns.append(norm * (-1) ** k * lpmv(k, degree, n[:, 2]) * wave)
    assert np.allclose(harmonics(n, 6), np.stack(columns, -1), atol=1e-12)


@pytest.mark.parametrize("order", DEGREES)
def test_derivative_against_central_differences(order, rng):
    grazing = np.array([[1.0, 0.0, -1e-4], [0.0, -1.0, -1e-6], [0.6, 0.8, 0.0], [0.0, 0.0, -1.0]])
    n = np.concatenate([unit_vectors(rng), grazing / np.linalg.norm(grazing, axis=1)[:, None]])
    derivative = d_harmonics(n, order)
    for axis, step in enumerate(1e-5 * np.eye(3)):
        numeric = (harmonics(n + step, order) - harmonics(n - step, order)) / 2e-5
        assert np.allclose(numeric, derivative[..., axis], rtol=1e-6, atol=1e-6)


def test_half_cosine_coefficients():
    expected = [1, 2 / 3, 1 / 4, 0, -1 / 24, 0, 1 / 64]
    assert np.allclose([half_cosine(degree) / np.pi for degree in range(7)], expected, rtol=1e-14)


def test_half_cosine_by_quadrature():
    # k_l = 2π ∫ max(t, 0) P_l(t) dt
    t, weight = np.polynomial.legendre.leggauss(40)
    t, weight = (t + 1) / 2, weight / 2
    for degree in range(9):
        legendre = np.polynomial.legendre.Legendre.basis(degree)(t)
        assert np.isclose(
            half_cosine(degree), 2 * np.pi * (weight * t * legendre).sum(), atol=1e-13
        )


def test_each_degree_turns_into_itself(rng):
    # Rotating all normals mixes harmonics within a degree only, by an orthogonal matrix.
    n = unit_vectors(rng, 400)
    rotation = Rotation.random(rng=rng).as_matrix()
    mixing = np.linalg.lstsq(harmonics(n, 6), harmonics(n @ rotation.T, 6), rcond=None)[0]
    assert np.allclose(mixing @ mixing.T, np.eye(31), atol=1e-9)
    degree = np.repeat(degrees(6), [2 * d + 1 for d in degrees(6)])
    assert np.allclose(mixing[degree[:, None] != degree[None, :]], 0, atol=1e-9)
    assert len(half_cosines(6)) == 31

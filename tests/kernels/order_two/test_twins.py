"""Compiled kernels against their readable twin."""

import numpy as np
import pytest

from anylight.kernels.order_two.basis import MONOMIALS, NUM_FIRST, polynomial, products
from anylight.kernels.order_two.cpu import TILE, CpuKernels
from anylight.kernels.order_two.protocol import Snapshot
from anylight.kernels.order_two.reference import ReferenceKernels
from anylight.photometry.harmonics import harmonics
from anylight.threads import use_threads

CASES = [
    (3, 1, 1, 4, np.uint8), (7, 3, TILE - 1, 9, np.uint16), (5, 2, TILE + 1, 9, np.uint16),
    (4, 3, 2 * TILE, 4, np.float32), (11, 1, 1000, 9, np.float32), (1, 1, 333, 9, np.uint8),
    (40, 3, 70 * TILE + 5, 9, np.uint8),
]  # fmt: skip


def views(rng, num, channels, size, num_harmonics, dtype):
    normals = rng.standard_normal((3, size))
    normals[2] = -np.abs(normals[2]) - 0.1
    normals /= np.linalg.norm(normals, axis=0)
    if dtype == np.float32:
        photos, scale = rng.random((num, channels, size)).astype(dtype), 0.8
    else:
        top = np.iinfo(dtype).max
        photos, scale = rng.integers(0, top, (num, channels, size)).astype(dtype), 1.1 / top
    albedo = rng.random((channels, size))
    lighting = 0.4 * rng.standard_normal((num, channels, num_harmonics))
    kernels = (ReferenceKernels(), CpuKernels())
    return [
        (k, Snapshot(k.pack(photos, num), scale, normals, albedo, lighting, 0.15)) for k in kernels
    ]


@pytest.mark.twin("kernels.order_two.cpu._energy", "kernels.order_two.pixel.shade")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_energy(rng, case):
    (slow, a), (fast, b) = views(rng, *case)
    assert fast.photometric_energy(b) == pytest.approx(slow.photometric_energy(a), rel=1e-6)


@pytest.mark.twin(
    "kernels.order_two.cpu._albedo",
    "kernels.order_two.cpu._depth",
    "kernels.order_two.cpu._moments",
    "kernels.order_two.cpu._accumulate",
    "kernels.order_two.pixel.cauchy_weight",
    "kernels.order_two.pixel.shade_slope",
    "kernels.order_two.pixel.shade_from_slope",
)
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("system", ["albedo_system", "lighting_system", "depth_system"])
def test_systems(rng, case, system):
    (slow, a), (fast, b) = views(rng, *case)
    for exact, found in zip(getattr(slow, system)(a), getattr(fast, system)(b), strict=True):
        assert found.shape == exact.shape
        assert np.allclose(found, exact, rtol=2e-5, atol=2e-6 * np.abs(exact).max())
        # a forgotten accumulation hides in an absolute tolerance, not in a ratio of sizes
        assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(exact), rel=1e-5)


def test_results_do_not_depend_on_threads(rng):
    _, (fast, view) = views(rng, 9, 3, 40 * TILE + 3, 9, np.uint16)
    results = []
    for threads in (1, 2):
        use_threads(threads)
        results.append(
            [np.float64(fast.photometric_energy(view)), *fast.albedo_system(view),
             *fast.lighting_system(view), *fast.depth_system(view)]
        )  # fmt: skip
    use_threads(None)
    for one, two in zip(*results, strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("num", [4, 9])
def test_polynomials_are_the_harmonics(rng, num):
    n = rng.standard_normal((100, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    x, y, z = n.T
    lighting = rng.standard_normal(num)
    a = polynomial(lighting)
    terms = np.stack([1 + 0 * x, x, y, z, x * y, x * z, y * z, x**2 - y**2, z**2])
    assert np.allclose(a @ terms, harmonics(n, 2)[:, :num] @ lighting)


def test_moments_give_products_of_harmonics():
    square, single = products()
    # over the whole sphere the Gram matrix is the identity: integrate the monomials exactly
    z, weight = np.polynomial.legendre.leggauss(12)
    phi = 2 * np.pi * np.arange(24) / 24
    zz, pp = np.meshgrid(z, phi, indexing="ij")
    r = np.sqrt(1 - zz**2)
    n = np.stack([r * np.cos(pp), r * np.sin(pp), zz], -1).reshape(-1, 3)
    basis, weights = harmonics(n, 2), np.repeat(weight * np.pi / 12, 24)
    table = np.stack([n[:, 0] ** a * n[:, 1] ** b * n[:, 2] ** c for a, b, c in MONOMIALS], 1)
    assert np.allclose(square @ (weights @ table), np.eye(9), atol=1e-12)
    assert np.allclose(table[:, :NUM_FIRST] @ single.T, basis)


def test_gradients_against_central_differences(rng):
    # The depth system is the Gauss-Newton system of the polynomial extension of the shading.
    kernels = ReferenceKernels()
    (_, view), _ = views(rng, 3, 2, 50, 9, np.float32)

    def energy(normals):
        a = polynomial(view.lighting)
        x, y, z = normals
        terms = np.stack([1 + 0 * x, x, y, z, x * y, x * z, y * z, x**2 - y**2, z**2])
        r = view.albedo * np.einsum("mck,kp->mcp", a, terms) - view.scale * view.photos
        return (view.cauchy_scale**2 * np.log1p((r / view.cauchy_scale) ** 2)).sum((0, 1))

    source = kernels.depth_system(view).source
    for axis in range(3):
        step = np.zeros((3, 1))
        step[axis] = 1e-6
        numeric = (energy(view.normals + step) - energy(view.normals - step)) / 2e-6
        assert np.allclose(numeric, 2 * source[axis], rtol=1e-5, atol=1e-6)

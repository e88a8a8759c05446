"""Depth on the padded grid against the geometry's readable formulas."""

import numpy as np
import pytest

from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.differences import forward_or_backward
from anylight.geometry.domain import Domain
from anylight.geometry.normals import depth_normals, slope_matrix
from anylight.kernels.pixel_differences import neighbours, normals, pull_back, slope_sizes
from anylight.linalg.grid import Grid

CAMERAS = (Perspective((40.0, 42.0), (5.0, 4.0)), Orthographic((5.0, 4.0)))


@pytest.fixture
def domain(rng):
    mask = rng.random((9, 10)) < 0.85
    mask[4, 5] = True
    return Domain(mask)


@pytest.mark.twin("kernels.pixel_differences.normals")
@pytest.mark.parametrize("camera", CAMERAS)
def test_normals_are_those_of_the_geometry(domain, camera, rng):
    grid, depth = Grid(domain.mask), 3 + 0.1 * rng.random(domain.size)
    near = neighbours(grid.inside, backward=True)
    unit, length = np.empty((3, domain.size)), np.empty(domain.size)
    normals(grid.spread(depth).ravel(), near, camera.numbers, domain.pixels, unit, length)
    expected = depth_normals(camera, domain.scatter(depth), domain.mask, "forward")
    assert np.allclose(unit.T, domain.gather(expected))


@pytest.mark.twin("kernels.pixel_differences.slope_sizes")
def test_sizes_are_those_of_both_differences(domain, rng):
    grid, values = Grid(domain.mask), rng.random(domain.size)
    sizes = np.empty(domain.size)
    slope_sizes(grid.spread(values).ravel(), neighbours(grid.inside, backward=True), sizes)
    parts = [forward_or_backward(domain, axis).apply(values) for axis in ("u", "v")]
    assert np.allclose(sizes, np.hypot(*parts))


@pytest.mark.twin("kernels.pixel_differences.pull_back")
@pytest.mark.parametrize("camera", CAMERAS)
def test_pulling_back_is_the_chain_rule(domain, camera, rng):
    """ñ = A (z_u, z_v, z) in perspective, A (z_u, z_v, 1) under parallel rays; θ is held."""
    num = domain.size
    root, source = rng.standard_normal((3, 3, num)), rng.standard_normal((3, num))
    square = np.einsum("abj,cbj->acj", root, root)
    rows, columns = np.triu_indices(3)
    length = 1 + rng.random(num)
    form, gradient = np.empty((6, num)), np.empty((3, num))
    blocks = np.ascontiguousarray(square[rows, columns])
    pull_back(blocks, source, length, camera.numbers, domain.pixels, form, gradient)
    by_slopes = slope_matrix(camera, domain.pixels) / length[:, None, None]
    if isinstance(camera, Orthographic):
        by_slopes[:, :, 2] = 0
    jacobian = by_slopes[:, :, [2, 0, 1]]
    expected = np.einsum("jab,acj,jcd->bdj", jacobian, square, jacobian)
    assert np.allclose(form, expected[rows, columns])
    assert np.allclose(gradient, np.einsum("jab,aj->bj", jacobian, source))

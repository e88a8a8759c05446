import numpy as np
import pytest

from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.normals import d_normal_d_slope, normals_from_slopes
from anylight.kernels import facets
from tests.joint.scenes import blob_level

CAMERAS = [Perspective((40.0, 44.0), (9.3, 7.1)), Orthographic((3.0, 4.0))]


@pytest.fixture
def level(rng):
    return blob_level(rng)


def surface(level, rng):
    return rng.standard_normal(level.grid.shape) * level.grid.inside


@pytest.mark.twin("kernels.facets._slopes", "kernels.facets._run_end")
def test_slopes_of_a_plane(level):
    rows, columns = np.indices(level.grid.shape)
    p, q = level.slopes(0.3 * columns - 0.2 * rows + 5.0)
    assert np.allclose(p, 0.3)
    assert np.allclose(q, -0.2)


@pytest.mark.twin("kernels.facets._scatter")
def test_scatter_is_the_adjoint(level, rng):
    z, gp, gq = surface(level, rng), *rng.standard_normal((2, level.size))
    p, q = level.slopes(z)
    assert p @ gp + q @ gq == pytest.approx((z * level.scatter(gp, gq)).sum())


def test_no_slope_and_no_pixel_sees_the_checkerboard(level):
    rows, columns = np.indices(level.grid.shape)
    board = np.where((rows + columns) % 2, 1.0, -1.0) * level.grid.inside
    assert np.allclose(level.slopes(board), 0)
    assert np.allclose(level.at_pixels(board), 0)


@pytest.mark.twin("kernels.facets._assemble")
def test_the_stencil_is_the_quadratic_form(level, rng):
    root = rng.standard_normal((2, 2, level.size))
    block = np.einsum("abj,cbj->acj", root, root)
    blocks = np.stack([block[0, 0], block[0, 1], block[1, 1]])
    edge = rng.random(level.size)
    stencil = facets.assemble(blocks, edge, level.here, level.rows, level.grid.shape)
    z = surface(level, rng)
    p, q = level.slopes(z)
    wanted = (blocks[0] * p**2 + 2 * blocks[1] * p * q + blocks[2] * q**2).sum()
    flat, here, width = z.ravel(), level.here, level.grid.shape[1]
    a, b, c, d = (flat[here + k] for k in (0, 1, width, width + 1))
    wanted += (edge / 2 * ((b - a) ** 2 + (d - c) ** 2 + (c - a) ** 2 + (d - b) ** 2)).sum()
    matrix = stencil.dense()
    assert flat @ matrix @ flat == pytest.approx(wanted)


@pytest.mark.twin("kernels.facets._hold")
def test_holding_is_the_edges_part_of_the_stencil(level, rng):
    cover, z = rng.random(level.size), surface(level, rng)
    nothing = np.zeros((3, level.size))
    matrix = facets.assemble(nothing, 0.3 * cover, level.here, level.rows, level.grid.shape).dense()
    out = np.zeros(level.grid.shape)
    facets.hold(z, 0.3, cover, level.here, level.rows, out)
    np.testing.assert_allclose(out.ravel(), matrix @ z.ravel(), atol=1e-12)


@pytest.mark.twin("kernels.facets._form")
def test_the_form_is_the_stencil(level, rng):
    blocks, z = rng.standard_normal((3, level.size)), surface(level, rng)
    edge = np.full(level.size, 0.3)
    matrix = facets.assemble(blocks, edge, level.here, level.rows, level.grid.shape).dense()
    out = np.full(level.grid.shape, np.nan)
    facets.form(z, blocks, 0.3, level.here, level.rows, out)
    np.testing.assert_allclose(out.ravel(), matrix @ z.ravel(), atol=1e-12)


@pytest.mark.twin(
    "kernels.facets._normals", "kernels.facets._turns", "kernels.facets.tilts",
    "kernels.facets.fill_normal", "kernels.facets.fill_turns",
)  # fmt: skip
@pytest.mark.parametrize("camera", CAMERAS)
def test_normals_and_their_derivatives_are_those_of_the_geometry(camera, rng):
    level = blob_level(rng, camera)
    p, q = 0.05 * rng.standard_normal((2, level.size))
    slopes = np.stack([p, q], axis=1)
    unit, length = level.normals(p, q)
    pixels = level.domain.pixels
    assert np.allclose(unit.T, normals_from_slopes(camera, pixels, slopes))
    exact = d_normal_d_slope(camera, pixels, slopes)
    for axis, turn in enumerate(level.turns(unit, length)):
        assert np.allclose(turn.T, exact[:, :, axis])


@pytest.mark.twin("kernels.facets._sums", "kernels.facets._lower")
def test_a_moved_surface_has_no_mean_and_keeps_its_margin(level, rng):
    inside = level.grid.inside
    z, change = rng.standard_normal((2, *inside.shape))
    found = level.moved(z, change.astype(np.float32))
    wanted = z + change.astype(np.float32)
    wanted[inside] -= wanted[inside].mean()
    assert np.allclose(found, wanted)
    assert np.allclose(level.centred(found), found)

import numpy as np
import pytest

from anylight.geometry.camera import Orthographic, Perspective, kind_of
from anylight.geometry.domain import Domain
from anylight.geometry.normals import (
    d_normal_d_slope,
    depth_normals,
    normals_from_slopes,
    slopes_from_normals,
    tilted_normals,
)

CAMERAS = [Perspective((70.0, 64.0), (20.0, 17.0)), Orthographic((20.0, 17.0))]


def pixels_and_slopes(camera, rng, steepness):
    pixels = rng.uniform(0, 40, (200, 2))
    slopes = rng.standard_normal((200, 2)) * steepness
    if isinstance(camera, Perspective):
        slopes = slopes / np.array(camera.focal_px)
    return pixels, slopes


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
@pytest.mark.parametrize("steepness", [1e-3, 1.0, 30.0])
def test_jacobian_against_central_differences(camera, steepness, rng):
    # steepness 30 is a normal two degrees from grazing
    pixels, slopes = pixels_and_slopes(camera, rng, steepness)
    jacobian = d_normal_d_slope(camera, pixels, slopes)
    scale = np.abs(slopes).mean()
    for axis in range(2):
        step = np.zeros(2)
        step[axis] = 1e-5 * scale
        ahead = normals_from_slopes(camera, pixels, slopes + step)
        behind = normals_from_slopes(camera, pixels, slopes - step)
        numeric = (ahead - behind) / (2 * step[axis])
        size = np.abs(jacobian[..., axis]).max()
        assert np.allclose(numeric, jacobian[..., axis], rtol=1e-6, atol=1e-6 * size)


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_slopes_come_back_from_normals(camera, rng):
    pixels, slopes = pixels_and_slopes(camera, rng, 2.0)
    normals = normals_from_slopes(camera, pixels, slopes)
    assert np.allclose(slopes_from_normals(camera, pixels, normals), slopes, rtol=1e-9)


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_normals_face_the_camera_whatever_the_slopes(camera, rng):
    pixels, slopes = pixels_and_slopes(camera, rng, 100.0)
    normals = normals_from_slopes(camera, pixels, slopes)
    rays = camera.rays(*pixels.T)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)
    assert ((normals * rays).sum(1) < 0).all()


def test_the_tilted_normal_is_the_papers_divided_by_depth(rng):
    camera = CAMERAS[0]
    pixels, slopes = pixels_and_slopes(camera, rng, 1.0)
    z = rng.uniform(1, 5, len(pixels))
    zu, zv = (slopes * z[:, None]).T
    (fu, fv), offset = camera.focal_px, pixels - camera.centre_px
    paper = np.stack([fu * zu, fv * zv, -z - offset[:, 0] * zu - offset[:, 1] * zv], axis=-1)
    assert np.allclose(tilted_normals(camera, pixels, slopes), paper / z[:, None])


def plane_depth(camera, mask, normal, distance):
    """Depth of the plane normal·X = −distance on the pixel grid."""
    domain = Domain(mask)
    u, v = domain.pixels.T
    if isinstance(camera, Orthographic):
        x, y = (domain.pixels - camera.centre_px).T
        depth = -(distance + normal[0] * x + normal[1] * y) / normal[2]
    else:
        depth = -distance / (camera.rays(u, v) @ normal)
    return domain.scatter(depth)


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_a_tilted_plane_has_one_normal(camera):
    mask = np.ones((34, 40), bool)
    normal = np.array([0.3, -0.2, -1.0]) / np.linalg.norm([0.3, -0.2, -1.0])
    depth = plane_depth(camera, mask, normal, 3.0)
    for stencil in ("central", "forward"):
        found = depth_normals(camera, depth, mask, stencil)
        tolerance = 1e-9 if isinstance(camera, Orthographic) else 1e-2
        assert np.allclose(found, normal, atol=tolerance)


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_a_bulge_to_the_camera_leans_outwards(camera):
    mask = np.ones((34, 40), bool)
    u, v = Domain(mask).pixels.T
    depth = Domain(mask).scatter(50 + 0.01 * ((u - 20) ** 2 + (v - 17) ** 2))
    normals = depth_normals(camera, depth, mask)
    assert (normals[:, 30:, 0] > 0).all()
    assert (normals[:, :10, 0] < 0).all()
    assert (normals[28:, :, 1] > 0).all()
    assert (normals[..., 2] < 0).all()

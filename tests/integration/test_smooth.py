import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective, kind_of
from anylight.geometry.domain import Domain
from anylight.geometry.normals import angles_deg, depth_normals
from anylight.integration.smooth import (
    MAX_SLANT_DEG,
    clamp_slant,
    height_normals,
    integrate_normals,
    integrate_slopes,
)

CAMERAS = [Perspective((300.0, 260.0), (100.0, 90.0)), Orthographic((100.0, 90.0))]


def ellipsoid(camera, radii=(1.0, 0.6, 0.8), keep=0.15):
    """Depth and normals of an ellipsoid in front of a camera, away from its rim."""
    rows, columns = np.mgrid[:180, :200].astype(float)
    scale = 1.0 if isinstance(camera, Perspective) else 80.0
    centre = np.array([0.05, -0.03, 4.0]) * scale
    r = np.array(radii) * scale
    rays = camera.rays(columns.ravel(), rows.ravel()) / r
    origin = (camera.points(columns.ravel(), rows.ravel(), np.zeros(rows.size)) - centre) / r
    a, b, c = (rays**2).sum(1), (rays * origin).sum(1), (origin**2).sum(1) - 1
    inner = b**2 - a * c
    mask = (inner > keep * inner.max()).reshape(rows.shape)
    distance = (-b - np.sqrt(np.maximum(inner, 0))) / a
    local = origin + distance[:, None] * rays
    normals = local / r
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return mask, distance.reshape(rows.shape), normals.reshape(*rows.shape, 3)


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_an_ellipsoid_comes_back(camera):
    # Elongated, so that swapped axes would show; f_u ≠ f_v.
    mask, depth, normals = ellipsoid(camera)
    domain = Domain(mask)
    found = integrate_normals(camera, domain, domain.gather(normals))
    exact = domain.gather(depth)
    if isinstance(camera, Perspective):
        assert np.sqrt(((found * exact.mean() / exact - 1) ** 2).mean()) < 1e-3
        assert found.mean() == pytest.approx(1)
    else:
        assert np.sqrt((found - (exact - exact.mean())) ** 2).max() < 0.02 * np.ptp(exact)
    rebuilt = depth_normals(camera, domain.scatter(found), mask)
    inner = ~domain.is_rim
    angles = angles_deg(domain.gather(rebuilt), domain.gather(normals))[inner]
    assert angles.mean() < 0.2
    assert angles.max() < 1.0


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_pieces_are_each_right_up_to_their_own_constant(camera):
    mask, depth, normals = ellipsoid(camera)
    mask = mask.copy()
    mask[:, 95:101] = False
    mask[100:, :70] = False
    domain = Domain(mask)
    assert domain.num_components >= 2
    found = integrate_normals(camera, domain, domain.gather(normals))
    exact = domain.gather(depth)
    for piece in range(domain.num_components):
        a, b = found[domain.components == piece], exact[domain.components == piece]
        if isinstance(camera, Perspective):
            assert a.mean() == pytest.approx(1)
            assert np.abs(a * b.mean() / b - 1).max() < 3e-3
        else:
            assert np.abs(a - (b - b.mean())).max() < 0.02 * np.ptp(exact)


def test_a_plane_is_exact_on_any_mask(rng):
    mask = rng.random((30, 40)) < 0.7
    domain = Domain(mask)
    slopes = np.broadcast_to([0.3, -0.2], (domain.size, 2)).copy()
    surface = integrate_slopes(domain, slopes)
    plane = domain.pixels @ [0.3, -0.2]
    for piece in range(domain.num_components):
        inside = domain.components == piece
        expected = plane[inside] - plane[inside].mean()
        assert np.allclose(surface[inside], expected, atol=1e-5)


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_normals_beyond_the_rim_are_bent_back(camera, rng):
    pixels = rng.uniform(0, 180, (300, 2))
    normals = rng.standard_normal((300, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    bent = clamp_slant(camera, pixels, normals)
    rays = camera.rays(*pixels.T)
    towards = -rays / np.linalg.norm(rays, axis=1, keepdims=True)
    slant = angles_deg(bent, towards)
    assert slant.max() < MAX_SLANT_DEG + 1e-6
    kept = angles_deg(normals, towards) < MAX_SLANT_DEG
    assert np.allclose(bent[kept], normals[kept])
    # the azimuth stays: both lie in one half plane through the ray
    side = np.cross(normals, towards)
    assert np.allclose((np.cross(bent, towards) * side).sum(1) > 0, True)


def test_normals_in_the_wrong_frame_are_refused():
    mask, _, normals = ellipsoid(CAMERAS[0])
    domain = Domain(mask)
    with pytest.raises(InvalidInputError, match="opengl"):
        integrate_normals(CAMERAS[0], domain, domain.gather(normals) * [1, -1, -1])


def test_height_towards_the_camera_leans_outwards():
    domain = Domain(np.ones((21, 21), bool))
    u, v = domain.pixels.T
    normals = height_normals(domain, -0.05 * ((u - 10) ** 2 + (v - 10) ** 2))
    assert (normals[u > 15, 0] > 0).all()
    assert (normals[v > 15, 1] > 0).all()
    assert (normals[:, 2] < 0).all()

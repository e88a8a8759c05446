"""The prescribed checks of peng2017: T-P1 to T-P5, and X1, X2, X3, X5, X6."""

from functools import cache

import numpy as np
import pytest

from anylight.baselines.peng2017 import (
    PengOptions,
    fit_albedo,
    fit_light,
    harmonics,
    lighting,
    peng2017,
    photometric,
)
from anylight.baselines.prior_depth import PriorDepth
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.differences import forward_or_backward
from anylight.geometry.domain import Domain
from anylight.geometry.normals import depth_normals
from anylight.initial.options import BalloonOptions
from anylight.initial.start import balloon_start
from anylight.model.capture import Capture
from anylight.photometry.shading import intensity
from tests.baselines.scenes_perspective import (
    CAMERA,
    bumpy,
    first_order_light,
    painting,
    shade,
)
from tests.conftest import odd_mask


@cache
def photographed(num=20):
    """The bumpy ellipsoid under first-order light."""
    scene = bumpy()
    light = first_order_light(num, np.random.default_rng(3))
    return scene, scene.capture(shade(light, painting(scene.domain), scene.forward_normals))


def forward_normals(scene, depth):
    image = scene.domain.scatter(depth)
    return scene.domain.gather(depth_normals(CAMERA, image, scene.domain.mask, "forward"))


def test_a_true_prior_stays():
    # T-P1; it moves at all because the albedo starts as the mean photo.
    scene, capture = photographed()
    found = peng2017(capture, scene.depth)
    assert scene.error_deg(found.normals) < 0.5
    assert np.abs(found.depth / scene.depth - 1).max() < 1e-3


@pytest.mark.parametrize(("weight", "most"), [(0.01, 9.5), (0.1, 8.0)])
def test_a_blurred_prior_improves(weight, most):
    # T-P2
    scene, capture = photographed()
    prior = scene.blurred(8.0)
    assert scene.error_deg(forward_normals(scene, prior)) == pytest.approx(11.8, abs=0.5)
    found = peng2017(capture, prior, PengOptions(weight=weight))
    assert scene.error_deg(found.normals) < most


def test_the_prior_s_scale_does_not_matter():
    # T-P3
    scene, capture = photographed()
    prior = scene.blurred(8.0)
    one, seven = peng2017(capture, prior), peng2017(capture, 7 * prior)
    assert np.allclose(seven.depth, 7 * one.depth, rtol=1e-6, atol=0)
    assert np.allclose(seven.normals, one.normals, atol=1e-6)
    assert seven.diagnostics["lambda"] == pytest.approx(49 * one.diagnostics["lambda"])


def written_out(domain, camera, light, albedo, length):
    """A_ic of every photo and channel as the specification writes it, photo by channel."""
    (fu, fv), (u, v) = camera.focal_px, (domain.pixels - camera.centre_px).T
    along_u, along_v = (forward_or_backward(domain, axis).matrix().toarray() for axis in "uv")
    one = np.eye(domain.size)

    def matrix(s, rho):
        tilted = (
            (fu * s[0] - u * s[2])[:, None] * along_u
            + (fv * s[1] - v * s[2])[:, None] * along_v
            - s[2] * one
        )
        return (rho / length)[:, None] * tilted

    return [[matrix(s, rho) for s, rho in zip(row, albedo, strict=True)] for row in light]


@pytest.fixture
def small(rng):
    """An odd mask with a curved depth, random light and photos."""
    domain, camera = Domain(odd_mask()), Perspective((21.0, 19.0), (8.2, 6.1))
    depth = 2 + 0.01 * ((domain.pixels - [8, 6]) ** 2).sum(1) + 0.02 * rng.random(domain.size)
    light, albedo = first_order_light(5, rng), rng.uniform(0.2, 1, (3, domain.size))
    photos = rng.uniform(0, 1, (5, 3, domain.size))
    return domain, camera, depth, light, albedo, photos


def test_the_lagged_residual_is_the_model_s(small):
    # T-P4: A z − r = ρ s·(n, 1) − I at θ = |ñ(z)|, and A is the derivative with θ held.
    domain, camera, depth, light, albedo, photos = small
    surface = PriorDepth(camera, domain)
    unit, length = surface.normals(depth)
    model = shade(light, albedo, unit.T) - photos
    matrices = written_out(domain, camera, light, albedo, length)
    step = 1e-3 * np.random.default_rng(0).standard_normal(domain.size)
    moved, moved_length = surface.normals(depth + step)
    held = shade(light, albedo, (moved * moved_length / length).T) - photos
    for i, row in enumerate(matrices):
        for c, matrix in enumerate(row):
            right = photos[i, c] - albedo[c] * light[i, c, 3]
            assert np.allclose(matrix @ depth - right, model[i, c], atol=1e-12)
            assert np.allclose(matrix @ step, held[i, c] - model[i, c], atol=1e-12)


def test_the_depth_step_solves_the_written_system(small):
    domain, camera, depth, light, albedo, photos = small
    surface = PriorDepth(camera, domain)
    _, length = surface.normals(depth)
    prior, weight = depth + 0.1, 0.3
    stacked = light.swapaxes(0, 1)
    lit = stacked.swapaxes(1, 2) @ photos.swapaxes(0, 1)
    products, source = photometric(lit, stacked.swapaxes(1, 2) @ stacked, albedo)
    found = surface.solve(prior, weight * products, weight * source, length, depth)
    matrix, right = np.eye(domain.size), prior.copy()
    for i, row in enumerate(written_out(domain, camera, light, albedo, length)):
        for c, one in enumerate(row):
            matrix += weight * one.T @ one
            right += weight * one.T @ (photos[i, c] - albedo[c] * light[i, c, 3])
    assert np.allclose(found, np.linalg.solve(matrix, right), rtol=1e-7)


def test_light_and_albedo_are_least_squares(small):
    _, _, depth, light, albedo, photos = small
    domain, camera = small[:2]
    basis = harmonics(PriorDepth(camera, domain).normals(depth)[0])
    stacked = np.ascontiguousarray(photos.swapaxes(0, 1))
    found = fit_light(stacked, albedo, basis)
    for c in range(3):
        best = np.linalg.lstsq((albedo[c] * basis).T, photos[:, c].T)[0].T
        assert np.allclose(found[c], best, atol=1e-8)
    # with the true albedo the light is exact
    shown = np.ascontiguousarray(shade(light, albedo, basis[:3].T).swapaxes(0, 1))
    exact = fit_light(shown, albedo, basis)
    assert np.allclose(exact, light.swapaxes(0, 1), atol=1e-8)
    s = light.swapaxes(0, 1)
    painted = fit_albedo(s.swapaxes(1, 2) @ stacked, s.swapaxes(1, 2) @ s, basis)
    shading = s @ basis
    assert np.allclose(painted, (stacked * shading).sum(1) / (shading**2).sum(1))


def test_four_photos_suffice_and_three_do_not():
    # T-P5
    scene, capture = photographed(4)
    found = peng2017(capture, scene.blurred(8.0))
    assert scene.error_deg(found.normals) < 11.0
    three = Capture(capture.photos[:3], capture.mask, capture.camera)
    with pytest.raises(InvalidInputError, match="4 photos"):
        peng2017(three, scene.depth)


def test_right_is_right():
    # X1: a sphere, one lamp from the right among ambient ones.
    scene = bumpy(0.0, (0.6, 0.6, 0.6))
    light = first_order_light(5, np.random.default_rng(1), channels=1)
    light[0] = [0.4, 0.0, -0.1, 0.45]
    albedo = np.full((1, scene.domain.size), 0.8)
    photos = shade(light, albedo, scene.normals)
    middle = scene.domain.pixels[:, 0].mean()
    right, left = (side * (scene.domain.pixels[:, 0] - middle) > 5 for side in (1, -1))
    assert photos[0, 0, right].mean() > 1.5 * photos[0, 0, left].mean()
    prior = balloon_start(CAMERA, scene.domain, BalloonOptions(volume=0.15)).depth
    found = peng2017(scene.capture(photos), prior)
    assert (found.normals[right, 0] > 0).all()
    assert (found.normals[left, 0] < 0).all()
    assert (found.normals[:, 2] < 0).all()
    assert found.lighting[0, 0, 3] > 0  # the lamp's x


@pytest.mark.parametrize("kind", ["hole", "border", "two", "odd"])
def test_any_mask(kind, rng):
    # X2
    if kind == "odd":
        domain = Domain(odd_mask())
        photos = rng.random((6, *domain.mask.shape, 3)).astype(np.float32)
        depth = 1 + 0.1 * rng.random(domain.size)
        found = peng2017(Capture(photos, domain.mask, CAMERA), depth)
        assert np.isfinite(found.depth).all()
        assert np.allclose(np.linalg.norm(found.normals, axis=1), 1)
        return
    mask = np.ones_like(bumpy().domain.mask)
    if kind == "hole":
        mask[40:55, 50:70] = False
    if kind == "two":
        mask[:, 60:64] = False
    scene = bumpy().cut(mask)
    rows = slice(30, 70) if kind == "border" else slice(None)
    light = first_order_light(12, rng)
    capture = scene.capture(shade(light, painting(scene.domain), scene.forward_normals))
    prior = scene.blurred(8.0)
    if kind == "border":
        top = CAMERA.centre_px[1] - rows.start
        camera = Perspective(CAMERA.focal_px, (CAMERA.centre_px[0], top))
        prior = scene.domain.scatter(prior)[rows][capture.mask[rows]]
        capture = Capture(capture.photos[:, rows], capture.mask[rows], camera)
        assert capture.mask[0].any()
    found = peng2017(capture, prior)
    domain = capture.domain()
    truth = scene.domain.scatter(scene.depth)[rows]

    def error(depth):
        exact, estimate = (
            domain.gather(depth_normals(capture.camera, image, domain.mask, "forward"))
            for image in (truth, domain.scatter(depth))
        )
        return np.rad2deg(np.arccos(np.clip((exact * estimate).sum(1), -1, 1))).mean()

    assert error(found.depth) < 0.85 * error(prior)


def test_the_photos_scale_does_not_matter():
    # X3
    scene, capture = photographed()
    prior = scene.blurred(8.0)
    bright = Capture(capture.photos * np.float32(10), capture.mask, capture.camera)
    one, ten = peng2017(capture, prior), peng2017(bright, prior)
    assert np.allclose(ten.depth, one.depth, rtol=1e-6)
    # the photos are in single precision, so ten times as bright is not quite that
    whole = [found.lighting * found.albedo.mean() for found in (one, ten)]
    assert np.allclose(whole[1] / 10, whole[0], atol=1e-6)


def test_twice_is_the_same():
    # X5
    scene, capture = photographed()
    one, two = (peng2017(capture, scene.blurred(8.0)) for _ in range(2))
    for name in ("depth", "normals", "albedo", "lighting"):
        assert (getattr(one, name) == getattr(two, name)).all()


@pytest.mark.filterwarnings("error")
def test_black_pixels_do_no_harm():
    # X6, in patches, alone and in one channel only; and a constant prior
    scene, capture = photographed()
    photos = capture.photos.copy()
    photos[:, 40:50, 60:70] = 0
    photos[:, 30, 40] = 0
    photos[:, 60:64, 50:60, 1] = 0
    dark = Capture(photos, capture.mask, capture.camera)
    for prior in (scene.blurred(8.0), np.full(scene.domain.size, 3.0)):
        found = peng2017(dark, prior)
        for name in ("depth", "normals", "albedo", "lighting"):
            assert np.isfinite(getattr(found, name)).all()
        assert (scene.domain.scatter(found.albedo.T)[40:50, 60:70] == 0).all()


def test_the_light_explains_the_photos():
    scene, capture = photographed()
    found = peng2017(capture, scene.depth)
    model = intensity(found.albedo, found.lighting, found.normals)
    assert np.abs(model - capture.radiance()).max() < 0.02
    light = np.random.default_rng(0).random((2, 5, 4))
    shown = light @ harmonics(scene.normals.T)
    white = np.ones((2, scene.domain.size))
    again = intensity(white, lighting(light), scene.normals)
    assert np.allclose(again, shown.swapaxes(0, 1))


def test_it_stops_as_published():
    scene, capture = photographed()
    prior = scene.blurred(8.0)
    usual = peng2017(capture, prior).diagnostics
    assert usual["stop"] == "tolerance"
    assert usual["iterations"] <= 2
    assert usual["changes"][-1] < 1e-3
    long = peng2017(capture, prior, PengOptions(tolerance=0.0)).diagnostics
    assert long["iterations"] == len(long["energies"]) == 10
    assert all(np.diff(long["energies"]) <= 0)


def test_a_grown_energy_ends_it_and_is_returned():
    # Noise for photos and depth: the lagged θ lets the energy grow.
    rng = np.random.default_rng(3)
    domain, camera = Domain(odd_mask()), Perspective((21.0, 19.0), (8.2, 6.1))
    photos = rng.random((5, *domain.mask.shape, 1)).astype(np.float32)
    capture, prior = Capture(photos, domain.mask, camera), 1 + 0.5 * rng.random(domain.size)
    found = peng2017(capture, prior, PengOptions(tolerance=0.0, weight=1.0))
    energies = found.diagnostics["energies"]
    assert found.diagnostics["stop"] == "energy grew"
    assert 1 < len(energies) < 10
    assert energies[-1] > energies[-2]
    limit = PengOptions(tolerance=0.0, weight=1.0, iterations=len(energies))
    assert (found.depth == peng2017(capture, prior, limit).depth).all()


def test_what_it_cannot_use_is_refused():
    scene, capture = photographed(4)
    parallel = Capture(capture.photos, capture.mask, Orthographic((0.0, 0.0)))
    with pytest.raises(InvalidInputError, match="perspective"):
        peng2017(parallel, scene.depth)
    with pytest.raises(InvalidInputError, match="one depth per"):
        peng2017(capture, scene.depth[:-1])
    for bad in (np.nan, 0.0, -1.0):
        with pytest.raises(InvalidInputError, match="positive"):
            peng2017(capture, np.where(np.arange(scene.domain.size) == 7, bad, scene.depth))
    for options in ({"weight": -1.0}, {"tolerance": -1.0}, {"iterations": 0}):
        with pytest.raises(InvalidInputError):
            PengOptions(**options)

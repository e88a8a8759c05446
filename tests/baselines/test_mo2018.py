"""Mo et al. 2018, our reconstruction: the thresholds are those of the specification."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ortho_group

from anylight.baselines.factorisation import gray_photos
from anylight.baselines.integrability import Variation, variation
from anylight.baselines.mo2018 import MoOptions, mo2018
from anylight.baselines.orientation import curl, turned
from anylight.baselines.patches import Windows, one_albedo, solve_patches, solved_patches
from anylight.baselines.unification import unified
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Perspective
from anylight.geometry.domain import Domain
from anylight.geometry.normals import depth_normals
from anylight.model.capture import Capture

from .scenes_directional import (
    PARALLEL,
    both_branches,
    bumpy,
    capture_of,
    directional,
    ellipsoid,
    lamps,
    lobes,
    mae,
    shading_under,
    sphere_part,
)


@pytest.mark.parametrize(("make", "most_deg"), [(bumpy, 1.5), (ellipsoid, 2.5)])
def test_light_from_one_direction(make, most_deg):
    scene = make()
    estimate = mo2018(directional(scene, lamps(20)))
    chosen, other = both_branches(estimate.normals, scene.normals)
    assert chosen < most_deg
    assert other > 70
    assert estimate.diagnostics["coverage"] > 0.99


def test_one_exact_patch(rng):
    slant, azimuth = np.deg2rad(25) * np.sqrt(rng.random(60)), 2 * np.pi * rng.random(60)
    normals = np.stack(
        [np.sin(slant) * np.cos(azimuth), np.sin(slant) * np.sin(azimuth), -np.cos(slant)], axis=-1
    )
    photos = 0.7 * normals @ lamps(20).T
    found, is_good = solve_patches(photos[None], np.ones((1, 60), bool))
    assert is_good.all()
    np.testing.assert_allclose(found[0] @ found[0].T, normals @ normals.T, atol=1e-6)


@pytest.mark.parametrize("kind", ["flat", "cylinder", "black"])
def test_patches_that_tell_nothing_are_rejected(kind):
    angle = np.linspace(-0.3, 0.3, 60)
    normals = {
        "flat": np.tile([0.0, 0.0, -1.0], (60, 1)),
        "cylinder": np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=-1),
        "black": np.zeros((60, 3)),
    }[kind]
    found, is_good = solve_patches((normals @ lamps(20).T)[None], np.ones((1, 60), bool))
    assert not is_good.any()
    assert np.isfinite(found).all()


@pytest.mark.parametrize("make", [bumpy, ellipsoid])
def test_soft_lamps_and_how_light_from_all_sides_flattens(make):
    scene = make()
    spreads = []
    for ambient in (0.0, 0.5, 1.0, 2.0):
        directions, flux = lobes(20, 30.0, ambient)
        intensity = shading_under(scene.normals, directions, flux)
        normals = mo2018(capture_of(scene.mask, intensity)).normals
        if ambient == 0:
            assert min(both_branches(normals, scene.normals)) < 15
        axis = normals.mean(axis=0)
        cosine = normals @ axis / np.linalg.norm(axis)
        spreads.append(np.rad2deg(np.arccos(np.clip(cosine, -1, 1))).mean())
    assert (np.diff(spreads) < 0).all()


def test_the_frame_of_a_patch_does_not_matter(rng):
    scene = bumpy()
    capture = directional(scene, lamps(20), clamp=True)
    patches = solved_patches(capture.domain(), gray_photos(capture), None, Windows(11, 5, 40))
    turns = ortho_group.rvs(3, size=patches.count, random_state=rng)
    normals = np.einsum("la,lab->lb", patches.normals, turns[patches.patch])
    one = unified(patches, len(scene.normals), 6).normals
    two = unified(replace(patches, normals=normals), len(scene.normals), 6).normals
    left, _, right = np.linalg.svd(two.T @ one)
    assert mae(two @ (left @ right), one) < 1e-6


def test_segments_of_other_albedo_are_cut_off_and_connected_by_profiles():
    scene = bumpy()
    v, u = np.nonzero(scene.mask)
    albedo = np.array([0.4, 1.0, 0.7])[(u // 25 + v // 30) % 3]
    capture = directional(scene, lamps(20), albedo=albedo, clamp=True)
    estimate = mo2018(capture)
    assert mae(estimate.normals, scene.normals) < 8
    apart = mo2018(capture, MoOptions(profiles=False))
    assert apart.diagnostics["coverage"] < estimate.diagnostics["coverage"]
    assert np.isfinite(apart.normals).all()


def test_a_window_keeps_its_largest_albedo():
    scene = bumpy()
    domain = Domain(scene.mask)
    members = domain.numbers[70:81, 90:101].ravel()
    photos = np.maximum(scene.normals[members] @ lamps(20).T, 0.02)
    is_dark = (np.arange(121) % 11) < 4
    profiles = np.log(photos * np.where(is_dark, 0.5, 1.0)[:, None])[None, :, None, :]
    everywhere = np.ones((1, 121), bool)
    kept = one_albedo(profiles, np.zeros((1, 121), int), everywhere, 11)[0]
    np.testing.assert_array_equal(kept, ~is_dark)


def test_curl_of_a_perspective_surface_vanishes():
    mask = np.ones((80, 100), bool)
    v, u = np.mgrid[:80, :100].astype(float)
    depth = 3 + 0.2 * np.sin(u / 20) * np.cos(v / 17)
    camera = Perspective((150.0, 120.0), (47.0, 42.0))
    domain = Domain(mask)
    normals = domain.gather(depth_normals(camera, depth, mask))
    up = variation(domain, normals, sigma_px=0.0, margin_px=3)
    field = Variation(up.pixels, up.value, up.along_x, -up.along_y)
    pixels = domain.pixels[field.pixels]
    exact = np.abs(curl(camera, pixels, field)).mean()
    wrong_camera = np.abs(curl(PARALLEL, pixels, field)).mean()
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8]])
    wrong_frame = np.abs(curl(camera, pixels, turned(field, turn))).mean()
    assert exact < 0.02 * min(wrong_camera, wrong_frame)


def test_perspective_capture():
    v, u = np.mgrid[:100, :120].astype(float)
    mask = ((u - 60) / 55) ** 2 + ((v - 50) / 45) ** 2 < 1
    camera = Perspective((180.0, 180.0), (60.0, 50.0))
    depth = 3 + 0.5 * ((u - 60) / 55) ** 2 + 0.4 * ((v - 50) / 45) ** 2 + 0.03 * np.sin(u / 7)
    normals = depth_normals(camera, depth, mask)[mask]
    capture = capture_of(mask, normals @ lamps(20).T, camera)
    assert mae(mo2018(capture).normals, normals) < 2.5


def test_frame():
    """Lower half looks down, right half to the right, all towards the camera."""
    sphere = ellipsoid((60.0, 60.0, 60.0))
    capture = directional(sphere, lamps())
    normals = mo2018(capture).normals
    pixels = capture.domain().pixels - np.array(PARALLEL.centre_px)
    assert (normals[:, 2] < 0).mean() > 0.999
    assert (normals[pixels[:, 1] > 5, 1] > 0).all()
    assert (normals[pixels[:, 0] > 5, 0] > 0).all()


@pytest.mark.parametrize("profiles", [True, False])
def test_odd_masks_and_black_pixels(profiles):
    scene = sphere_part()
    albedo = np.ones(len(scene.normals))
    albedo[1000:1040] = 0.0
    capture = directional(scene, lamps(20), albedo=albedo)
    estimate = mo2018(capture, MoOptions(profiles=profiles))
    assert np.isfinite(estimate.normals).all()
    np.testing.assert_allclose(np.linalg.norm(estimate.normals, axis=1), 1)
    largest = capture.domain().components == np.bincount(capture.domain().components).argmax()
    assert mae(estimate.normals[largest], scene.normals[largest]) < 5
    # no normal occurs twice on a sphere: nothing connects the other component
    assert estimate.diagnostics["coverage"] == pytest.approx(largest.mean(), abs=0.01)


def test_scale_and_repetition():
    scene = bumpy()
    capture = directional(scene, lamps(), clamp=True)
    one, two = mo2018(capture), mo2018(capture)
    np.testing.assert_array_equal(one.normals, two.normals)
    tenfold = Capture(photos=capture.photos * np.float32(10), mask=capture.mask, camera=PARALLEL)
    assert mae(mo2018(tenfold).normals, one.normals) < 0.01  # float32 rounds


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_black_or_flat_photos(value):
    mask = np.ones((30, 30), bool)
    photos = np.full((4, 30, 30, 1), value, np.float32)
    estimate = mo2018(Capture(photos=photos, mask=mask, camera=PARALLEL))
    np.testing.assert_array_equal(estimate.normals, np.tile([0.0, 0.0, -1.0], (900, 1)))
    assert estimate.diagnostics["coverage"] == 0
    assert len(estimate.warnings) == 1


def test_too_few_pixels():
    mask = np.zeros((30, 30), bool)
    mask[:9, :9] = True
    photos = np.ones((4, 30, 30, 1), np.float32)
    with pytest.raises(InvalidInputError, match="at least 100 pixels"):
        mo2018(Capture(photos=photos, mask=mask, camera=PARALLEL))

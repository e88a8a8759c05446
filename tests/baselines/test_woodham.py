from dataclasses import replace

import numpy as np
import pytest

from anylight.baselines.woodham import WoodhamOptions, woodham
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic
from anylight.geometry.normals import angles_deg
from anylight.model.capture import Capture
from anylight.photometry.environment import project, solid_angles, texel_directions
from tests.baselines.scenes_perspective import CAMERA, bumpy, painting
from tests.conftest import odd_mask


def lamps(num=12):
    """Lamps around the camera, up to 75 degrees from its axis, of different strengths."""
    turn = np.arange(num) * 2.4
    slant = np.deg2rad(75) * np.sqrt((np.arange(num) + 0.5) / num)
    towards = np.stack([np.sin(slant) * np.cos(turn), np.sin(slant) * np.sin(turn), -np.cos(slant)])
    return towards.T * np.linspace(0.5, 1.0, num)[:, None]


def photographed(dtype, exposure=1.0, num=12):
    """The bumpy ellipsoid under lamps, with attached shadows, as the camera stores it."""
    scene, lights = bumpy(), lamps(num) * exposure
    radiance = painting(scene.domain) * np.maximum(lights @ scene.normals.T, 0)[:, None]
    if dtype is np.float32:
        return scene, replace(scene.capture(radiance), lights=lights)
    top = np.iinfo(dtype).max
    photos = np.zeros((num, *scene.domain.mask.shape, 3), dtype)
    photos[:, scene.domain.mask] = np.round(np.clip(np.moveaxis(radiance, 1, 2), 0, 1) * top)
    return scene, replace(Capture(photos, scene.domain.mask, CAMERA), lights=lights)


@pytest.mark.parametrize("dtype", [np.float32, np.uint16])
def test_a_directional_scene_comes_back(dtype):
    scene, capture = photographed(dtype)
    found = woodham(capture)
    assert angles_deg(found.normals, scene.normals).mean() < 0.01
    assert np.allclose(found.albedo, painting(scene.domain), atol=2e-4)
    assert found.depth is None


def test_saturation_and_shadows_carry_no_weight():
    scene, capture = photographed(np.uint16, exposure=3.0)
    clipped = (capture.photos[:, capture.mask] == 65535).mean()
    assert clipped > 0.15
    found = woodham(capture)
    angles = angles_deg(found.normals, scene.normals)
    assert np.median(angles) < 0.01
    # where fewer than three unsaturated photos remain, the clipped ones have to do
    good = ((capture.photos[:, capture.mask] < 0.985 * 65535).all(2).sum(0)) > 3
    assert good.mean() > 0.9
    assert angles[good].max() < 0.1
    assert found.diagnostics["used_samples"] < 1 - clipped


def test_the_darkest_may_be_left_out(rng):
    # Cast shadows are not quite black; leaving out the darkest third removes them.
    scene, capture = photographed(np.float32)
    photos = capture.photos.copy()
    shadowed = rng.random(photos.shape[:3]) < 0.1
    photos[shadowed] *= 0.05
    capture = replace(capture, photos=photos)
    plain, robust = woodham(capture), woodham(capture, WoodhamOptions(discard=0.34))
    errors = [angles_deg(found.normals, scene.normals).mean() for found in (plain, robust)]
    assert errors[1] < 0.2 * errors[0]


def test_known_exposures_count():
    scene, capture = photographed(np.float32)
    exposures = np.linspace(1, 3, 12)
    photos = (capture.photos * exposures[:, None, None, None]).astype(np.float32)
    found = woodham(replace(capture, photos=photos, exposures=tuple(exposures)))
    assert angles_deg(found.normals, scene.normals).mean() < 0.01


def test_the_light_is_that_of_small_lamps():
    _, capture = photographed(np.float32)
    found = woodham(capture)
    height, width = 256, 512
    directions = texel_directions(height, width)
    environment = np.zeros((1, height, width, 1))
    lamp = capture.lights[3]
    row, column = divmod(int((directions @ lamp).argmax()), width)
    strength = np.linalg.norm(lamp)
    environment[0, row, column] = strength / solid_angles(height, width)[row, column]
    assert np.allclose(found.lighting[3, 0], project(environment, 1)[0, 0], atol=0.02)
    assert found.lighting.shape == (12, 3, 4)
    assert np.allclose(found.lighting[:, 0], found.lighting[:, 2])


def test_black_pixels_and_odd_masks(rng):
    # X2, X6
    mask = odd_mask()
    photos = rng.integers(0, 255, (5, *mask.shape, 1)).astype(np.uint8)
    photos[:, 3, 2] = 0
    photos[:, 4, 2] = 255
    photos[:3, 5, 2] = 0
    capture = Capture(photos, mask, Orthographic((8.0, 6.0)), lights=lamps(5))
    found = woodham(capture)
    assert np.isfinite(found.normals).all()
    assert np.isfinite(found.albedo).all()
    assert np.allclose(np.linalg.norm(found.normals, axis=1), 1)
    assert (found.normals[:, 2] < 0).all()


def test_lights_must_be_known_and_span_space():
    _, capture = photographed(np.float32)
    with pytest.raises(InvalidInputError, match=r"woodham needs known lights: .*DiLiGenT"):
        woodham(replace(capture, lights=None))
    flat = capture.lights.copy()
    flat[:, 1] = 0.5 * flat[:, 0]
    with pytest.raises(InvalidInputError, match="one plane"):
        woodham(replace(capture, lights=flat))
    with pytest.raises(InvalidInputError, match="one finite light"):
        woodham(replace(capture, lights=np.where(capture.lights > 0.5, np.nan, capture.lights)))
    with pytest.raises(InvalidInputError):
        WoodhamOptions(discard=1.0)

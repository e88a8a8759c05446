"""The compiled round of bilateral integration against a readable twin."""

import numpy as np
import pytest

from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.normals import slopes_from_normals
from anylight.integration.smooth import clamp_slant
from anylight.kernels import bilateral

SHARPNESS, SURE, HOLD = 2.0, 30.0, 0.01


def round_of(height, slopes, strength, inside, *, even):
    """Weights, diagonal and right-hand side, with shifted arrays."""
    weights, targets = [], []
    for axis, slope in ((1, slopes[0]), (0, slopes[1])):
        ahead = inside & np.roll(inside, -1, axis)
        behind = np.roll(ahead, 1, axis)
        step = np.roll(height, -1, axis) - height
        front = np.where(ahead, strength * (step - slope) ** 2, 0)
        back = np.where(behind, strength * (np.roll(step, 1, axis) - slope) ** 2, 0)
        doubt = np.clip(SHARPNESS * (front - back), -SURE, SURE)
        share = np.where(ahead & behind & (not even), 1 / (1 + np.exp(doubt)), 0.5)
        forward = strength * share * ahead
        backward = np.roll(strength * (1 - share) * behind, -1, axis)
        weights.append(forward + backward)
        targets.append(forward * slope + backward * np.roll(slope, -1, axis))
    centre, source = HOLD * inside, 0 * height
    for axis, weight, target in zip((1, 0), weights, targets, strict=True):
        centre = centre + weight + np.roll(weight, 1, axis)
        lack = target - weight * (np.roll(height, -1, axis) - height)
        source = source + np.roll(lack, 1, axis) - lack
    return weights, centre * inside, source * inside


@pytest.mark.twin("kernels.bilateral.weigh", "kernels.bilateral.gather")
def test_a_round_equals_its_twin(rng):
    inside = np.pad(rng.random((9, 11)) < 0.8, 1)
    height, strength = rng.standard_normal((2, *inside.shape))
    strength = strength**2 * inside
    slopes = rng.standard_normal((2, *inside.shape))
    for even in (True, False):
        found = np.zeros((6, inside.size))
        right, down, to_right, to_down, centre, source = found
        flat, width = inside.ravel(), inside.shape[1]
        for slope, step, weight, target in (
            (slopes[0], 1, right, to_right),
            (slopes[1], width, down, to_down),
        ):
            bilateral.weigh(
                height.ravel(), slope.ravel(), strength.ravel(), flat, step, SHARPNESS, SURE, even,
                weight, target,
            )  # fmt: skip
        bilateral.gather(HOLD, flat, width, right, down, to_right, to_down, centre, source)
        weights, twin_centre, twin_source = round_of(height, slopes, strength, inside, even=even)
        np.testing.assert_allclose(-right.reshape(inside.shape), weights[0], atol=1e-12)
        np.testing.assert_allclose(-down.reshape(inside.shape), weights[1], atol=1e-12)
        np.testing.assert_allclose(centre.reshape(inside.shape), twin_centre, atol=1e-12)
        np.testing.assert_allclose(source.reshape(inside.shape), twin_source, atol=1e-12)


@pytest.mark.twin("kernels.bilateral.wish")
@pytest.mark.parametrize(
    "camera", [Perspective((90.0, 80.0), (12.0, 9.0)), Orthographic((5.0, 5.0))]
)
def test_wishes_are_the_slopes_of_normals_that_do_not_lean_too_far(rng, camera):
    num, size = 300, 500
    pixels = rng.integers(0, 25, (num, 2)).astype(np.int32)
    places = np.sort(rng.permutation(size)[:num])
    unit = rng.standard_normal((3, num))
    unit[2] = -np.abs(unit[2])
    unit /= np.linalg.norm(unit, axis=0)
    slopes, strengths = np.full((2, 2, size), -9, np.float32)
    bilateral.wish(
        unit.astype(np.float32), camera.numbers, pixels, places, np.deg2rad(70.0), slopes, strengths
    )
    facing = clamp_slant(camera, pixels, unit.T, 70.0)
    wanted = slopes_from_normals(camera, pixels, facing).T
    np.testing.assert_allclose(slopes[:, places], wanted, rtol=1e-3, atol=1e-5)
    focal = camera.focal_px if isinstance(camera, Perspective) else (1.0, 1.0)
    direct = (facing * camera.rays(*pixels.T)).sum(axis=1)
    for found, each in zip(strengths, focal, strict=True):
        np.testing.assert_allclose(found[places], (each * direct) ** 2, rtol=1e-3)
    elsewhere = np.setdiff1d(np.arange(size), places)
    assert (slopes[:, elsewhere] == -9).all()

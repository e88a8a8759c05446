"""The compiled round of bilateral integration against a readable twin."""

import numpy as np
import pytest

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

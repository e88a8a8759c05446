import numpy as np
import pytest

from anylight.photometry.balance import balanced
from anylight.photometry.shading import intensity


def test_balancing_changes_no_image_and_gives_the_mean_colour(rng):
    albedo, lighting = rng.random((3, 40)) + 0.1, rng.random((5, 3, 4))
    normals = rng.standard_normal((40, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    colour = np.array([0.5, 0.3, 0.2])
    paint, light = balanced(albedo, lighting, colour)
    assert np.allclose(intensity(paint, light, normals), intensity(albedo, lighting, normals))
    assert paint.max() == pytest.approx(1.0)
    mean = paint.mean(axis=1)
    assert np.allclose(mean / mean.sum(), colour / colour.sum())


def test_a_black_channel_leaves_the_others_alone(rng):
    albedo = np.stack([np.zeros(9), rng.random(9)])
    paint, _ = balanced(albedo, np.ones((3, 2, 1)), np.array([0.0, 0.5]))
    assert np.allclose(paint, albedo / albedo.max())

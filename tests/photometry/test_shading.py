import numpy as np
import pytest

from anylight.photometry.harmonics import half_cosines, harmonics
from anylight.photometry.shading import balanced, intensity, settled, shading


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


def test_settled_light_shades_alike_and_forgets_what_nobody_sees(rng):
    normals = 0.15 * rng.standard_normal((3000, 3))
    normals[:, 2] = -1.0
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    lamp = np.zeros((2, 1, 31))
    lamp[:, 0, :4] = [[1.0, -0.3, -0.6, 0.2], [1.0, 0.3, -0.5, -0.4]]
    gram = harmonics(normals, 6).T @ harmonics(normals, 6)
    unseen = np.linalg.eigh(gram)[1][:, :4] @ rng.standard_normal((4, 2))
    mixed = lamp + 3.0 * unseen.T[:, None]
    found = settled(mixed, normals)
    before, after = shading(mixed, normals), shading(found, normals)
    assert np.sqrt(((after - before) ** 2).mean() / (before**2).mean()) < 0.0101
    radiance = 1 / half_cosines(6)
    assert np.linalg.norm(found * radiance) < 0.5 * np.linalg.norm(mixed * radiance)

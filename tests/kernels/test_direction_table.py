import numpy as np
import pytest

from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.normals import slopes_from_normals
from anylight.integration.smooth import clamp_slant
from anylight.kernels.direction_table import best
from anylight.kernels.monomials import TILE


@pytest.mark.twin("kernels.direction_table.best")
def test_the_best_visible_direction_is_found(rng):
    channels, each, num, pixels = 3, 4, 50, 2 * TILE + 31
    shading = rng.standard_normal((channels, num, each)).astype(np.float32)
    shading /= np.linalg.norm(shading, axis=2, keepdims=True)
    directions = rng.standard_normal((num, 3)).astype(np.float32)
    camera, places = Perspective((20.0, 22.0), (12.0, 9.0)), rng.integers(0, 25, (pixels, 2))
    rays = camera.rays(*places.T)
    view = (rays / np.linalg.norm(rays, axis=1, keepdims=True)).T
    photos = rng.integers(-32767, 32767, (pixels, channels * each), np.int16)
    found = np.empty(pixels, np.int32)
    p, q = np.empty((2, pixels), np.float32)
    best(
        photos, shading, directions, places.astype(np.int32), np.float32(0.1), camera.numbers, 1.5,
        found, p, q,
    )  # fmt: skip
    alike = np.einsum("pcr,cnr->pcn", photos.reshape(pixels, channels, each), shading)
    explained = (np.maximum(alike, 0) ** 2).sum(axis=1)
    explained[(directions @ view).T > 0.1] = -1
    assert (found == explained.argmax(axis=1)).mean() > 0.999


@pytest.mark.twin("kernels.direction_table.slopes_seen")
@pytest.mark.parametrize(
    "camera", [Perspective((90.0, 80.0), (12.0, 9.0)), Orthographic((5.0, 5.0))]
)
def test_slopes_are_those_of_a_facet_that_faces_there(rng, camera):
    pixels = rng.integers(0, 25, (300, 2)).astype(np.int32)
    directions = rng.standard_normal((1, 3))
    directions[0, 2] = -0.3
    directions /= np.linalg.norm(directions)
    photos, shading = np.ones((300, 2), np.int16), np.ones((1, 1, 2), np.float32)
    found, (p, q) = np.empty(300, np.int32), np.empty((2, 300), np.float32)
    best(
        photos, shading, directions.astype(np.float32), pixels, np.float32(1), camera.numbers,
        np.deg2rad(70.0), found, p, q,
    )  # fmt: skip
    facing = clamp_slant(camera, pixels, np.repeat(directions, 300, axis=0), 70.0)
    wanted = slopes_from_normals(camera, pixels, facing)
    np.testing.assert_allclose(np.stack([p, q], axis=1), wanted, rtol=2e-4, atol=1e-6)

import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective, camera_from_matrix, kind_of

CAMERAS = [Perspective((700.0, 640.0), (31.5, 20.25)), Orthographic((31.5, 20.25))]


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_projecting_a_point_gives_its_pixel_back(camera, rng):
    u, v, depth = rng.uniform(0, 60, (3, 50)) + [[0], [0], [1]]
    assert np.allclose(camera.project(camera.points(u, v, depth)), np.stack([u, v], -1))


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_a_point_moves_along_its_ray_with_depth(camera, rng):
    u, v, depth = rng.uniform(1, 60, (3, 50))
    moved = camera.points(u, v, depth + 2.0) - camera.points(u, v, depth)
    assert np.allclose(moved, 2.0 * camera.rays(u, v))


@pytest.mark.parametrize("camera", CAMERAS, ids=kind_of)
def test_matrix_round_trip(camera):
    assert camera_from_matrix(kind_of(camera), camera.matrix) == camera


@pytest.mark.parametrize("focal", [0.0, -1.0, np.nan, np.inf])
def test_impossible_focal_lengths_are_refused(focal):
    with pytest.raises(InvalidInputError, match="focal"):
        Perspective((focal, 1.0), (0.0, 0.0))

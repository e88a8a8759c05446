import numpy as np
import pytest

from anylight.facets.resolution import refine
from anylight.geometry.camera import Orthographic
from anylight.joint.course.starts import coarsened
from anylight.joint.problem.pyramid import halve
from tests.joint.scenes import CAMERA, blob_level


@pytest.mark.parametrize("camera", [CAMERA, Orthographic((10.0, 8.0))])
def test_a_plane_survives_halving_and_refining(camera, rng):
    fine = blob_level(rng, camera)
    coarse = halve(fine)
    rows, columns = np.indices(fine.grid.shape)
    plane = fine.centred((0.02 * columns - 0.01 * rows) * fine.grid.inside)
    small = coarsened(fine, coarse, plane)
    back = refine(coarse, fine, small)
    inside = fine.grid.inside
    assert np.allclose(back[inside], plane[inside], atol=1e-4)
    fine_normals, _ = fine.normals(*fine.slopes(plane))
    small_normals, _ = coarse.normals(*coarse.slopes(small))
    assert np.allclose(small_normals.mean(axis=1), fine_normals.mean(axis=1), atol=0.02)


def test_halving_keeps_the_light_that_was_gathered(rng):
    fine = blob_level(rng)
    coarse = halve(fine)
    total = (fine.photos.values() * fine.cover[:, None]).sum(axis=0)
    assert np.allclose(
        (coarse.photos.values() * coarse.cover[:, None]).sum(axis=0) * 4, total, rtol=1e-4
    )
    assert coarse.cover.max() <= 1
    assert coarse.camera.focal_px == (15.0, 16.0)


def test_rays_of_a_coarse_pixel_pass_between_its_four(rng):
    fine = blob_level(rng)
    coarse = halve(fine)
    u, v = np.array([4.0, 5.0, 4.0, 5.0]), np.array([6.0, 6.0, 7.0, 7.0])
    mean = fine.camera.rays(u, v).mean(axis=0)
    assert np.allclose(coarse.camera.rays(np.array([2.0]), np.array([3.0]))[0], mean)

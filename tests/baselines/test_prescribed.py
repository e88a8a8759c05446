"""Prescribed checks of balloon and integration that tests/initial does not make.

There: T-B1, T-B2 (test_a_disc_inflates_to_the_spherical_cap), T-I2 and T-I5
(test_an_ellipsoid_comes_back), T-I3 (test_pieces_are_each_right_up_to_their_own_constant).
"""

import numpy as np
import pytest
from scipy.ndimage import binary_erosion, convolve

from anylight.geometry.domain import Domain
from anylight.geometry.normals import angles_deg, depth_normals
from anylight.initial.balloon import inflate
from anylight.initial.options import BalloonOptions
from anylight.initial.start import balloon_start
from anylight.integration.smooth import height_normals, integrate_normals
from tests.baselines.scenes_perspective import CAMERA, bumpy

_CHECKERBOARD = np.outer([1, -2, 1], [1, -2, 1]) / 16
"""Answers to ±1 in turn with one, to every quadratic surface with zero."""


def disc(radius, margin=3):
    v, u = np.mgrid[-radius - margin : radius + margin + 1, -radius - margin : radius + margin + 1]
    return u**2 + v**2 <= radius**2


@pytest.mark.parametrize("mean_height", [5.0, 20.0])
def test_no_checkerboard_anywhere(mean_height):
    # T-B3, at every pixel instead of on average
    domain = Domain(disc(50))
    height = inflate(domain, mean_height / np.sqrt(domain.size), 1e-5).height
    response = convolve(domain.scatter(height, fill=0.0), _CHECKERBOARD)
    inner = binary_erosion(domain.mask, iterations=5)
    assert np.abs(response[inner]).max() < 1e-3


def test_the_balloon_leans_outwards_at_its_rim():
    # T-B4, for the height map and for the depth made of it
    domain = Domain(disc(40, 7))
    u, v = domain.pixels.T
    middle = domain.mask.shape[0] // 2
    height = inflate(domain, 0.15).height
    flat = height_normals(domain, height)
    depth = domain.scatter(balloon_start(CAMERA, domain, BalloonOptions(volume=0.15)).depth)
    perspective = domain.gather(depth_normals(CAMERA, depth, domain.mask))
    for normals in (flat, perspective):
        assert (normals[u > middle + 30, 0] > 0).all()
        assert (normals[u < middle - 30, 0] < 0).all()
        assert (normals[v > middle + 30, 1] > 0).all()
    assert depth[middle, middle] < np.nanmin(depth[middle, [middle - 38, middle + 38]])


def test_a_sphere_comes_back():
    # T-I1: a sphere, up to its rim
    scene = bumpy(0.0, (0.6, 0.6, 0.6))
    found = integrate_normals(CAMERA, scene.domain, scene.normals)
    scale = (found @ scene.depth) / (found @ found)
    assert np.sqrt(((scale * found / scene.depth - 1) ** 2).mean()) < 1e-3
    image = scene.domain.scatter(found)
    again = scene.domain.gather(depth_normals(CAMERA, image, scene.domain.mask))
    inner = ~scene.domain.is_rim
    assert angles_deg(again, scene.normals)[inner].max() < 1.0


def test_depth_to_normals_and_back():
    # T-I4: the bumpy ellipsoid through its own central differences
    scene = bumpy()
    image = scene.domain.scatter(scene.depth)
    normals = scene.domain.gather(depth_normals(CAMERA, image, scene.domain.mask))
    found = integrate_normals(CAMERA, scene.domain, normals)
    scale = (found @ scene.depth) / (found @ found)
    assert np.sqrt(((scale * found / scene.depth - 1) ** 2).mean()) < 1e-3

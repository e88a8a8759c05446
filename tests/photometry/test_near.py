"""Light of lamps that are near."""

import numpy as np
import pytest

from anylight.photometry.environment import irradiance, texel_directions
from anylight.photometry.harmonics import all_harmonics, harmonics, is_shading
from anylight.photometry.near import (
    NearLight,
    brightening,
    light_at,
    near_response,
    relative_places,
)


def directions(rng, num):
    points = rng.standard_normal((num, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def test_all_harmonics_hold_those_that_shade(rng):
    points = directions(rng, 50)
    every = all_harmonics(points, 6)
    assert every.shape == (50, 49)
    assert np.allclose(every[:, is_shading(6)], harmonics(points, 6))


@pytest.mark.parametrize("middle", [True, False])
def test_far_lamps_and_the_middle_see_what_harmonics_say(rng, middle):
    points = directions(rng, 60)
    places = np.zeros((60, 3)) if middle else rng.uniform(-0.5, 0.5, (60, 3))
    found = near_response(points, places, 6, 0.5 if middle else 0.0)
    wanted = harmonics(points, 6)
    assert np.allclose(found[:, is_shading(6)][:, :18], wanted[:, :18], atol=1e-2)
    assert np.allclose(found[:, is_shading(6)], wanted, atol=0.03)
    assert np.abs(found[:, ~is_shading(6)]).max() < 0.03


def test_one_lamp_lights_by_the_cosine_over_the_squared_distance(rng):
    maps = np.zeros((1, 16, 32, 1))
    maps[0, 5, 20] = 3.0
    lamp = texel_directions(16, 32)[5, 20]
    normals, places = directions(rng, 40), rng.uniform(-0.3, 0.3, (40, 3))
    found = irradiance(maps, normals, places=places)[0, 0]
    towards = lamp - places
    distance = np.linalg.norm(towards, axis=1)
    cosine = np.maximum((normals * towards).sum(axis=1) / distance, 0)
    at_middle = irradiance(maps, lamp[None])[0, 0, 0]
    assert np.allclose(found, at_middle * cosine / distance**2)


def test_light_at_a_place_is_the_harmonics_of_its_shading(rng):
    points, places = directions(rng, 50), rng.uniform(-0.4, 0.4, (50, 3))
    light = light_at(places, 6, 0.5)
    found = np.einsum("nk,nka->na", harmonics(points, 6), light)
    off = found - near_response(points, places, 6, 0.5)
    assert np.abs(off[:, :16]).max() < 0.01
    assert np.sqrt((off**2).mean()) < 0.02
    still = light_at(np.zeros((1, 3)), 6, 0.5)[0]
    assert np.allclose(still[:, is_shading(6)], np.eye(len(still)), atol=1e-12)
    assert np.abs(still[:, ~is_shading(6)]).max() < 1e-12


def test_places_are_measured_in_object_sizes(rng):
    points = rng.uniform(-1, 1, (500, 3)) * [4.0, 2.0, 1.0] + [7, 8, 30]
    points[0, 2] = 1e4
    places = relative_places(points)
    assert np.ptp(places[1:, 0]) == pytest.approx(1.0, abs=0.05)
    assert np.ptp(places[1:, 1]) == pytest.approx(0.5, abs=0.05)
    assert np.abs(np.median(places, axis=0)).max() < 0.1


def test_nothing_is_brighter_in_the_middle(rng):
    light = np.abs(rng.standard_normal((2, 3, 25)))
    light[..., 0] = 20.0
    near, points = NearLight(0.5, light), directions(rng, 30)
    assert near.order == 4
    still = near_response(points, np.zeros((30, 3)), 4, near.closeness)
    assert np.allclose(brightening(near, points, still), 1.0, atol=0.02)
    there = near_response(points, np.full((30, 3), 0.3), 4, near.closeness)
    assert brightening(near, points, there).std() > 0.02

"""The full model's energy: derivatives against finite differences, and what it says of scenes."""

from dataclasses import replace

import numpy as np
import pytest

from anylight.facets.grid import FacetGrid
from anylight.geometry.camera import Orthographic, Perspective
from anylight.joint.shadows.energy import FullModel, Scene, State
from anylight.sky import Sky, lamp_directions
from tests.kernels.test_horizons import hilly

NUM = 80
CAMERAS = (Perspective((40.0, 42.0), (9.5, 8.0)), Orthographic((9.5, 8.0)))


def problem(camera, hides=True, seed=0):
    """A small random scene and a state somewhere."""
    rng = np.random.default_rng(seed)
    mask, depth = hilly(camera)
    facets = FacetGrid(mask, camera)
    height = depth[mask].astype(float)
    surface = facets.over_pixels(np.log(height) if isinstance(camera, Perspective) else height)
    photos = rng.uniform(0.1, 0.9, (facets.size, 2 * 5)).astype(np.float32)
    weight = rng.uniform(0.2, 1, photos.shape).astype(np.float32)
    model = FullModel(
        Scene(facets, photos, weight, 2), Sky(mask, camera, lamp_directions(NUM), hides=hides)
    )
    state = State(
        surface,
        (0.1 * rng.standard_normal((facets.size, 3))).astype(np.float32),
        (0.3 * rng.standard_normal((facets.size, 2))).astype(np.float32),
        (np.log(4 / NUM) + rng.standard_normal((NUM, 10))).astype(np.float32),
        np.array([0.3, -0.4]),
    )
    return model, state


@pytest.mark.parametrize("hides", [True, False])
@pytest.mark.parametrize("camera", CAMERAS, ids=["perspective", "orthographic"])
@pytest.mark.parametrize("name", ["surface", "turn", "paint", "light", "bounce"])
def test_derivatives(camera, hides, name):
    model, state = problem(camera, hides)
    slope = getattr(model.gradient(state, model(state)), name)
    rng = np.random.default_rng(7)
    value = getattr(state, name)
    change = rng.standard_normal(value.shape)
    if name == "surface":
        change *= model.scene.facets.grid.inside * (1 / model.focal)
    ends = [
        model(replace(state, **{name: (value + sign * 2e-3 * change).astype(value.dtype)})).total
        for sign in (1, -1)
    ]
    by_hand = (ends[0] - ends[1]) / 4e-3
    assert (slope * change).sum() == pytest.approx(by_hand, rel=0.03, abs=2e-4)


def test_the_part_of_the_gradient_for_a_surface_that_stays():
    model, state = problem(CAMERAS[0])
    energy = model(state)
    by_paint, by_light, by_bounce = model.light_gradient(state, energy)
    whole = model.gradient(state, model(state))
    np.testing.assert_allclose(by_paint, whole.paint, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(by_light, whole.light, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(by_bounce, whole.bounce, rtol=1e-4, atol=1e-7)


def test_relighting_costs_what_the_whole_costs():
    model, state = problem(CAMERAS[0])
    energy = model(state)
    other = replace(state, light=state.light + 0.1)
    assert model.relit(other, energy).total == pytest.approx(model(other).total, rel=1e-6)


def test_a_surface_that_hides_nothing_has_light_of_all_lamps():
    model, state = problem(CAMERAS[0], hides=False)
    unit = model(state).unit
    out = np.empty((model.sky.size, NUM), np.float32)
    model.sky.reach(unit, model(state).skyline, out)
    np.testing.assert_allclose(out, np.maximum(unit @ model.sky.lamps.T, 0), atol=1e-6)


def test_photos_without_usable_samples_count_for_nothing():
    model, state = problem(CAMERAS[0])
    weight = model.scene.weight.copy().reshape(-1, 2, 5)
    weight[:, :, 3] = 0
    scene = replace(model.scene, weight=weight.reshape(model.scene.weight.shape))
    other = FullModel(scene, model.sky)
    slope = other.gradient(state, other(state))
    assert np.isfinite(slope.light).all()
    assert not slope.light.reshape(NUM, 2, 5)[:, :, 3].any()


def test_hidden_directions_give_what_stands_there():
    model, state = problem(CAMERAS[1])
    usual = model.around.copy()
    bright = replace(model.scene, photos=np.full_like(model.scene.photos, 0.7))
    other = FullModel(bright, model.sky)
    other.look_around(state)
    np.testing.assert_allclose(other.around, 0.7, rtol=1e-5)
    model.look_around(state)
    assert not np.allclose(model.around, usual)
    low, high = model.scene.photos.min(), model.scene.photos.max()
    assert (model.around > low - 1e-6).all()
    assert (model.around < high + 1e-6).all()


def test_a_surface_that_hides_nothing_has_no_bounce():
    model, state = problem(CAMERAS[0], hides=False)
    other = replace(state, bounce=state.bounce + 1)
    assert model(other).total == model(state).total

"""Near lamps without an expansion: light, derivatives, and the way back to the truth."""

from dataclasses import replace

import numpy as np
import pytest

from anylight.geometry.camera import Orthographic
from anylight.geometry.normals import angles_deg
from anylight.joint.nearby.descent import descend_near
from anylight.joint.nearby.energy import NearModel, State
from anylight.joint.nearby.lamps import Lamps
from anylight.joint.nearby.phase import settle
from anylight.joint.nearby.system import NearSystem, Unknowns
from anylight.joint.problem.fit import first_light, raised
from anylight.photometry.near import near_response
from tests.joint.scenes import CAMERA, blob_level, rendered_level


def random_normals(rng, num):
    unit = rng.standard_normal((num, 3)) - [0, 0, 2]
    return unit / np.linalg.norm(unit, axis=1, keepdims=True)


def test_lamps_shade_as_harmonics_on_their_sphere_do(rng):
    unit, place = random_normals(rng, 50), rng.uniform(-0.5, 0.5, (50, 3))
    made = Lamps(4).response(unit, 0.5 * place)
    assert np.allclose(made, near_response(unit, place, 4, 0.5), atol=0.01)


def test_lamps_know_how_their_light_changes(rng):
    lamps, light = Lamps(4), rng.standard_normal((25, 2))
    light[0] += 4
    unit, place = random_normals(rng, 40), rng.uniform(-0.3, 0.3, (40, 3))
    changes, step = lamps.changes(unit, place, light), 0.02
    for a in range(3):
        move = step * np.eye(3)[a]
        for found, other in (
            (changes.by_unit[a], ((unit + move, place), (unit - move, place))),
            (changes.by_place[a], ((unit, place + move), (unit, place - move))),
        ):
            up, down = (lamps.response(*at) @ light for at in other)
            assert np.allclose(found, (up - down) / (2 * step), atol=0.05 * np.abs(found).max())


@pytest.fixture(params=[CAMERA, Orthographic((10.2, 8.4))], ids=["perspective", "parallel"])
def model(request, rng):
    return NearModel(blob_level(rng, request.param), 2)


def some_state(model, rng):
    level = model.level
    light = raised(
        replace(level, closeness=0.5),
        first_light(level, level.centred(0.1 * rng.standard_normal(level.grid.shape)), 2),
        2,
    )
    light[4:] += 0.05 * rng.standard_normal(light[4:].shape)
    surface = level.centred(0.01 * rng.standard_normal(level.grid.shape))
    turn = 0.02 * rng.standard_normal((level.size, 3))
    return State(surface, turn, light, 0.5)


def test_the_gradient_is_that_of_the_energy(model, rng):
    """Albedo and turns are at their best first, as elimination supposes."""
    level = model.level
    lit = model(some_state(model, rng))
    system = NearSystem(model, lit, only_light=True)
    size = float(np.exp(model.energy(lit, lit.scale) - model.tie(lit.shape)))
    total = size * level.cover.sum()
    change = rng.standard_normal(lit.state.light.shape)

    def energy(step):
        moved = replace(lit.state, light=lit.state.light + step * change)
        return model.energy(model(moved), lit.scale)

    found = 2 * float((system.gradient.light * change).sum()) / total
    assert found == pytest.approx((energy(1e-3) - energy(-1e-3)) / 2e-3, rel=0.02)


def test_a_step_with_everything_lowers_the_energy_as_foreseen(model, rng):
    """Along the step, the energy falls at first as fast as its gradient says."""
    lit = model(some_state(model, rng))
    system = NearSystem(model, lit)
    system.damp(1.0)
    there, before = system.solve(1e-3, 200), model.energy(lit, lit.scale)
    here = system.state

    def energy(share):
        return model.energy(
            model(
                State(
                    here.surface + share * (there.surface - here.surface),
                    here.turn + share * (there.turn - here.turn),
                    here.light + share * (there.light - here.light),
                    here.closeness * (there.closeness / here.closeness) ** share,
                )
            ),
            lit.scale,
        )

    assert energy(0.1) < before
    assert energy(0.02) - before == pytest.approx((energy(0.04) - before) / 2, rel=0.2)


def test_the_product_is_symmetric_and_positive(model, rng):
    system = NearSystem(model, model(some_state(model, rng)))
    system.damp(1e-2)
    inside = model.level.grid.inside

    def some():
        return Unknowns(
            inside * rng.standard_normal(inside.shape),
            rng.standard_normal(system.state.light.shape),
            rng.standard_normal(1),
        )

    def dot(a, b):
        return sum(float((x * y).sum()) for x, y in zip(a, b, strict=True))

    a, b = some(), some()
    assert dot(a, system.multiply(b)) == pytest.approx(dot(b, system.multiply(a)), rel=1e-3)
    assert dot(a, system.multiply(a)) > 0


def run_out(steps):
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.mark.slow
def test_a_tilted_surface_comes_back():
    level, truth = rendered_level(shape="medallion", height=40, images=12, lamp_distance=2.0)
    wanted, depth = truth.normals[level.mask], truth.depth[level.mask]
    columns = level.domain.pixels[:, 0]
    tilt = 0.1 * (columns - columns.mean()) / np.ptp(columns)
    surface = level.over_pixels(np.log(depth) + tilt)
    smooth, _ = level.normals(*level.slopes(surface))
    light = raised(replace(level, closeness=0.4), first_light(level, surface, 4), 4)
    model = NearModel(level, 4)
    start = State(surface, np.zeros((level.size, 3)), light, 0.4)
    found = run_out(descend_near(model, start, 15))
    before = angles_deg(smooth.T, wanted).mean()
    assert angles_deg(model.shape(found).unit, wanted).mean() < 0.6 * before


@pytest.mark.slow
def test_the_phase_brings_its_change_to_every_pixel(monkeypatch):
    level, truth = rendered_level(shape="medallion", height=40, images=12, lamp_distance=2.0)
    level = replace(level, closeness=0.45)
    surface = level.over_pixels(np.log(truth.depth[level.mask]))
    light = raised(level, first_light(level, surface, 4), 4)
    monkeypatch.setattr("anylight.joint.nearby.phase._MOST_PIXELS", level.size // 2)
    monkeypatch.setattr("anylight.joint.nearby.phase._STEPS", 3)
    found = run_out(settle(level, surface, light, 4, 0.5))
    assert found.surface.shape == surface.shape
    assert np.isfinite(found.surface).all()
    assert found.light.shape == (25, light.shape[1])

"""The Gauss-Newton step against the energy it linearises."""

from dataclasses import replace

import numpy as np
import pytest

from anylight.facets.modes import smooth_modes
from anylight.joint.course.starts import balloon_surface
from anylight.joint.problem.fit import evaluate, first_light, raised
from anylight.joint.step import coarse as coarse_system
from anylight.joint.step.newton import (
    Effort,
    Iterate,
    Stage,
    assess,
    newton,
    robust_energy,
    robust_scale,
    total_cost,
)
from anylight.joint.step.system import Damping, Moving, System, Unknowns
from anylight.joint.terms.gauge import GaugePrior, in_view, open_weights, strain
from anylight.model.status import Status
from tests.joint.scenes import rendered_level


@pytest.fixture(scope="module", params=[0.0, 0.4], ids=["far", "near"])
def state(request):
    level, _ = rendered_level(images=8)
    level = replace(level, closeness=request.param)
    surface = balloon_surface(level, 0.1)
    light = raised(level, first_light(level, surface, 2), 4)
    return level, assess(level, surface, light, open_terms(level))


def open_terms(level):
    return [GaugePrior(level, open_weights())]


def system_of(level, found, prior):
    """The system with a prior of these weights, in units of the energy."""
    weights = np.ones(level.size, np.float32)
    return System(
        level,
        found.surface,
        found.light,
        found.fit,
        weights,
        smooth_modes(level, found.surface),
        [GaugePrior(level, prior).linearise(found.surface, found.fit, 1.0)],
    )


def run_out(steps):
    """What a generator yields, and what it returns."""
    made = []
    while True:
        try:
            made.append(next(steps))
        except StopIteration as end:
            return made, end.value


def test_the_gradient_is_the_derivative_of_the_energy(state, rng):
    level, found = state
    prior = 50 * np.eye(3)
    system = system_of(level, found, prior)
    step = rng.standard_normal(found.surface.shape) * level.grid.inside
    turn = rng.standard_normal(found.light.shape)

    def energy(amount, along_surface, along_light):
        fit = evaluate(
            level, found.surface + amount * along_surface, found.light + amount * along_light
        )
        strained = strain(level, fit.unit)
        return fit.misfit.sum() + strained @ prior @ strained

    for surface, light, size in ((step, 0 * turn, 1e-4), (0 * step, turn, 1e-3)):
        numeric = (energy(size, surface, light) - energy(-size, surface, light)) / (2 * size)
        exact = 2 * ((system.surface_gradient * surface).sum())
        exact += 2 * (system.light_gradient * light).sum()
        assert exact == pytest.approx(numeric, rel=0.02)


def test_the_product_is_symmetric_and_positive(state, rng):
    level, found = state
    system = system_of(level, found, open_weights())
    assert system.damp(Damping(1e-4, 1e-5))
    a, b = (
        Unknowns(
            rng.standard_normal(found.surface.shape) * level.grid.inside,
            rng.standard_normal(found.light.shape),
        )
        for _ in range(2)
    )
    ma, mb = system.multiply(a), system.multiply(b)

    def dot(x, y):
        return (x[0] * y[0]).sum() + (x[1] * y[1]).sum()

    assert dot(a, mb) == pytest.approx(dot(b, ma), rel=1e-4)
    assert dot(a, ma) > 0


def test_conjugate_gradients_solve_the_system(state):
    level, found = state
    system = system_of(level, found, open_weights())
    assert system.damp(Damping(1e-3, 1e-4))
    step = system.solve(1e-5, 400)
    left, right = system.multiply(Unknowns(step.surface, step.light))
    lack = left + system.surface_gradient
    assert np.linalg.norm(lack) < 1e-2 * np.linalg.norm(system.surface_gradient)
    lack = right + system.light_gradient
    assert np.linalg.norm(lack) < 1e-2 * np.linalg.norm(system.light_gradient)


def test_the_small_dense_system_is_the_product_on_modes_and_light(state, monkeypatch):
    monkeypatch.setattr(coarse_system, "_SAMPLE_EACH", 1000)
    level, found = state
    system = system_of(level, found, open_weights())
    assert system.damp(Damping(1e-9, 1e-9))
    coarse, modes = system._coarse, system.modes
    num, size, channels = len(modes), len(found.light), level.num_channels
    assert level.size <= 2048
    still = np.zeros_like(found.light)

    def by_channel(light):
        return light.reshape(size, channels, -1).transpose(1, 2, 0).reshape(channels, -1)

    across = coarse._bordered[:, coarse._bordered.shape[2] :]
    for k in (0, num // 2, num - 1):
        field = np.zeros(level.grid.shape)
        modes.add(np.eye(num)[k], field)
        surface, light = system.multiply(Unknowns(field, still))
        own, other = coarse._own[:, k], across[:, k]
        tolerance = 2e-3 * max(np.abs(own).max(), np.abs(other).max())
        assert np.allclose(modes.collect(surface), own, atol=tolerance)
        assert np.allclose(by_channel(light), other, atol=tolerance)
    light = still.copy()
    light[5, 7] = 1.0
    channel, column = divmod(7, light.shape[1] // channels)
    place = column * size + 5
    surface, answer = system.multiply(Unknowns(np.zeros(level.grid.shape), light))
    wanted = np.zeros_like(by_channel(light))
    below = np.tril(coarse._bordered[channel, : coarse._bordered.shape[2]])
    wanted[channel] = below[place] + below[:, place]
    wanted[channel, place] /= 2
    tolerance = 2e-3 * np.abs(wanted).max()
    assert np.allclose(modes.collect(surface), across[channel, :, place], atol=tolerance)
    assert np.allclose(by_channel(answer), wanted, atol=tolerance)


def test_the_small_dense_system_is_solved(state):
    level, found = state
    system = system_of(level, found, open_weights())
    assert system.damp(Damping(1e-2, 1e-2))
    coarse, num = system._coarse, len(system.modes)
    rng = np.random.default_rng(3)
    light = rng.standard_normal(found.light.shape)
    amounts = rng.standard_normal(num)
    moved, back = coarse.solve(amounts, light)
    size, channels = len(light), level.num_channels

    def by_channel(values):
        return values.reshape(size, channels, -1).transpose(1, 2, 0).reshape(channels, -1)

    order = coarse._bordered.shape[2]
    for bordered, own, right in zip(
        coarse._bordered, by_channel(back), by_channel(light), strict=True
    ):
        below, across = np.tril(bordered[:order]), bordered[order:]
        coupled = below + np.tril(below, -1).T
        held = (1e-2 + 1e-5) * np.diag(coupled).mean()
        left = coupled @ own + held * own + across.T @ moved
        assert np.linalg.norm(left - right) < 1e-2 * np.linalg.norm(right)


def test_the_energy_falls(state):
    level, found = state
    stage = Stage(3, "test")
    steps, last = run_out(
        newton(level, open_terms(level), found.surface, found.light, 4, Effort(8, 1e-3), stage)
    )
    reports = [report for _, report in steps]
    assert len(reports) >= 4
    assert reports[-1].energy < 0.5 * reports[0].energy
    assert {(report.level, report.start) for report in reports} == {(3, "test")}
    assert last.energy == reports[-1].energy
    assert last.status in (Status.ITERATION_LIMIT, Status.CONVERGED)


def test_no_accepted_step_raises_the_energy_at_its_own_scale(state):
    level, found = state
    terms = open_terms(level)
    for _ in range(6):
        _, after = run_out(newton(level, terms, found.surface, found.light, 4, Effort(1, 1e-3)))
        data = robust_energy(level, found.fit.misfit, found.scale)
        before = data * (1 + total_cost(terms, found.surface, found.fit))
        fit = evaluate(level, after.surface, after.light)
        now = robust_energy(level, fit.misfit, found.scale) + data * total_cost(
            terms, after.surface, fit
        )
        assert now < before
        found = after


def test_a_start_that_is_not_finite_is_named_and_no_step_is_made(state):
    level, found = state
    light = np.full_like(found.light, np.nan)
    steps, last = run_out(
        newton(level, open_terms(level), found.surface, light, 4, Effort(3, 1e-3))
    )
    assert steps == []
    assert isinstance(last, Iterate)
    assert last.status is Status.NOT_FINITE


def test_steps_in_turn_move_one_part_each(state):
    level, found = state
    system = system_of(level, found, open_weights())
    assert system.damp(Damping(1e-3, 1e-4))
    light = system.solve(0.1, 10, moving=Moving.LIGHT)
    surface = system.solve(0.1, 10, moving=Moving.SURFACE)
    assert not light.surface.any()
    assert light.light.any()
    assert not surface.light.any()
    assert surface.surface.any()


@pytest.mark.twin("kernels.viewing._in_view", "kernels.viewing.ray")
def test_rays_become_the_axis_and_lengths_stay(state, rng):
    level, _ = state
    axis = in_view(level, level.view)
    assert np.allclose(axis, np.array([[0.0], [0.0], [1.0]]), atol=1e-6)  # float32
    vectors = rng.standard_normal((3, level.size))
    turned = in_view(level, vectors)
    assert np.allclose((turned**2).sum(axis=0), (vectors**2).sum(axis=0))


def test_facets_that_hardly_count_do_not_widen_the_robust_scale():
    misfit, cover = np.random.default_rng(0).random(1000), np.ones(1000)
    usual = robust_scale(misfit, cover)
    spanning = (np.append(misfit, np.full(200, 1e6)), np.append(cover, np.full(200, 1e-6)))
    assert robust_scale(*spanning) == usual
    assert robust_scale(spanning[0], np.ones(1200)) > 10 * usual

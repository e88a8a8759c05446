"""Rounds of steps: the energy falls with every round that counts."""

from itertools import pairwise

import numpy as np

from anylight.joint.shadows.descent import Pyramid, descend, light_up

from .test_energy import CAMERAS, problem


def rounds_of(steps):
    rounds = []
    while True:
        try:
            rounds.append(next(steps))
        except StopIteration as end:
            return rounds, end.value


def test_the_energy_falls_with_every_accepted_round():
    model, state = problem(CAMERAS[0])
    rounds, last = rounds_of(descend(model, state, 100))
    energies = [model(state).total, *(r.energy.total for r in rounds if r.accepted)]
    assert len(energies) > 2
    assert all(after < before for before, after in pairwise(energies))
    assert last.energy.total <= energies[-1]
    assert model(last.state).total == last.energy.total


def test_light_first():
    model, state = problem(CAMERAS[0])
    lit = light_up(model, state, 60)
    assert model(lit).total < model(state).total
    assert lit.surface is state.surface
    assert lit.turn is state.turn
    kept = light_up(model, state, 20, keep=True)
    np.testing.assert_array_equal(kept.paint, state.paint)
    assert not np.array_equal(kept.light, state.light)


def test_changes_at_all_resolutions_and_their_adjoint():
    rng = np.random.default_rng(0)
    pyramid = Pyramid((23, 17), 1.0)
    changes = [rng.standard_normal(c.shape) for c in pyramid.zeros()]
    given = rng.standard_normal((23, 17))
    forth = (pyramid.up(changes) * given).sum()
    back = sum((a * b).sum() for a, b in zip(changes, pyramid.down(given), strict=True))
    np.testing.assert_allclose(forth, back, rtol=1e-5)

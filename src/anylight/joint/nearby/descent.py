"""Newton steps under near lamps: damped until they lower the energy."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from .energy import Lit, NearModel, State
from .system import NearSystem

_DAMPING = 1e-3
"""Damping to begin with, relative to the curvature. [share]"""
_EASE = 5.0
"""By how much an accepted step lowers the damping, as in `step.newton`. (definition)"""
_TIGHTEN = 8.0
"""By how much a refused step raises the damping, as in `step.newton`. (definition)"""
_LEAST = 1e-5
"""Least damping, relative to the curvature, as in `step.newton`. (definition)"""
_TRIES = 8
"""Dampings that are tried for one step. (guard)"""
_LINEAR_STEPS = 60
"""Steps of conjugate gradients in a Newton step, at most. (guard)"""
_RTOL = 0.02
"""When conjugate gradients stop, relative to the first residual. (guard)"""
_STOP = 1e-3
"""Decrease of the logarithmic energy that is hardly any. [log-energy]"""
_PATIENCE = 2
"""Steps in a row with hardly any decrease end them. (definition)"""
_LIGHT_STEPS = 2
"""Steps in which the light adapts to its order while the shape stays. [steps]"""


@dataclass(frozen=True, eq=False)
class NearStep:
    """What a step came to."""

    state: State
    energy: float
    """Logarithmic, at the step's own robust scale."""
    number: int


def descend_near(
    model: NearModel, start: State, num_steps: int
) -> Generator[NearStep, None, State]:
    """Step until the energy hardly falls any more.

    Args:
        model: of one resolution.
        start: where to begin.
        num_steps: at most.
    """
    lit, damping, slow = model(start), _DAMPING, 0
    for number in range(1 - _LIGHT_STEPS, num_steps + 1):
        found = _accepted(model, lit, damping, only_light=number <= 0)
        if found is None:
            break
        lit, energy, gain, damping = found
        if number > 0:
            yield NearStep(lit.state, energy, number)
        else:
            damping = _DAMPING
            continue
        slow = slow + 1 if gain < _STOP else 0
        if slow == _PATIENCE:
            break
    return lit.state


def _accepted(
    model: NearModel, lit: Lit, damping: float, *, only_light: bool
) -> tuple[Lit, float, float, float] | None:
    """The first damping whose step lowers the energy: state, energy, gain and the next damping."""
    system = NearSystem(model, lit, only_light=only_light)
    before = model.energy(lit, lit.scale)
    for _ in range(_TRIES):
        system.damp(damping)
        trial = model(system.solve(_RTOL, _LINEAR_STEPS))
        energy = model.energy(trial, lit.scale)
        if np.isfinite(energy) and energy < before:
            return trial, energy, before - energy, max(damping / _EASE, _LEAST)
        damping *= _TIGHTEN
    return None

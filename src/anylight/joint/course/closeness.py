"""Might the lamps be near, and how near? Looked at, cheaply, at a low resolution.

Light that changes over the image explains much that a wrong shape explains too, so lamps are
believed to be near only where that explains the photos several times better. The low resolution
tells whether it is worth while to find out, and at which distance: there the quarter of the pixels
that fit best says more than the energy, because averaged folds and edges fit no light.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.joint.problem.fit import Light
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.step.newton import Iterate, NewtonReport, Stage, newton

from .plan import Plan

CLOSENESS = (0.35, 0.5, 0.7)
"""Sizes of the object over the distance of the lamps that are tried, the first one first; the best
one lies between. (definition)"""
_BELIEVED = 2.0
"""Near lamps must explain so many times more to be believed. [times]"""
_LEAST_PIXELS = 200
"""Fewer say nothing about how light changes. (guard)"""
_EXPLAINED = 1e-3
"""Energy per pixel at which far lamps explain the photos. [squared share of white]"""
_PROMISING = 1.6
"""Near lamps must explain so many times more at the low resolution. [times]"""
_ORDER = 4
"""Order of the light that is looked at, at most. (definition)"""
_STEPS = 8
"""Newton steps, at most. [steps]"""
_DAMPING = 1e-4
"""Damping to begin with, relative to the curvature. [share]"""
LINEAR_STEPS = 15
"""Steps of conjugate gradients under near lamps, at most: shape and light move far. [steps]"""


@dataclass(frozen=True, eq=False)
class NearLook:
    """What a low resolution says about near lamps."""

    closeness: float
    """Of the lamps that explain the photos best."""
    state: Iterate
    """What they lead to."""


Looking = Generator[tuple[Iterate, NewtonReport], None, NearLook | None]
"""Yields after every step; returns None where it is not worth while to try near lamps."""


def is_worth_a_look(far: float) -> bool:
    """Whether far lamps, at this energy, leave something to be explained."""
    return far > _EXPLAINED


def is_believed(near: float, far: float) -> bool:
    """Whether near lamps explain the photos so much better than far ones; energies."""
    return _BELIEVED * near < far


def look_near(
    level: PyramidLevel, plan: Plan, surface: Heights, light: Light, order: int, stage: Stage
) -> Looking:
    """Whether near lamps might explain the photos much better, and which.

    Args:
        level: the photos, at a low resolution.
        plan: of the course.
        surface: what far lamps led to.
        light: theirs.
        order: of their light.
        stage: for the reports.
    """
    if level.size < _LEAST_PIXELS:
        return None
    order = min(order, _ORDER)
    left: list[float] = []
    states: list[Iterate] = []
    for closeness in (0.0, *CLOSENESS):
        at = replace(level, closeness=closeness)
        effort = replace(plan.effort(_STEPS, _DAMPING), linear_iterations=LINEAR_STEPS)
        found = yield from newton(at, plan.terms(at, ()), surface, light, order, effort, stage)
        surface, light = found.surface, found.light
        left.append(float(np.quantile(found.fit.misfit, 0.25)))
        states.append(found)
        if len(left) == 2 and _PROMISING * left[1] >= left[0]:
            return None
    best = between(np.array(CLOSENESS), np.array(left[1:]))
    nearest = states[1 + int(np.argmin(np.abs(np.log(np.array(CLOSENESS) / best))))]
    return NearLook(best, nearest)


def between(closeness: Float[np.ndarray, " n"], left: Float[np.ndarray, " n"]) -> float:
    """Where a parabola through what three of them leave is lowest, but not beyond them."""
    at, height = np.log(closeness), np.log(np.maximum(left, 1e-30))
    bend, slope, _ = np.polyfit(at, height, 2)
    if not bend > 0:
        return float(closeness[np.argmin(left)])
    return round(float(np.exp(np.clip(-slope / (2 * bend), at[0], at[-1]))), 3)

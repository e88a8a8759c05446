"""Might the lamps be near? Looked at, cheaply, at a low resolution.

Light that changes over the image explains much that a wrong shape explains too, so lamps are
believed to be near only where that explains the photos several times better. The low resolution
tells whether it is worth while to find out: there the quarter of the pixels that fit best says
more than the energy, because averaged folds and edges fit no light.
"""

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from anylight.joint.problem.pyramid import PyramidLevel, halve
from anylight.joint.step.newton import Iterate, NewtonReport, Stage, newton

from .plan import Plan
from .starts import coarsened

CLOSENESS = (0.35, 0.5, 0.7)
"""Sizes of the object over the distance of the lamps that are tried, the first one first.
(definition)"""
BELIEVED = 2.0
"""Near lamps must explain so many times more to be believed. [times]"""
_PIXELS = 6000
"""Looked at on the finest level with at most so many pixels. [pixels]"""
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

Looking = Generator[tuple[Iterate, NewtonReport], None, bool]
"""Yields after every step; returns whether it is worth while to try near lamps."""


def may_be_near(
    level: PyramidLevel, plan: Plan, state: Iterate, order: int, stage: Stage
) -> Looking:
    """Whether near lamps might explain the photos much better.

    Args:
        level: the photos.
        plan: of the course.
        state: what far lamps led to.
        order: of their light.
        stage: for the reports.
    """
    if level.size < _LEAST_PIXELS or not state.energy > _EXPLAINED:
        return False
    surface = state.surface
    while level.size > _PIXELS:
        coarse = halve(level)
        level, surface = coarse, coarsened(level, coarse, surface)
    light, left, order = state.light, [], min(order, _ORDER)
    for closeness in (0.0, CLOSENESS[0]):
        at = replace(level, closeness=closeness)
        effort = plan.effort(_STEPS, _DAMPING)
        found = yield from newton(at, plan.terms(at, ()), surface, light, order, effort, stage)
        surface, light = found.surface, found.light
        left.append(float(np.quantile(found.fit.misfit, 0.25)))
    return _PROMISING * left[1] < left[0]

"""From the level of the starts to the finest one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.facets.resolution import refine
from anylight.integration.robust import robust_surface
from anylight.joint.pixels.normals import pixel_normals
from anylight.joint.problem.fit import Fit, Light, basis_of, raised
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.step.newton import Effort, Iterate, Stage, Steps, assess, newton
from anylight.joint.terms.gauge import GaugeKnowledge
from anylight.joint.terms.protocol import Term
from anylight.model.journal import page, remembered

from .plan import Plan

_CHEAP_PIXELS = 100_000
"""Levels of up to so many pixels are worth longer steps when they settle for the last time (that of
the starts only where it is the finest: there the gauge is found), and twice as many where the
photos leave tilt and relief open. [pixels]"""
_CHEAP_LINEAR_STEPS = 15
"""Steps of conjugate gradients on such levels, at most. [steps]"""
_DAMPING = 1e-5
"""Damping that every level begins with, relative to the curvature. [share]"""
_DECIDED_DAMPING = 1e-6
"""Least damping where the photos decide tilt and relief, relative to the curvature. [share]"""
_SPANNING = np.float32(1e-6)
"""Weight of a facet that spans a step. (guard)"""


class Climb:
    """The state on its way up, and what is known of the gauge.

    Levels are let go once they are behind: their photos are large.
    """

    def __init__(
        self,
        levels: list[PyramidLevel],
        terms: Sequence[Sequence[Term]],
        plan: Plan,
        state: Iterate,
        knowledge: GaugeKnowledge,
    ) -> None:
        self.state, self.knowledge = state, knowledge
        self._levels, self._terms, self._plan = levels, terms, plan
        self._at = len(levels) - 1

    def run(self, order: int, name: str) -> Steps:
        """At every level: normals of single pixels, a surface through them, Newton steps."""
        yield from self._settle(order, name, brief=True)
        yield from self._settle(order, name, brief=bool(self._at))
        while self._at:
            self._refine(order)
            yield from self._settle(order, name)
        return self.state

    def jump(self, latest: Iterate | None = None, number: int = 0) -> None:
        """Bring the state to the finest level as it is.

        Args:
            latest: a state that has been reached since, if any.
            number: of its level.
        """
        if latest is not None and number == self._at:
            self.state = latest
            if not self._at:
                return
        while self._at:
            self._refine(basis_of(self._levels[self._at], self.state.light).order)
        terms = self._plan.terms(self._levels[0], self._terms[0])
        found = assess(self._levels[0], self.state.surface, self.state.light, terms)
        self.state = replace(found, energy=self.state.energy, status=self.state.status)

    def _effort(self, size: int, *, brief: bool) -> Effort:
        steps = self._plan.refine_iterations
        effort = self._plan.effort(-(-steps // 2) if brief else steps, _DAMPING)
        is_cheap = size <= _CHEAP_PIXELS
        if not self.knowledge.is_open:
            effort = replace(effort, least=_DECIDED_DAMPING)
        elif is_cheap:
            effort = replace(effort, iterations=2 * effort.iterations)
        if is_cheap and not brief:
            effort = replace(effort, linear_iterations=_CHEAP_LINEAR_STEPS)
        return effort

    def _refine(self, order: int) -> None:
        """Bring surface and light to the next finer level; how they fit there is not known yet."""
        coarse, fine = self._levels[self._at], self._levels[self._at - 1]
        surface = refine(coarse, fine, self.state.surface)
        self.state = replace(
            self.state,
            surface=surface,
            light=raised(fine, self.state.light, order),
            fit=Fit.of_nothing(fine.num_channels),
        )
        self._at -= 1
        del self._levels[self._at + 1 :]

    def _settle(self, order: int, name: str, *, brief: bool = False) -> Steps:
        """Settle at a level; briefly where it is not for the last time."""
        level, energy, light = self._levels[self._at], self.state.energy, self.state.light
        surface = self.state.surface
        if self._plan.jumps:
            surface, level = _cut(level, self.state)
        self.state = replace(self.state, surface=surface)
        del surface  # large, and replaced by the first step
        terms = self._plan.terms(level, self._terms[self._at], self.knowledge.weights())
        effort, stage = self._effort(level.size, brief=brief), Stage(self._at, name)
        steps = newton(level, terms, self.state.surface, light, order, effort, stage)
        found = yield from self._followed(steps)
        # Noise, which finer levels bring back, says nothing against the gauge.
        ratio = max(energy / max(found.energy, 1e-300), 1.0)
        if np.isfinite(ratio):
            self.knowledge = self.knowledge.at_energy(ratio)
        self.state = found
        return found

    def _followed(self, steps: Steps) -> Steps:
        """The same steps; each becomes the state."""
        try:
            while True:
                self.state, report = next(steps)
                yield self.state, report
        except StopIteration as end:
            found: Iterate = end.value
        return found


def _cut(level: PyramidLevel, state: Iterate) -> tuple[Heights, PyramidLevel]:
    """Surface through the normals of single pixels; the level without facets that span a step."""
    place = page("cut", level, state.surface, state.light)
    surface, cover = remembered(place, partial(_through, level, state.surface, state.light))
    return surface, level.reweighed(cover)


def _through(
    level: PyramidLevel, surface: Heights, light: Light
) -> tuple[Heights, Float[np.ndarray, " P"]]:
    """Surface through the normals of single pixels, and how much each pixel then counts."""
    found = pixel_normals(level, light, level.fields(surface))
    p, q = found.p, found.q
    del found
    surface, held = robust_surface(level, p, q, level.cover, surface)
    return surface, np.maximum(level.cover * held**2, _SPANNING)

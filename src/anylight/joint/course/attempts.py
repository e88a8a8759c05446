"""Several starts at the coarsest level: each through the first orders, the best one further."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anylight.facets.grid import Heights
from anylight.facets.resolution import refine
from anylight.joint.problem.fit import basis_of, first_light, raised
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.step.newton import Iterate, NewtonReport, Stage, assess, newton
from anylight.joint.terms.protocol import Term
from anylight.photometry.harmonics import degrees

from .closeness import LINEAR_STEPS
from .plan import Plan
from .starts import balloon_surface, coarsened, outward_surface, rim_outwardness

_INWARD = 1.5
"""A start whose rim faces inwards must explain the photos so many times better to be believed.
[times]"""
_CERTAIN = 6
"""Orders up to this are always taken. (definition)"""
_WORTHWHILE = 0.745
"""Orders above 6 may leave so much of what 6 left. A sharp lamp has 51 % of its shading beyond
degree 6 in degree 8, so below this share the missing degrees were more than half of the residual;
above it noise, gloss and shadows are, and would be taken for light. [share]"""
_FIRST_STEPS = 6
"""Newton steps of a start at each of the first two orders, at most. [steps]"""
_FIRST_GAIN = 0.02
"""Relative decrease of the energy that is worth another step of a start. [share]"""
_LATER_STEPS = 4
"""Newton steps of the best start at each higher order, at most. [steps]"""
_NEAR_STEPS = 20
"""Newton steps under near lamps at each order, at most: shape and light move far. [steps]"""
_FIRST_DAMPING = 1e-3
"""Damping that the first order begins with, relative to the curvature. [share]"""
_LATER_DAMPING = 1e-4
"""Damping that every later order begins with, relative to the curvature. [share]"""


_FLIPPED_DAMPING = 1e-2
"""Damping that a flipped surface begins with, relative to the curvature. [share]"""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Where an attempt begins."""

    name: str
    volume: float | None
    surface: Heights


@dataclass(frozen=True, eq=False)
class Attempt:
    """One start and what became of it."""

    name: str
    volume: float | None
    """Relative volume of its balloon, negative if concave."""
    order: int
    energy: float
    """Per pixel, with prior."""
    faces_outward: float
    """Mean agreement of the rim's normals with the silhouette's outward direction."""
    state: Iterate

    @property
    def score(self) -> float:
        """Energy, raised where the rim faces inwards."""
        if not np.isfinite(self.energy):
            return np.inf
        return self.energy * (_INWARD if self.faces_outward < 0 else 1.0)


Trying = Generator[tuple[Iterate, NewtonReport], None, Attempt]
"""Yields after every step; returns what became of the start."""


def balloons_and_rival(level: PyramidLevel, plan: Plan) -> Iterator[Candidate]:
    """Balloons over the silhouette, and a start that needs none."""
    for volume in plan.volumes:
        yield Candidate(f"balloon {volume:g}", volume, balloon_surface(level, volume))
    if plan.rivals:
        yield Candidate("integrable", None, outward_surface(level))


@dataclass(frozen=True, eq=False)
class Attempts:
    """The level the starts run on."""

    level: PyramidLevel
    number: int
    """Of the level, finest first."""
    plan: Plan
    others: Sequence[Term]
    """Terms besides the gauge's prior."""

    def judged(self, name: str, volume: float | None, state: Iterate) -> Attempt:
        """A state under the name of its start."""
        outward = rim_outwardness(self.level, state.fit.unit)
        order = basis_of(self.level, state.light).order
        return Attempt(name, volume, order, state.energy, outward, state)

    def first(self, start: Candidate) -> Trying:
        """Take a start through the first two orders."""
        plan, terms = self.plan, self.plan.terms(self.level, self.others)
        stage = Stage(self.number, start.name)
        surface, light = start.surface, first_light(self.level, start.surface, plan.orders[0])
        for order, damping in zip(plan.orders[:2], (_FIRST_DAMPING, _LATER_DAMPING), strict=False):
            effort = replace(plan.effort(_FIRST_STEPS, damping), gain=_FIRST_GAIN)
            state = yield from newton(self.level, terms, surface, light, order, effort, stage)
            surface, light = state.surface, state.light
        return self.judged(start.name, start.volume, state)

    def seen_from(self, finer: PyramidLevel, attempt: Attempt) -> Attempt:
        """An attempt at the next finer level, brought to this one as it is."""
        surface = coarsened(finer, self.level, attempt.state.surface)
        return self._at(attempt, surface)

    def brought(self, coarser: PyramidLevel, attempt: Attempt) -> Attempt:
        """An attempt at the next coarser level, brought to this one as it is."""
        return self._at(attempt, refine(coarser, self.level, attempt.state.surface))

    def _at(self, attempt: Attempt, surface: Heights) -> Attempt:
        light = raised(self.level, attempt.state.light, attempt.order)
        state = assess(self.level, surface, light, self.plan.terms(self.level, self.others))
        return self.judged(attempt.name, attempt.volume, state)

    def raised(self, attempt: Attempt) -> Trying:
        """Take a start through the higher orders; the last only where it is worth it."""
        plan, terms, state = self.plan, self.plan.terms(self.level, self.others), attempt.state
        stage, effort = (
            Stage(self.number, attempt.name),
            plan.effort(_LATER_STEPS, _LATER_DAMPING),
        )
        for order in plan.orders[2:]:
            higher = yield from newton(
                self.level, terms, state.surface, state.light, order, effort, stage
            )
            if order > _CERTAIN and higher.energy > _WORTHWHILE * state.energy:
                break
            state = higher
        return self.judged(attempt.name, attempt.volume, state)

    def nearer(self, attempt: Attempt, certain: int) -> Trying:
        """Take an attempt under near lamps through the higher orders.

        Args:
            attempt: at this level.
            certain: orders up to this one are always taken.
        """
        plan, terms, state = self.plan, self.plan.terms(self.level, self.others), attempt.state
        stage = Stage(self.number, attempt.name)
        for order in (o for o in plan.orders if o >= attempt.order):
            effort = plan.effort(_NEAR_STEPS, _LATER_DAMPING)
            effort = replace(effort, linear_iterations=LINEAR_STEPS)
            higher = yield from newton(
                self.level, terms, state.surface, state.light, order, effort, stage
            )
            if order > max(certain, _CERTAIN) and higher.energy > _WORTHWHILE * state.energy:
                break
            state = higher
        return self.judged(attempt.name, attempt.volume, state)

    def settled(self, attempt: Attempt) -> Trying:
        """Take an attempt as many steps further as its flipped rival has taken from there."""
        state = yield from newton(
            self.level,
            self.plan.terms(self.level, self.others),
            attempt.state.surface,
            attempt.state.light,
            attempt.order,
            self.plan.effort(_LATER_STEPS, _LATER_DAMPING),
            Stage(self.number, attempt.name),
        )
        return self.judged(attempt.name, attempt.volume, state)

    def flipped(self, attempt: Attempt) -> Trying:
        """Turn hills into hollows and the light with them, and see which explains more.

        Under parallel rays both do equally well. Turning the light by 180 degrees about the optical
        axis changes the sign of the harmonics with odd m.
        """
        state = attempt.state
        order = basis_of(self.level, state.light).order
        used = range(order + 1) if self.level.closeness else degrees(order)
        signs = np.array([(-1.0) ** m for d in used for m in range(-d, d + 1)])
        name = f"{attempt.name} flipped"
        effort = self.plan.effort(_LATER_STEPS, _FLIPPED_DAMPING)
        other = yield from newton(
            self.level,
            self.plan.terms(self.level, self.others),
            -state.surface,
            state.light * signs[:, None],
            order,
            replace(effort, rival=attempt.energy),
            Stage(self.number, name),
        )
        return self.judged(name, None if attempt.volume is None else -attempt.volume, other)

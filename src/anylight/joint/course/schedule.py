"""The whole course: several starts, rising orders, rising resolutions."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from anylight.facets.grid import Heights
from anylight.joint.problem.fit import Fit, basis_of
from anylight.joint.problem.pyramid import PyramidLevel, halve
from anylight.joint.step.newton import Iterate, NewtonReport, Stage
from anylight.joint.terms.gauge import GaugeKnowledge
from anylight.joint.terms.protocol import Term
from anylight.model.method import StopRequestedError
from anylight.model.status import Status

from .attempts import Attempt, Attempts, Candidate, balloons_and_rival
from .climb import Climb
from .closeness import is_believed, is_worth_a_look, look_near
from .integrable import variety
from .knowledge import gauge_knowledge
from .plan import Plan
from .starts import coarsened


@dataclass(frozen=True, eq=False)
class Course:
    """What the schedule arrived at."""

    state: Iterate
    knowledge: GaugeKnowledge
    attempts: tuple[Attempt, ...]
    chosen: Attempt
    orders: tuple[int, ...]
    levels: tuple[int, ...]
    """Pixels of every level used, coarse to fine."""
    variety: float
    """How differently the pixels answer to the lights (see `integrable.variety`)."""
    status: Status
    """Finished, stopped, or why the last steps failed."""
    closeness: float = 0.0
    """Of the lamps (see `photometry.near`); 0 if they are far."""

    def without_state(self) -> "Course":
        """The same without surface and fit, which are large; how it ended stays."""
        fit = Fit.of_nothing(self.state.fit.albedo.shape[1])
        return replace(self, state=replace(self.state, surface=np.zeros((0, 0)), fit=fit))


Made = TypeVar("Made")
CourseSteps = Generator[tuple[Iterate, NewtonReport, float], None, Course]
"""Yields state, report and share of the work after every step; returns where it arrived."""


@dataclass
class _Counter:
    """Share of the work that is done, for progress."""

    total: float
    sizes: list[int]
    done: float = 0.0
    latest: tuple[Iterate, NewtonReport] | None = field(default=None)

    def share(self, step: tuple[Iterate, NewtonReport]) -> float:
        """Count a step in."""
        self.latest = step
        report = step[1]
        self.done += self.sizes[report.level] * (1 + report.order / 3)
        return min(self.done / self.total, 1.0)


def pyramid(finest: PyramidLevel, start_pixels: float) -> list[PyramidLevel]:
    """Levels from fine to coarse, down to the one the starts run on."""
    levels = [finest]
    while levels[-1].size > start_pixels:
        levels.append(halve(levels[-1]))
    return levels


def solve(
    finest: PyramidLevel, plan: Plan, terms: Sequence[Term] = (), given: Heights | None = None
) -> CourseSteps:
    """Run all starts, follow the best through orders and resolutions.

    Thrown a `StopRequestedError` between two steps, it ends with the best state so far.

    Args:
        finest: the photos at full resolution.
        plan: what the course is made of.
        terms: what else costs energy, at full resolution, besides the gauge's prior.
        given: a surface at full resolution to start from.
    """
    every = pyramid(finest, plan.start_pixels)
    number = len(every) - 1
    if given is None:
        every += pyramid(every[-1], plan.first_pixels)[1:]
    others = [tuple(terms)]
    for fine, coarse in pairwise(every):
        others.append(tuple(term.halved(fine, coarse) for term in others[-1]))
    levels, smallest = every[: number + 1], len(every) - 1
    tries, early = (Attempts(every[k], k, plan, others[k]) for k in (number, smallest))
    counter = _Counter(_work(every, number, plan, given), [level.size for level in every])
    candidates = balloons_and_rival(early.level, plan) if given is None else _given(levels, given)
    first, finalists = list[Attempt](), list[Attempt]()
    climb, cut_short = None, None

    def brought(attempt: Attempt) -> Attempt:
        for k in range(smallest, number, -1):
            attempt = Attempts(every[k - 1], k - 1, plan, others[k - 1]).brought(every[k], attempt)
        return attempt

    def started(chosen: Attempt) -> Climb:
        knowledge = gauge_knowledge(tries.level, chosen.state)
        return Climb(levels, others, plan, chosen.state, knowledge)

    try:
        for candidate in candidates:
            first.append((yield from _shared(early.first(candidate), counter)))
        best = tries.raised(brought(min(first, key=_score)))
        finalists.append((yield from _shared(best, counter)))
        if plan.near and not terms and is_worth_a_look(finalists[0].energy):
            nearest = yield from _shared(_nearer(every[number:], tries, finalists[0]), counter)
            if nearest is not None:
                closeness, finalists[0] = nearest
                levels = [replace(level, closeness=closeness) for level in levels]
                tries = replace(tries, level=levels[number])
        if plan.rivals:
            below = [
                Attempts(replace(every[k], closeness=levels[0].closeness), k, plan, others[k])
                for k in range(number, len(every))
            ]
            yield from _shared(_rivalled(below, first, finalists), counter)
        chosen = (max if plan.flip else min)(finalists, key=_score)
        climb = started(chosen)
        every.clear()
        yield from _shared(climb.run(chosen.order, chosen.name), counter)
    except (StopRequestedError, np.linalg.LinAlgError) as end:
        if counter.latest is None:
            raise
        cut_short = Status.INTERRUPTED if isinstance(end, StopRequestedError) else Status.SINGULAR
        state, report = counter.latest
        if finalists and climb is None:
            chosen = min(finalists, key=_score)
        elif not finalists:
            some = first or [early.judged(report.start, None, state)]
            chosen = brought(min(some, key=_score))
        climb = climb or started(chosen)
        climb.jump(state if report.start == chosen.name else None, report.level)
    if cut_short is not None:
        climb.state = replace(climb.state, status=cut_short)
    ended = climb.state.status
    is_worth_saying = ended.is_failure or ended is Status.INTERRUPTED
    return Course(
        state=climb.state,
        knowledge=climb.knowledge,
        attempts=(*first, *finalists),
        chosen=chosen,
        orders=tuple(o for o in plan.orders if o <= basis_of(levels[0], climb.state.light).order),
        levels=tuple(counter.sizes[::-1]),
        variety=variety(tries.level),
        status=ended if is_worth_saying else Status.FINISHED,
        closeness=levels[0].closeness,
    )


def _nearer(
    levels: Sequence[PyramidLevel], tries: Attempts, attempt: Attempt
) -> Generator[tuple[Iterate, NewtonReport], None, tuple[float, Attempt] | None]:
    """The closeness that explains the photos best, and what it leads to; None if far lamps do.

    Args:
        levels: from that of the attempts to a coarse one on which lamps are looked at.
        tries: the attempts.
        attempt: what far lamps led to.
    """
    surface, last = attempt.state.surface, tries.number + len(levels) - 1
    for fine, coarse in pairwise(levels):
        surface = coarsened(fine, coarse, surface)
    stage = Stage(last, f"{attempt.name}, near lamps?")
    seen = yield from look_near(
        levels[-1], tries.plan, surface, attempt.state.light, attempt.order, stage
    )
    if seen is None:
        return None
    at = [
        replace(tries, level=replace(level, closeness=seen.closeness), number=tries.number + k)
        for k, level in enumerate(levels)
    ]
    found = at[-1].judged(attempt.name, attempt.volume, seen.state)
    for finer, coarser in zip(at[-2::-1], at[:0:-1], strict=True):
        found = finer.brought(coarser.level, found)
    found = yield from at[0].nearer(found, attempt.order)
    return (seen.closeness, found) if is_believed(found.energy, attempt.energy) else None


def _rivalled(
    at: Sequence[Attempts], first: list[Attempt], finalists: list[Attempt]
) -> Generator[tuple[Iterate, NewtonReport], None, None]:
    """Let the flipped surface be a finalist, too, unless it is worse at a coarse level already.

    Args:
        at: attempts at the finalists' level, and at coarser ones.
        first: attempts at the coarsest level.
        finalists: the attempt that may be flipped.
    """
    seen = finalists[0]
    for finer, coarser in pairwise(at):
        seen = coarser.seen_from(finer.level, seen)
    if len(at) > 1 and not at[0].plan.flip:
        flipped = yield from at[-1].flipped(seen)
        # It was settled there, its rival was not: what is still worse will not do better.
        if flipped.energy > seen.energy:
            first.append(flipped)
            return
    flipped = yield from at[0].flipped(finalists[0])
    if flipped.score < finalists[0].score:
        finalists[0] = yield from at[0].settled(finalists[0])
    finalists.append(flipped)


def _score(attempt: Attempt) -> float:
    return attempt.score


def _work(every: list[PyramidLevel], number: int, plan: Plan, given: Heights | None) -> float:
    """Guess at the work to be done, for progress."""
    num_starts = 1 if given is not None else len(plan.volumes) + 1
    first, raised = every[-1].size * num_starts * 14, every[number].size * 3 * (18 + 8 + 14)
    return (
        first + raised + 3.0 * sum(level.size * plan.refine_iterations for level in every[:number])
    )


def _shared(
    steps: Generator[tuple[Iterate, NewtonReport], None, Made], counter: _Counter
) -> Generator[tuple[Iterate, NewtonReport, float], None, Made]:
    """The same steps with the share of the work done."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        yield (*step, counter.share(step))


def _given(levels: list[PyramidLevel], given: Heights) -> Iterator[Candidate]:
    surface = given
    for fine, coarse in pairwise(levels):
        surface = coarsened(fine, coarse, surface)
    yield Candidate("given", None, surface)

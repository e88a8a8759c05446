"""The whole course: several starts, rising orders, rising resolutions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from anylight.photometry.harmonics import DEGREES, degrees, order_of

from .fit import first_light, raised
from .gauge import GaugeKnowledge, Prior, open_prior
from .integrable import variety
from .integrate import robust_surface
from .knowledge import gauge_knowledge
from .level import Level, Surface, halve, refine
from .local import face
from .newton import Effort, Estimate, Listener, NewtonReport, assess, newton
from .starts import balloon_surface, coarsened, outward_surface, rim_outwardness

VOLUMES = (0.03, 0.08)
START_PIXELS = 25_000
"""The level the starts run on: the finest with at most so many pixels."""
_INWARD = 1.5
"""A start whose rim faces inwards must explain the photos so many times better to be believed."""
_PHOTOS_FOR = {8: 10, 6: 8, 4: 5, 2: 0}
"""Photos that an order needs."""
_CERTAIN, _WORTHWHILE = 6, 0.745
"""Orders above 6 may leave so much of what 6 left. A sharp lamp has 51 % of its shading beyond
degree 6 in degree 8, so below this share the missing degrees were more than half of the residual;
above it noise, gloss and shadows are, and would be taken for light."""
_CHEAP_PIXELS = 100_000
"""Levels of up to so many pixels are worth twice the steps: there the gauge is found."""
_SPANNING = np.float32(1e-6)
"""Weight of a facet that spans a step."""
_FIRST_STEPS, _LATER_STEPS, _LATER_DAMPING = 6, 8, 1e-4


@dataclass(frozen=True)
class Plan:
    """What the course is made of. Everything is on unless its worth is to be measured."""

    orders: tuple[int, ...]
    """Of the harmonics, rising; the first two serve to choose among the starts."""
    volumes: tuple[float, ...] = VOLUMES
    """Relative volumes of the balloons to start from; negative is concave."""
    refine_iterations: int = 5
    """Newton steps at every level after the starts."""
    start_pixels: float = START_PIXELS
    """The starts run on the finest level with at most so many pixels."""
    rivals: bool = True
    """Try a start without silhouette, and the flipped surface, as well."""
    jumps: bool = True
    """Find normals of single pixels and switch off facets that span a step."""
    prior: bool = True
    """Expect a usual tilt and relief where the photos do not decide."""
    together: bool = True
    """Step in surface and light together, not in turn."""
    discretisation: type[Level] = Level
    """What makes a surface of heights."""

    def open_prior(self) -> Prior:
        """The prior while nothing is known."""
        return open_prior() if self.prior else np.zeros((3, 3))

    def effort(self, iterations: int, damping: float = Effort.damping) -> Effort:
        """So many steps, together or in turn."""
        return Effort(iterations, damping, together=self.together)


@dataclass(frozen=True)
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

    @property
    def score(self) -> float:
        """Energy, raised where the rim faces inwards."""
        return self.energy * (_INWARD if self.faces_outward < 0 else 1.0)


@dataclass(frozen=True, eq=False)
class Course:
    """What the schedule arrived at."""

    state: Estimate
    knowledge: GaugeKnowledge
    attempts: tuple[Attempt, ...]
    chosen: Attempt
    orders: tuple[int, ...]
    levels: tuple[int, ...]
    """Pixels of every level used, coarse to fine."""
    variety: float
    """How differently the pixels answer to the lights (see `integrable.variety`)."""
    interrupted: bool = False


@dataclass
class _Counter:
    """Share of the work that is done, for progress."""

    total: float
    tell: Callable[[NewtonReport, float], None] | None
    done: float = 0.0
    sizes: dict[int, int] = field(default_factory=dict)

    def __call__(self, report: NewtonReport) -> None:
        self.done += self.sizes[report.level] * (1 + report.order / 3)
        if self.tell is not None:
            self.tell(report, min(self.done / self.total, 1.0))


def pyramid(finest: Level, start_pixels: float = START_PIXELS) -> list[Level]:
    """Levels from fine to coarse, down to the one the starts run on."""
    levels = [finest]
    while levels[-1].size > start_pixels:
        levels.append(halve(levels[-1]))
    return levels


def solve(
    finest: Level,
    plan: Plan,
    given: Surface | None = None,
    tell: Callable[[NewtonReport, float], None] | None = None,
) -> Course:
    """Run all starts, follow the best through orders and resolutions.

    Args:
        finest: the photos at full resolution.
        plan: what the course is made of.
        given: a surface at full resolution to start from.
        tell: told about every step and the share of the work done.
    """
    levels = pyramid(finest, plan.start_pixels)
    coarsest = len(levels) - 1
    start_level = levels[coarsest]
    num_starts = 1 if given is not None else len(plan.volumes) + 1
    counter = _Counter(1.0, tell, sizes={k: level.size for k, level in enumerate(levels)})
    counter.total = start_level.size * (num_starts * 14 + 18 * 3 + 8 * 3 + 14 * 3) + 3.0 * sum(
        level.size * plan.refine_iterations for level in levels[:-1]
    )
    source = (
        _given(levels, given, plan, counter)
        if given is not None
        else _starts(start_level, coarsest, plan, counter)
    )
    candidates: list[tuple[Attempt, Estimate]] = []
    finalists: list[tuple[Attempt, Estimate]] = []
    climb = None
    interrupted = False
    try:
        candidates.extend(source)
        best = min(candidates, key=lambda pair: pair[0].score)
        finalists.append(_raise(start_level, coarsest, best, plan, counter))
        if plan.rivals:
            finalists.append(_flip(start_level, coarsest, finalists[0], plan, counter))
        chosen, state = min(finalists, key=lambda pair: pair[0].score)
        climb = _Climb(levels, plan, state, gauge_knowledge(start_level, state))
        climb.run(chosen.order, counter, chosen.name)
    except KeyboardInterrupt:
        if not (candidates or finalists):
            raise
        interrupted = True
        chosen, state = min(finalists or candidates, key=lambda pair: pair[0].score)
        climb = climb or _Climb(levels, plan, state, gauge_knowledge(start_level, state))
        climb.jump()
    return Course(
        state=climb.state,
        knowledge=climb.knowledge,
        attempts=tuple(attempt for attempt, _ in candidates + finalists),
        chosen=chosen,
        orders=tuple(order for order in plan.orders if order <= chosen.order),
        levels=tuple(level.size for level in levels[::-1]),
        variety=variety(start_level),
        interrupted=interrupted,
    )


class _Climb:
    """From the level of the starts to the finest one."""

    def __init__(
        self, levels: list[Level], plan: Plan, state: Estimate, knowledge: GaugeKnowledge
    ) -> None:
        self.state, self.knowledge = state, knowledge
        self._levels, self._plan, self._at = levels, plan, len(levels) - 1

    def run(self, order: int, counter: _Counter, name: str) -> None:
        """At every level: normals of single pixels, a surface through them, Newton steps."""
        self._settle(order, counter, name)
        self._settle(order, counter, name)
        while self._at:
            self._refine(order)
            self._settle(order, counter, name)

    def jump(self) -> None:
        """Bring the state to the finest level as it is."""
        while self._at:
            self._refine(order_of(len(self.state.light)))

    def _effort(self, size: int) -> Effort:
        effort = self._plan.effort(self._plan.refine_iterations)
        at_start = self._at == len(self._levels) - 1
        if size > _CHEAP_PIXELS or (at_start and self._at):
            return effort
        return replace(effort, iterations=2 * effort.iterations, linear_iterations=30)

    def _refine(self, order: int) -> None:
        fine = self._levels[self._at - 1]
        surface = refine(self._levels[self._at], fine, self.state.surface)
        light = raised(self.state.light, order)
        found = assess(fine, surface, light, self._plan.open_prior())
        self._at, self.state = self._at - 1, replace(found, energy=self.state.energy)

    def _settle(self, order: int, counter: _Counter, name: str) -> None:
        level, energy, light = self._levels[self._at], self.state.energy, self.state.light
        surface = self.state.surface
        if self._plan.jumps:
            surface, level = _faced(level, self.state)
        self.state = replace(self.state, surface=surface)
        found = newton(
            level,
            surface,
            light,
            order,
            self.knowledge.prior() if self._plan.prior else self._plan.open_prior(),
            self._effort(level.size),
            Listener(counter, self._at, name),
        )
        # Noise, which finer levels bring back, says nothing against the gauge.
        ratio = max(energy / max(found.energy, 1e-300), 1.0)
        self.state, self.knowledge = found, self.knowledge.at_energy(ratio)


def _faced(level: Level, state: Estimate) -> tuple[Surface, Level]:
    """Surface through the normals of single pixels; the level without facets that span a step."""
    facing = face(level, state.light)
    p, q = facing.p, facing.q
    del facing
    surface, held = robust_surface(level, p, q, state.surface)
    return surface, level.reweighed(np.maximum(level.cover * held**2, _SPANNING))


@dataclass(frozen=True, eq=False)
class _Start:
    """Where an attempt begins."""

    name: str
    volume: float | None
    surface: Surface


def _starts(
    level: Level, number: int, plan: Plan, counter: _Counter
) -> Iterator[tuple[Attempt, Estimate]]:
    for volume in plan.volumes:
        start = _Start(f"balloon {volume:g}", volume, balloon_surface(level, volume))
        yield _attempt(level, number, start, plan, counter)
    if plan.rivals:
        start = _Start("integrable", None, outward_surface(level))
        yield _attempt(level, number, start, plan, counter)


def _given(
    levels: list[Level], given: Surface, plan: Plan, counter: _Counter
) -> Iterator[tuple[Attempt, Estimate]]:
    surface = given
    for fine, coarse in pairwise(levels):
        surface = coarsened(fine, coarse, surface)
    start = _Start("given", None, surface)
    yield _attempt(levels[-1], len(levels) - 1, start, plan, counter)


def _attempt(
    level: Level, number: int, start: _Start, plan: Plan, counter: _Counter
) -> tuple[Attempt, Estimate]:
    """Take a start through the first two orders."""
    listener = Listener(counter, number, start.name)
    surface, light = start.surface, first_light(level, start.surface, plan.orders[0])
    for order, damping in zip(plan.orders[:2], (Effort.damping, _LATER_DAMPING), strict=False):
        effort = plan.effort(_FIRST_STEPS, damping)
        state = newton(level, surface, light, order, plan.open_prior(), effort, listener)
        surface, light = state.surface, state.light
    outward = rim_outwardness(level, state.fit.unit)
    return Attempt(start.name, start.volume, order, state.energy, outward), state


def _raise(
    level: Level,
    number: int,
    pair: tuple[Attempt, Estimate],
    plan: Plan,
    counter: _Counter,
) -> tuple[Attempt, Estimate]:
    """Take a start through the higher orders; the last only where it is worth it."""
    attempt, state = pair
    listener = Listener(counter, number, attempt.name)
    effort = plan.effort(_LATER_STEPS, _LATER_DAMPING)
    prior = plan.open_prior()
    for order in plan.orders[2:]:
        higher = newton(level, state.surface, state.light, order, prior, effort, listener)
        if order > _CERTAIN and higher.energy > _WORTHWHILE * state.energy:
            break
        state = higher
    outward = rim_outwardness(level, state.fit.unit)
    order = order_of(len(state.light))
    return Attempt(attempt.name, attempt.volume, order, state.energy, outward), state


def _flip(
    level: Level, number: int, pair: tuple[Attempt, Estimate], plan: Plan, counter: _Counter
) -> tuple[Attempt, Estimate]:
    """Turn hills into hollows and the light with them, and see which explains the photos better.

    Under parallel rays both do equally well. Turning the light by 180 degrees about the optical
    axis changes the sign of the harmonics with odd m.
    """
    attempt, state = pair
    order = order_of(len(state.light))
    signs = np.array([(-1.0) ** m for d in degrees(order) for m in range(-d, d + 1)])
    name = f"{attempt.name} flipped"
    flipped = newton(
        level,
        -state.surface,
        state.light * signs[:, None],
        order,
        plan.open_prior(),
        plan.effort(_LATER_STEPS, _LATER_DAMPING),
        Listener(counter, number, name),
    )
    outward = rim_outwardness(level, flipped.fit.unit)
    volume = None if attempt.volume is None else -attempt.volume
    return Attempt(name, volume, order, flipped.energy, outward), flipped


def orders_for(num_photos: int) -> tuple[int, ...]:
    """Orders of the continuation that so many photos support."""
    top = next(order for order, least in _PHOTOS_FOR.items() if num_photos >= least)
    return tuple(order for order in DEGREES if 1 <= order <= top)

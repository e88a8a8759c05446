"""The whole course: several starts, rising orders, rising resolutions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from scipy import ndimage

from anylight.geometry.camera import Orthographic
from anylight.geometry.normals import slopes_from_normals
from anylight.initial.balloon import inflate
from anylight.initial.integrate import clamp_slant, height_normals
from anylight.photometry.harmonics import DEGREES, degrees, order_of

from .fit import first_light, raised
from .gauge import GaugeKnowledge, open_prior
from .integrable import integrable_surface
from .integrate import robust_surface, smooth_surface
from .knowledge import gauge_knowledge
from .level import Level, Surface, block_of, halve, refine
from .local import face
from .newton import Effort, Estimate, Listener, NewtonReport, assess, newton

VOLUMES = (0.03, 0.08)
START_PIXELS = 25_000
"""The level the starts run on: the finest with at most so many pixels."""
_INWARD = 1.5
"""A start whose rim faces inwards must explain the photos so many times better to be believed."""
_PHOTOS_FOR = {8: 10, 6: 8, 4: 5, 2: 0}
"""Photos that an order needs."""
_CERTAIN, _WORTHWHILE = 6, 0.745
"""Orders above 6 must explain so much of what 6 left. A sharp lamp has 51 % of its shading beyond
degree 6 in degree 8, so below this share the missing degrees were more than half of the residual;
above it noise, gloss and shadows are, and would be taken for light."""
_CHEAP_PIXELS = 100_000
"""Levels of up to so many pixels are worth twice the steps: there the gauge is found."""
_SPANNING = np.float32(1e-6)
"""Weight of a facet that spans a step."""
_FIRST_STEPS, _LATER_STEPS, _LATER_DAMPING = 6, 8, 1e-4


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


def pyramid(finest: Level) -> list[Level]:
    """Levels from fine to coarse, down to the one the starts run on."""
    levels = [finest]
    while levels[-1].size > START_PIXELS:
        levels.append(halve(levels[-1]))
    return levels


def rim_outwardness(level: Level, unit: Float[np.ndarray, "3 P"]) -> float:
    """Mean of the rim normals along the silhouette's outward direction; positive if convex."""
    padded = np.pad(level.mask, 4).astype(float)
    smooth = ndimage.gaussian_filter(padded, 1.5)
    inner = (slice(4, -4), slice(4, -4))
    outward = -np.stack(np.gradient(smooth)[::-1], axis=-1)[inner][level.mask]
    size = np.linalg.norm(outward, axis=1)
    at_border = np.ones(level.mask.shape, bool)
    at_border[2:-2, 2:-2] = False
    rim = level.domain.is_rim & (size > 1e-3) & ~at_border[level.mask]
    if not rim.any():
        return 0.0
    along = (unit[:2, rim].T * outward[rim] / size[rim, None]).sum(axis=1)
    return float(along.mean())


def balloon_surface(level: Level, volume: float) -> Surface:
    """The balloon over the silhouette as a surface of facets; concave if negative."""
    balloon = inflate(level.domain, abs(volume))
    normals = height_normals(level.domain, np.sign(volume) * balloon.height)
    pixels = level.domain.pixels
    slopes = slopes_from_normals(level.camera, pixels, clamp_slant(level.camera, pixels, normals))
    return smooth_surface(level, *slopes.T.copy())


def solve(
    finest: Level,
    orders: tuple[int, ...],
    *,
    volumes: tuple[float, ...],
    given: Surface | None,
    refine_iterations: int,
    tell: Callable[[NewtonReport, float], None] | None = None,
) -> Course:
    """Run all starts, follow the best through orders and resolutions.

    Args:
        finest: the photos at full resolution.
        orders: of the harmonics, rising; the first two serve to choose among the starts.
        volumes: relative volumes of the balloons to start from; negative is concave.
        given: a surface at full resolution to start from instead.
        refine_iterations: Newton steps at every finer level.
        tell: told about every step and the share of the work done.
    """
    levels = pyramid(finest)
    coarsest = len(levels) - 1
    start_level = levels[coarsest]
    num_starts = 1 if given is not None else len(volumes) + 1
    counter = _Counter(1.0, tell, sizes={k: level.size for k, level in enumerate(levels)})
    counter.total = start_level.size * (num_starts * 14 + 18 * 3 + 8 * 3 + 14 * 3) + 3.0 * sum(
        level.size * refine_iterations for level in levels[:-1]
    )
    source = (
        _given(levels, given, orders, counter)
        if given is not None
        else _starts(start_level, coarsest, volumes, orders, counter)
    )
    candidates: list[tuple[Attempt, Estimate]] = []
    finalists: list[tuple[Attempt, Estimate]] = []
    climb = None
    interrupted = False
    try:
        candidates.extend(source)
        best = min(candidates, key=lambda pair: pair[0].score)
        finalists.append(_raise(start_level, coarsest, best, orders, counter))
        finalists.append(_flip(start_level, coarsest, finalists[0], counter))
        chosen, state = min(finalists, key=lambda pair: pair[0].score)
        climb = _Climb(levels, state, gauge_knowledge(start_level, state))
        climb.run(chosen.order, refine_iterations, counter, chosen.name)
    except KeyboardInterrupt:
        if not (candidates or finalists):
            raise
        interrupted = True
        chosen, state = min(finalists or candidates, key=lambda pair: pair[0].score)
        climb = climb or _Climb(levels, state, gauge_knowledge(start_level, state))
        climb.jump()
    return Course(
        state=climb.state,
        knowledge=climb.knowledge,
        attempts=tuple(attempt for attempt, _ in candidates + finalists),
        chosen=chosen,
        orders=tuple(order for order in orders if order <= chosen.order),
        levels=tuple(level.size for level in levels[::-1]),
        interrupted=interrupted,
    )


class _Climb:
    """From the level of the starts to the finest one."""

    def __init__(self, levels: list[Level], state: Estimate, knowledge: GaugeKnowledge) -> None:
        self.state, self.knowledge = state, knowledge
        self._levels, self._at = levels, len(levels) - 1

    def run(self, order: int, iterations: int, counter: _Counter, name: str) -> None:
        """At every level: normals of single pixels, a surface through them, Newton steps."""
        self._settle(order, iterations, counter, name)
        self._settle(order, iterations, counter, name)
        while self._at:
            self._refine(order)
            self._settle(order, iterations, counter, name)

    def jump(self) -> None:
        """Bring the state to the finest level as it is."""
        while self._at:
            self._refine(order_of(len(self.state.light)))

    def _effort(self, size: int, iterations: int) -> Effort:
        at_start = self._at == len(self._levels) - 1
        if size > _CHEAP_PIXELS or (at_start and self._at):
            return Effort(iterations)
        return Effort(2 * iterations, linear_iterations=30)

    def _refine(self, order: int) -> None:
        fine = self._levels[self._at - 1]
        surface = refine(self._levels[self._at], fine, self.state.surface)
        self._at -= 1
        light = raised(self.state.light, order)
        self.state = replace(assess(fine, surface, light, open_prior()), energy=self.state.energy)

    def _settle(self, order: int, iterations: int, counter: _Counter, name: str) -> None:
        level, energy, light = self._levels[self._at], self.state.energy, self.state.light
        surface, level = _faced(level, self.state)
        self.state = replace(self.state, surface=surface)
        found = newton(
            level,
            surface,
            light,
            order,
            self.knowledge.prior(),
            self._effort(level.size, iterations),
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
    level: Level,
    number: int,
    volumes: tuple[float, ...],
    orders: tuple[int, ...],
    counter: _Counter,
) -> Iterator[tuple[Attempt, Estimate]]:
    for volume in volumes:
        start = _Start(f"balloon {volume:g}", volume, balloon_surface(level, volume))
        yield _attempt(level, number, start, orders, counter)
    surface = integrable_surface(level)
    unit, _ = level.normals(*level.slopes(surface))
    outward = surface if rim_outwardness(level, unit) >= 0 else -surface
    yield _attempt(level, number, _Start("integrable", None, outward), orders, counter)


def _given(
    levels: list[Level], given: Surface, orders: tuple[int, ...], counter: _Counter
) -> Iterator[tuple[Attempt, Estimate]]:
    surface = given
    for fine, coarse in pairwise(levels):
        surface = coarsened(fine, coarse, surface)
    start = _Start("given", None, surface)
    yield _attempt(levels[-1], len(levels) - 1, start, orders, counter)


def coarsened(fine: Level, coarse: Level, surface: Surface) -> Surface:
    """Surface of the mean slopes of every block of pixels."""
    _, own = block_of(fine.mask)
    count = np.bincount(own)
    scale = 1.0 if isinstance(fine.camera, Orthographic) else 2.0
    p, q = (scale * np.bincount(own, s) / count for s in fine.slopes(surface))
    return smooth_surface(coarse, p, q)


def _attempt(
    level: Level, number: int, start: _Start, orders: tuple[int, ...], counter: _Counter
) -> tuple[Attempt, Estimate]:
    """Take a start through the first two orders."""
    listener = Listener(counter, number, start.name)
    light = first_light(level, start.surface, orders[0])
    state = newton(
        level, start.surface, light, orders[0], open_prior(), Effort(_FIRST_STEPS), listener
    )
    effort = Effort(_FIRST_STEPS, damping=_LATER_DAMPING)
    state = newton(level, state.surface, state.light, orders[1], open_prior(), effort, listener)
    outward = rim_outwardness(level, state.fit.unit)
    return Attempt(start.name, start.volume, orders[1], state.energy, outward), state


def _raise(
    level: Level,
    number: int,
    pair: tuple[Attempt, Estimate],
    orders: tuple[int, ...],
    counter: _Counter,
) -> tuple[Attempt, Estimate]:
    """Take a start through the higher orders; the last only where it is worth it."""
    attempt, state = pair
    listener = Listener(counter, number, attempt.name)
    effort = Effort(_LATER_STEPS, damping=_LATER_DAMPING)
    for order in orders[2:]:
        higher = newton(level, state.surface, state.light, order, open_prior(), effort, listener)
        if order > _CERTAIN and higher.energy > _WORTHWHILE * state.energy:
            break
        state = higher
    outward = rim_outwardness(level, state.fit.unit)
    order = order_of(len(state.light))
    return Attempt(attempt.name, attempt.volume, order, state.energy, outward), state


def _flip(
    level: Level, number: int, pair: tuple[Attempt, Estimate], counter: _Counter
) -> tuple[Attempt, Estimate]:
    """Turn hills into hollows and the light with them, and see which explains the photos better.

    Under parallel rays both do equally well. Turning the light by 180 degrees about the optical
    axis changes the sign of the harmonics with odd m.
    """
    attempt, state = pair
    order = order_of(len(state.light))
    signs = np.array([(-1.0) ** m for d in degrees(order) for m in range(-d, d + 1)])
    name = f"{attempt.name} flipped"
    effort = Effort(_LATER_STEPS, damping=_LATER_DAMPING)
    flipped = newton(
        level,
        -state.surface,
        state.light * signs[:, None],
        order,
        open_prior(),
        effort,
        Listener(counter, number, name),
    )
    outward = rim_outwardness(level, flipped.fit.unit)
    volume = None if attempt.volume is None else -attempt.volume
    return Attempt(name, volume, order, flipped.energy, outward), flipped


def orders_for(num_photos: int) -> tuple[int, ...]:
    """Orders of the continuation that so many photos support."""
    top = next(order for order, least in _PHOTOS_FOR.items() if num_photos >= least)
    return tuple(order for order in DEGREES if 1 <= order <= top)

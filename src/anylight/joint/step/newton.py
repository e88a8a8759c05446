"""Damped Gauss-Newton for surface and light at one level and one order: begin, step, end."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.facets.modes import Modes, smooth_modes
from anylight.joint.problem.fit import Fit, Light, evaluate, raised
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.terms.protocol import Term
from anylight.model.journal import Page, page
from anylight.model.status import Status

from .system import Damping, Moving, System

CAUCHY = 3.0
"""Scale of the robust penalty. [median residuals of a pixel]"""
_UPPER = 30.0
"""Squared residuals of the fifth of the pixels that fit worst may be so many times the usual ones
before all of them are outliers. (guard)"""
_TOP = 1000.0
"""The same for the twentieth that fits worst. [times]"""
_LOOKED_AT = 1 << 14
"""Pixels, evenly spread, that say what residuals are usual. (memory)"""
_LIGHT_SHARE = 0.1
"""Damping of the light, relative to that of the surface. [share]"""
_LEAST = 1e-5
"""Least damping, relative to the curvature, where the photos may leave tilt and relief open.
[share]"""
_MOST = 1e6
"""Largest damping. (guard)"""
_EASE = 10.0
"""By how much an accepted step lowers the damping. [times]"""
_TIGHTEN = 8.0
"""By how much a refused step raises the damping. [times]"""
_TRIES = 6
"""Dampings that are tried for one step. (guard)"""
_LINEAR_STEPS = 8
"""Steps of conjugate gradients in a Newton step, at most. [steps]"""
_RTOL = 0.04
"""When conjugate gradients stop. [relative residual]"""
_CLOSE = 1.5
"""Attempts within so many times a rival's energy are judged exactly. [times]"""
_STOP = 1e-3
"""Relative decrease of the energy that ends the steps. [share]"""


@dataclass(frozen=True)
class NewtonReport:
    """One accepted step."""

    level: int
    order: int
    start: str
    iteration: int
    energy: float
    """Energy per pixel after the step, terms included."""
    terms: float
    """The part that is not the photos': prior, known depth, your own."""
    damping: float
    refused: int
    linear_iterations: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Iterate:
    """Where the solver is: surface, light, and how they fit."""

    surface: Heights
    light: Light
    fit: Fit
    energy: float
    """Per pixel, robust, with the terms."""
    scale: float
    """Squared residual at which a pixel's weight is one half."""
    status: Status = Status.RUNNING
    """Why the steps ended."""

    def weights(self, level: PyramidLevel) -> Float[np.ndarray, " P"]:
        """Robust weight of every pixel."""
        return level.cover / (1 + self.fit.misfit / self.scale)


@dataclass(frozen=True)
class Effort:
    """When to stop."""

    iterations: int
    """Newton steps at most."""
    damping: float
    """First Levenberg damping."""
    linear_iterations: int = field(default_factory=lambda: _LINEAR_STEPS)
    """Steps of conjugate gradients, at most."""
    least: float = field(default_factory=lambda: _LEAST)
    """Least damping."""
    gain: float = field(default_factory=lambda: _STOP)
    """Relative decrease of the energy that is worth another step."""
    together: bool = True
    """Step in surface and light together, not in turn."""
    rival: float | None = None
    """Energy to be reached: give up when the last step's gain, taken again and again, would not."""

    def is_hopeless(self, iteration: int, before: float, now: float) -> bool:
        """Whether the rival is out of reach; one that is close is to be judged exactly."""
        if self.rival is None or now < _CLOSE * self.rival:
            return False
        return now - (self.iterations - iteration) * (before - now) > self.rival

    def moving(self, iteration: int) -> Moving:
        """What a step changes."""
        if self.together:
            return Moving.BOTH
        return Moving.LIGHT if iteration % 2 else Moving.SURFACE


@dataclass(frozen=True)
class Stage:
    """Where in the course these steps are: the level's number, and the start's name."""

    level: int = 0
    start: str = ""


Steps = Generator[tuple[Iterate, NewtonReport], None, Iterate]
"""Yields after every accepted step; returns the last state with its status."""


def robust_scale(misfit: Float[np.ndarray, " P"], cover: Float[np.ndarray, " P"]) -> float:
    """Squared residual at which a pixel counts half, from what is usual among those that count.

    Facets that span a step fit badly and hardly count: they say nothing about the others. Where
    most of the object is one plane it fits perfectly, and the median alone would call all the rest
    outliers.
    """
    every = slice(None, None, -(-len(misfit) // _LOOKED_AT))
    counts = cover[every]
    some = misfit[every][counts >= counts.max() / 2]
    usual, upper, top = np.quantile(some, (0.5, 0.8, 0.95))
    return max(CAUCHY**2 * float(max(usual, upper / _UPPER, top / _TOP)), 1e-12)


def robust_energy(level: PyramidLevel, misfit: Float[np.ndarray, " P"], scale: float) -> float:
    """Cauchy energy per pixel."""
    return float(level.cover @ np.log1p(misfit / scale) * scale / level.cover.sum(dtype=float))


def total_cost(terms: Sequence[Term], surface: Heights, fit: Fit) -> float:
    """Energy of all terms, as a share of the photos'."""
    return sum((term.cost(surface, fit.unit) for term in terms), start=0.0)


def assess(level: PyramidLevel, surface: Heights, light: Light, terms: Sequence[Term]) -> Iterate:
    """Evaluate a state with its own robust scale."""
    fit = evaluate(level, surface, light)
    scale = robust_scale(fit.misfit, level.cover)
    data = robust_energy(level, fit.misfit, scale)
    energy = data * (1 + total_cost(terms, surface, fit))
    return Iterate(surface, light, fit, energy, scale)


def newton(
    level: PyramidLevel,
    terms: Sequence[Term],
    surface: Heights,
    light: Light,
    order: int,
    effort: Effort,
    stage: Stage = Stage(),
) -> Steps:
    """Iterate until the energy hardly falls any more, or recall what that came to.

    Args:
        level: the photos.
        terms: what else costs energy, at this level.
        surface: where to start.
        light: where to start; it may be of another order.
        order: of the harmonics.
        effort: when to stop.
        stage: for the reports.
    """
    steps = _newton(level, terms, surface, light, order, effort, stage)
    place = page("newton", level, tuple(terms), surface, light, order, effort, stage)
    return steps if place is None else _remembered(place, level, steps)


def _remembered(place: Page, level: PyramidLevel, steps: Steps) -> Steps:
    """The same steps, or what is remembered of them."""
    found = place.recall(NewtonReport)
    if found is not None:
        surface, light, energy, scale, status, reports = found[0]
        fit = evaluate(level, surface, light)
        state = Iterate(surface, light, fit, energy, scale, Status(status))
        for report in reports:
            yield state, report
        return state
    begin, told = perf_counter(), []
    try:
        while True:
            state, report = next(steps)
            told.append(report)
            yield state, report
    except StopIteration as end:
        state = end.value
    reached = (state.surface, state.light, state.energy, state.scale, str(state.status))
    place.keep((*reached, tuple(told)), perf_counter() - begin, NewtonReport)
    return state


def _newton(
    level: PyramidLevel,
    terms: Sequence[Term],
    surface: Heights,
    light: Light,
    order: int,
    effort: Effort,
    stage: Stage,
) -> Steps:
    """Take the steps; arguments as for `newton`."""
    damping = effort.damping
    state = assess(level, surface, raised(level, light, order), terms)
    del surface  # large, and the states have their own
    if not np.isfinite(state.energy):
        return replace(state, status=Status.NOT_FINITE)
    smooth = smooth_modes(level, state.surface)
    status = Status.ITERATION_LIMIT
    for iteration in range(1, effort.iterations + 1):
        begin = perf_counter()
        step = _accepted(level, terms, state, smooth, effort, (iteration, damping))
        if isinstance(step, Status):
            status = step
            break
        scale, earlier = robust_scale(step.fit.misfit, level.cover), state.energy
        data = robust_energy(level, step.fit.misfit, scale)
        energy = data * (1 + total_cost(terms, step.surface, step.fit))
        state = Iterate(step.surface, step.light, step.fit, energy, scale)
        report = NewtonReport(
            level=stage.level,
            order=order,
            start=stage.start,
            iteration=iteration,
            energy=energy,
            terms=step.terms,
            damping=step.damping,
            refused=step.refused,
            linear_iterations=step.linear_iterations,
            seconds=perf_counter() - begin,
        )
        yield state, report
        damping = max(step.damping / _EASE, effort.least)
        # The first step may gain little because it went too far.
        small = step.before - step.after < effort.gain * step.before
        if effort.together and small and iteration > 1:
            status = Status.CONVERGED
            break
        if effort.is_hopeless(iteration, earlier, energy):
            break
    return replace(state, status=status)


@dataclass(frozen=True, eq=False)
class _Accepted:
    """A step that lowers the energy at the robust scale it was computed with."""

    surface: Heights
    light: Light
    fit: Fit
    before: float
    after: float
    terms: float
    damping: float
    refused: int
    linear_iterations: int


def _accepted(
    level: PyramidLevel,
    terms: Sequence[Term],
    state: Iterate,
    smooth: Modes,
    effort: Effort,
    now: tuple[int, float],
) -> _Accepted | Status:
    """Damp more and more until a step lowers the energy; or say why none does."""
    iteration, damping = now
    data = robust_energy(level, state.fit.misfit, state.scale)
    before = data * (1 + total_cost(terms, state.surface, state.fit))
    in_all = data * level.cover.sum(dtype=float)
    system = System(
        level, state.surface, state.light, state.fit, state.weights(level), smooth,
        [term.linearise(state.surface, state.fit, in_all) for term in terms],
    )  # fmt: skip
    taken, status = 0, Status.SINGULAR
    for refused in range(_TRIES):
        if system.damp(Damping(damping, _LIGHT_SHARE * damping)):
            status = Status.NO_DESCENT
            step = system.solve(_RTOL, effort.linear_iterations, moving=effort.moving(iteration))
            system.relax()
            taken += step.iterations
            trial = level.moved(state.surface, step.surface)
            light = state.light + step.light
            fit = evaluate(level, trial, light)
            cost = data * total_cost(terms, trial, fit)
            after = robust_energy(level, fit.misfit, state.scale) + cost
            if after < before:
                return _Accepted(trial, light, fit, before, after, cost, damping, refused, taken)
        damping = min(damping * _TIGHTEN, _MOST)
    return status

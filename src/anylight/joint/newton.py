"""Damped Gauss-Newton for surface and light at one level and one order."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from jaxtyping import Float

from .fit import Fit, Light, evaluate, raised
from .gauge import Prior, strain
from .known import KnownTerm, cost
from .level import Level, Surface
from .modes import smooth_modes
from .system import Damping, Moving, System

CAUCHY = 3.0
"""Scale of the robust penalty, in median residuals of a pixel."""
_LIGHT_SHARE = 0.1
_LEAST, _MOST = 1e-5, 1e6
_TRIES = 6


@dataclass(frozen=True)
class NewtonReport:
    """One accepted step."""

    level: int
    order: int
    start: str
    iteration: int
    energy: float
    """Energy per pixel after the step, prior included."""
    prior: float
    """The part of prior and known depth."""
    damping: float
    refused: int
    linear_iterations: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Estimate:
    """Where the solver is: surface, light, and how they fit."""

    surface: Surface
    light: Light
    fit: Fit
    energy: float
    """Per pixel, robust, with the prior."""
    scale: float
    """Squared residual at which a pixel's weight is one half."""

    def weights(self, level: Level) -> Float[np.ndarray, " P"]:
        """Robust weight of every pixel."""
        return level.cover / (1 + self.fit.misfit / self.scale)


def robust_scale(misfit: Float[np.ndarray, " P"]) -> float:
    """Squared residual at which a pixel counts half, from what is usual.

    Where most of the object is one plane it fits perfectly, and the median alone would call all the
    rest outliers.
    """
    usual, upper, top = np.quantile(misfit, (0.5, 0.8, 0.95))
    return max(CAUCHY**2 * float(max(usual, upper / 30, top / 1000)), 1e-12)


def robust_energy(level: Level, misfit: Float[np.ndarray, " P"], scale: float) -> float:
    """Cauchy energy per pixel."""
    return float(level.cover @ np.log1p(misfit / scale) * scale / level.cover.sum(dtype=float))


def pull(level: Level, surface: Surface, fit: Fit, prior: Prior) -> float:
    """Energy of the prior and of what is known from elsewhere, as a share of the data's."""
    strained = strain(level, fit.unit)
    return float(strained @ prior @ strained) + cost(level, surface)


def assess(level: Level, surface: Surface, light: Light, prior: Prior) -> Estimate:
    """Evaluate a state with its own robust scale."""
    fit = evaluate(level, surface, light)
    scale = robust_scale(fit.misfit)
    data = robust_energy(level, fit.misfit, scale)
    energy = data * (1 + pull(level, surface, fit, prior))
    return Estimate(surface, light, fit, energy, scale)


@dataclass(frozen=True)
class Effort:
    """When to stop."""

    iterations: int
    """Newton steps at most."""
    damping: float = 1e-3
    """First Levenberg damping."""
    linear_iterations: int = 15
    rtol: float = 0.02
    """When conjugate gradients stop."""
    stop: float = 1e-3
    """Relative decrease of the energy that ends it."""
    together: bool = True
    """Step in surface and light together, not in turn."""


@dataclass(frozen=True)
class Listener:
    """Who is told about every step, and under which name."""

    tell: Callable[[NewtonReport], None]
    level: int
    start: str


def newton(
    level: Level,
    surface: Surface,
    light: Light,
    order: int,
    prior: Prior,
    effort: Effort,
    listener: Listener | None = None,
) -> Estimate:
    """Iterate until the energy hardly falls any more.

    Args:
        level: the photos.
        surface: where to start.
        light: where to start; it may be of another order.
        order: of the harmonics.
        prior: what gauge strain costs, as a share of the residual energy.
        effort: when to stop.
        listener: told about every accepted step.
    """
    damping = effort.damping
    state = assess(level, surface, raised(light, order), prior)
    total = level.cover.sum(dtype=float)
    smooth = smooth_modes(level, state.surface)
    for iteration in range(1, effort.iterations + 1):
        begin = perf_counter()
        scale = state.scale
        data = robust_energy(level, state.fit.misfit, scale)
        before = data * (1 + pull(level, state.surface, state.fit, prior))
        known = None
        if level.known is not None:
            known = KnownTerm(level, state.surface, data * total)
        system = System(
            level, state.surface, state.light, state.fit, state.weights(level),
            prior * (data * total), smooth, known,
        )  # fmt: skip
        accepted, refused, taken = None, 0, 0
        for _ in range(_TRIES):
            system.damp(Damping(damping, _LIGHT_SHARE * damping))
            moving = Moving.BOTH
            if not effort.together:
                moving = Moving.LIGHT if iteration % 2 else Moving.SURFACE
            step = system.solve(effort.rtol, effort.linear_iterations, moving=moving)
            taken += step.iterations
            trial = level.centred(state.surface + step.surface)
            light = state.light + step.light
            fit = evaluate(level, trial, light)
            strained = data * pull(level, trial, fit, prior)
            after = robust_energy(level, fit.misfit, scale) + strained
            if after < before:
                accepted = (trial, light, fit, after, strained)
                break
            refused += 1
            damping = min(damping * 8, _MOST)
        del system, step
        if accepted is None:
            break
        trial, light, fit, after, strained = accepted
        scale = robust_scale(fit.misfit)
        pulled = pull(level, trial, fit, prior)
        energy = robust_energy(level, fit.misfit, scale) * (1 + pulled)
        state = Estimate(trial, light, fit, energy, scale)
        if listener is not None:
            report = NewtonReport(
                level=listener.level,
                order=order,
                start=listener.start,
                iteration=iteration,
                energy=energy,
                prior=strained,
                damping=damping,
                refused=refused,
                linear_iterations=taken,
                seconds=perf_counter() - begin,
            )
            listener.tell(report)
        damping = max(damping / 5, _LEAST)
        if effort.together and before - after < effort.stop * before:
            break
    return state

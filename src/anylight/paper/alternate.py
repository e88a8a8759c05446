"""Lagged block coordinate descent, as published (paper, section 5.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from jaxtyping import Float

from anylight.paper.albedo import update_albedo
from anylight.paper.depth import update_depth
from anylight.paper.energy import Energy, energy
from anylight.paper.lighting import raise_order, update_lighting
from anylight.paper.problem import Problem
from anylight.paper.state import State
from anylight.photometry.harmonics import num_harmonics


@dataclass(frozen=True)
class Report:
    """One iteration."""

    iteration: int
    order: int
    energy: float
    """True energy at the end of the iteration."""
    data: float
    """Its robust data term."""
    smoothness: float
    """Its total variation of the albedo."""
    after_albedo: float
    """Total energy after the albedo update."""
    after_lighting: float
    """Total energy after the lighting update."""
    blocks_rejected: int
    """Albedo and lighting updates that would have raised the energy."""
    depth_step: float
    depth_rejected: int
    albedo_iterations: int
    depth_iterations: int
    seconds: float


def first_state(problem: Problem, depth: Float[np.ndarray, " P"]) -> State:
    """The published start: median albedo, frontal light of first order."""
    lighting = np.zeros((problem.num_photos, problem.num_channels, num_harmonics(1)))
    lighting[..., 0] = 0.2
    lighting[..., 2] = -1.0  # towards −z: from the camera
    return State(depth.astype(float), problem.median.copy(), lighting)


def alternate(problem: Problem, state: State) -> Iterator[tuple[State, Report]]:
    """Update albedo, light and depth in turn; yield after every round.

    Weights are refreshed before each block, θ before each round. The true energy never rises: the
    first two blocks minimise a majoriser of it, the third backtracks on it, and a block that
    rounding (or a solve cut short) made worse is not taken.
    """
    options = problem.options
    reached = energy(problem, state)
    for iteration in range(1, options.iterations + 1):
        start = perf_counter()
        order = 1 if iteration <= options.first_order_iterations else 2
        state = raise_order(state, num_harmonics(order))
        normals, length = problem.normals(state.depth)
        trial, albedo_iterations = update_albedo(problem, state, normals)
        state, after_albedo, kept_albedo = _better(problem, state, reached, trial, normals)
        trial = update_lighting(problem, state, normals)
        state, after_lighting, kept_light = _better(problem, state, after_albedo, trial, normals)
        state, effort = update_depth(problem, state, normals, length, after_lighting.data)
        reached = Energy(effort.data_energy, after_lighting.smoothness)
        yield (
            state,
            Report(
                iteration=iteration,
                order=order,
                energy=reached.total,
                data=reached.data,
                smoothness=reached.smoothness,
                after_albedo=after_albedo.total,
                after_lighting=after_lighting.total,
                blocks_rejected=kept_albedo + kept_light,
                depth_step=effort.step,
                depth_rejected=effort.rejected,
                albedo_iterations=albedo_iterations,
                depth_iterations=effort.iterations,
                seconds=perf_counter() - start,
            ),
        )


def _better(
    problem: Problem,
    before: State,
    least: Energy,
    after: State,
    normals: Float[np.ndarray, "3 P"],
) -> tuple[State, Energy, bool]:
    """Take a step unless it raises the energy; also whether it was refused."""
    value = energy(problem, after, normals)
    if value.total <= least.total:
        return after, value, False
    return before, least, True

"""One albedo update: reweighted least squares with Huber total variation."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from anylight.kernels.variation import huber_step
from anylight.paper.problem import Problem
from anylight.paper.state import State


def update_albedo(
    problem: Problem, state: State, normals: Float[np.ndarray, "3 P"]
) -> tuple[State, int]:
    """Minimise the majorised energy over the albedo; also the conjugate-gradient steps taken.

    The majoriser of the energy is Σ w (ρ s − I)² + μ/2 Σ q |∇ρ|², q = 1 / max(γ, |∇ρ|).
    """
    diagonal, source = problem.kernels.albedo_system(problem.snapshot(state, normals))
    albedo = np.empty_like(state.albedo)
    steps = 0
    for channel, before in enumerate(state.albedo):
        # A pixel black in every photo has no data: a trace keeps its equation solvable.
        own = diagonal[channel] + 1e-8 * max(float(diagonal[channel].max()), 1e-30)
        solve = huber_step(
            problem.grid,
            before,
            (own, source[channel]),
            problem.total_smoothness,
            problem.options.huber_width,
        )
        albedo[channel] = problem.grid.collect(solve.solution)
        steps += solve.iterations
    return replace(state, albedo=albedo), steps

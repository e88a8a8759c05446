"""One albedo update: reweighted least squares with Huber total variation."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from anylight.kernels.surface import assemble
from anylight.linalg.pcg import jacobi, pcg
from anylight.model.problem import Problem
from anylight.model.state import State

from .energy import albedo_slopes

_RTOL = 1e-4
_MAX_ITERATIONS = 200


def update_albedo(
    problem: Problem, state: State, normals: Float[np.ndarray, "3 P"]
) -> tuple[State, int]:
    """Minimise the majorised energy over the albedo; also the conjugate-gradient steps taken.

    The majoriser of the energy is Σ w (ρ s − I)² + μ/2 Σ q |∇ρ|², q = 1 / max(γ, |∇ρ|).
    """
    diagonal, source = problem.kernels.albedo_system(problem.view(state, normals))
    near, shape = problem.albedo_neighbours, problem.grid.shape
    albedo = np.empty_like(state.albedo)
    steps = 0
    for channel in range(problem.num_channels):
        sizes = albedo_slopes(problem, state.albedo[channel])
        form = np.zeros((6, problem.domain.size), np.float32)
        # A pixel black in every photo has no data: a trace keeps its equation solvable.
        form[0] = diagonal[channel] + 1e-8 * max(float(diagonal[channel].max()), 1e-30)
        form[3] = form[5] = (
            problem.total_smoothness / 2 / np.maximum(problem.options.huber_width, sizes)
        )
        operator = assemble(form, near, shape).astype(np.float32)
        solve = pcg(
            operator,
            problem.grid.spread(source[channel].astype(np.float32)),
            jacobi(operator),
            _RTOL,
            _MAX_ITERATIONS,
            problem.grid.spread(state.albedo[channel].astype(np.float32)),
        )
        albedo[channel] = problem.grid.collect(solve.solution)
        steps += solve.iterations
    return replace(state, albedo=albedo), steps

"""One depth update: a linearised least-squares step with θ lagged, and backtracking."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from anylight.geometry.camera import Orthographic
from anylight.kernels.pixel_differences import assemble, pull_back, scatter
from anylight.linalg.multigrid import Multigrid, Stencil
from anylight.linalg.pcg import pcg
from anylight.paper.problem import Problem
from anylight.paper.state import State

_RTOL = 1e-3
_MAX_ITERATIONS = 100
_MAX_HALVINGS = 20
_TRACE = 1e-7
"""Share of the mean diagonal added to it: holds the free constant of an orthographic depth."""


@dataclass(frozen=True)
class DepthEffort:
    """What a depth update did."""

    step: float
    """Accepted share of the Newton step; zero if the depth was kept."""
    rejected: int
    """Trial steps that would have raised the energy."""
    iterations: int
    data_energy: float
    """Data term of the returned state."""


def update_depth(
    problem: Problem,
    state: State,
    normals: Float[np.ndarray, "3 P"],
    length: Float[np.ndarray, " P"],
    data_energy: float,
) -> tuple[State, DepthEffort]:
    """Step along the linearised minimiser as far as the true energy does not rise.

    Args:
        problem: what is minimised.
        state: where we are.
        normals: unit normals of the current depth.
        length: their lengths |ñ| before normalisation: the lagged θ.
        data_energy: data term of the state.
    """
    operator, downhill = _system(problem, state, normals, length)
    solve = pcg(operator, downhill, Multigrid(operator), _RTOL, _MAX_ITERATIONS)
    change = problem.grid.collect(solve.solution).astype(float)
    if not np.isfinite(change).all():
        return state, DepthEffort(0.0, 1, solve.iterations, data_energy)
    step = 1.0
    for rejected in range(_MAX_HALVINGS + 1):
        trial = replace(state, depth=state.depth + step * change)
        if isinstance(problem.camera, Orthographic) or trial.depth.min() > 0:
            ahead, _ = problem.normals(trial.depth)
            value = problem.kernels.photometric_energy(problem.snapshot(trial, ahead))
            if value <= data_energy:
                return trial, DepthEffort(step, rejected, solve.iterations, value)
        step /= 2
    return state, DepthEffort(0.0, _MAX_HALVINGS + 1, solve.iterations, data_energy)


def _system(
    problem: Problem,
    state: State,
    normals: Float[np.ndarray, "3 P"],
    length: Float[np.ndarray, " P"],
) -> tuple[Stencil, Float[np.ndarray, "h w"]]:
    """Operator and right-hand side of the linearised step."""
    system = problem.kernels.depth_system(problem.snapshot(state, normals))
    form = np.empty((6, problem.domain.size), np.float32)
    gradient = np.empty((3, problem.domain.size), np.float32)
    pull_back(*system, length, problem.camera.numbers, problem.domain.pixels, form, gradient)
    del system
    near, grid = problem.depth_neighbours, problem.grid
    operator = assemble(form, near, grid.shape)
    trace = _TRACE * float(operator.centre.sum()) / problem.domain.size
    operator.centre[grid.inside] += trace
    return operator.astype(np.float32), -scatter(gradient, near, grid.shape).astype(np.float32)

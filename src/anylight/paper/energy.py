"""The energy (paper, eq. 10): robust data term plus Huber total variation of the albedo."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from anylight.kernels.variation import gradient_sizes, huber
from anylight.paper.problem import Problem
from anylight.paper.state import State


class Energy(NamedTuple):
    """The two terms."""

    data: float
    smoothness: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.data + self.smoothness


def energy(
    problem: Problem, state: State, normals: Float[np.ndarray, "3 P"] | None = None
) -> Energy:
    """Evaluate the true energy: unit normals of the current depth, no lagging."""
    if normals is None:
        normals, _ = problem.normals(state.depth)
    data = problem.kernels.photometric_energy(problem.snapshot(state, normals))
    return Energy(data, smoothness(problem, state.albedo))


def smoothness(problem: Problem, albedo: Float[np.ndarray, "C P"]) -> float:
    """μ Σ |∇ρ|_γ over channels and pixels; forward differences, zero over the rim."""
    width, near = problem.options.huber_width, problem.albedo_neighbours
    sizes = (gradient_sizes(problem.grid, near, channel) for channel in albedo)
    return problem.total_smoothness * sum(float(huber(s, width).sum()) for s in sizes)

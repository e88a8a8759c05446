"""The energy (paper, eq. 10): robust data term plus Huber total variation of the albedo."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from anylight.kernels.surface import slope_sizes
from anylight.model.problem import Problem
from anylight.model.state import State


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
    data = problem.kernels.photometric_energy(problem.view(state, normals))
    return Energy(data, smoothness(problem, state.albedo))


def albedo_slopes(problem: Problem, albedo: Float[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
    """|∇ρ| of one channel, forward differences, zero over the rim."""
    sizes = np.empty(problem.domain.size)
    slope_sizes(problem.grid.spread(albedo).ravel(), problem.albedo_neighbours, sizes)
    return sizes


def smoothness(problem: Problem, albedo: Float[np.ndarray, "C P"]) -> float:
    """μ Σ |∇ρ|_γ over channels and pixels."""
    width = problem.options.huber_width
    total = sum(float(huber(albedo_slopes(problem, c), width).sum()) for c in albedo)
    return problem.total_smoothness * total


def huber(size: Float[np.ndarray, " P"], width: float) -> Float[np.ndarray, " P"]:
    """Huber penalty of sizes: s²/2γ up to γ, s − γ/2 beyond."""
    return np.where(size <= width, size**2 / (2 * width), size - width / 2)

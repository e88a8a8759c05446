"""One lighting update: a small least-squares problem per photo and channel."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from anylight.paper.problem import Problem
from anylight.paper.state import State

_RCOND = 1e-8


def update_lighting(problem: Problem, state: State, normals: Float[np.ndarray, "3 P"]) -> State:
    """Minimise the majorised energy over the light of every photo and channel.

    Combinations of harmonics that the normals do not excite (a plane, a constant start) keep the
    light they have.
    """
    gram, source = problem.kernels.lighting_system(problem.snapshot(state, normals))
    num = state.lighting.shape[2]
    gram, source = gram[:, :, :num, :num], source[:, :, :num]
    lacking = source - np.einsum("icab,icb->ica", gram, state.lighting)
    inverse = np.linalg.pinv(gram, rcond=_RCOND, hermitian=True)
    change = np.einsum("icab,icb->ica", inverse, lacking)
    return replace(state, lighting=state.lighting + change)


def raise_order(state: State, num_harmonics: int) -> State:
    """Let more harmonics take part, starting from zero."""
    lacking = num_harmonics - state.lighting.shape[2]
    if lacking <= 0:
        return state
    return replace(state, lighting=np.pad(state.lighting, ((0, 0), (0, 0), (0, lacking))))

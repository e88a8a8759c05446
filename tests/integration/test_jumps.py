"""Normals that no continuous surface has give one that jumps."""

import numpy as np

from anylight.geometry.camera import Orthographic
from anylight.geometry.domain import Domain
from anylight.integration import jumps


def test_two_ramps_that_climb_opposite_ways_keep_their_slopes(monkeypatch):
    mask = np.ones((40, 60), bool)
    columns = np.indices(mask.shape)[1]
    slope = np.where(columns < 30, 0.3, -0.3)
    normals = np.stack([0 * slope, slope, -np.ones(mask.shape)]).reshape(3, -1)
    normals /= np.linalg.norm(normals, axis=0)
    wrong = []
    for rounds in (1, 40):
        monkeypatch.setattr(jumps, "_ROUNDS", rounds)
        found = jumps.step_heights(Orthographic((0.0, 0.0)), Domain(mask), normals)
        steps = np.diff(found.reshape(mask.shape), axis=0)
        wrong.append(np.abs(steps - slope[1:])[:, [27, 28, 31, 32]].mean())
    assert wrong[0] > 0.05
    assert wrong[1] < 0.2 * wrong[0]

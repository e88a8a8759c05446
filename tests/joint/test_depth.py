"""Normals of two planes with a step between them give two planes with a step."""

import numpy as np

from anylight.geometry.camera import Orthographic
from anylight.geometry.domain import Domain
from anylight.joint.depth import step_heights


def test_a_ramp_beside_a_plane_keeps_both_slopes():
    mask = np.ones((40, 60), bool)
    columns = np.indices(mask.shape)[1]
    slope = np.where(columns < 30, 0.3, -0.2)
    normals = np.stack([slope, 0 * slope, -np.ones(mask.shape)]).reshape(3, -1)
    normals /= np.linalg.norm(normals, axis=0)
    height = step_heights(Orthographic((0.0, 0.0)), Domain(mask), normals).reshape(mask.shape)
    steps = np.diff(height, axis=1)
    np.testing.assert_allclose(steps[:, :28], 0.3, atol=0.01)
    np.testing.assert_allclose(steps[:, 31:], -0.2, atol=0.01)

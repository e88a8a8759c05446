"""The start without silhouette finds slopes up to tilt, relief and sign."""

import numpy as np
import pytest

from anylight.joint.course.integrable import integrable_surface, least_curl, variety
from anylight.joint.problem.packed import pack
from anylight.joint.problem.pyramid import PyramidLevel
from tests.joint.scenes import blob_level, rendered_level


def test_slopes_hidden_in_components_are_found(rng):
    mask = np.ones((40, 50), bool)
    rows, columns = np.indices(mask.shape)
    height = 3 * np.sin(columns / 6.0) * np.cos(rows / 8.0) + np.sin(rows * columns / 300.0)
    q, p = (part[mask] for part in np.gradient(height))
    third = rng.standard_normal(mask.sum())
    mix = rng.standard_normal((3, 3))
    level = blob_level(rng)
    flat = PyramidLevel(
        mask, level.camera, pack(np.zeros((mask.sum(), 4), np.float32)), 1, np.ones(mask.sum())
    )
    found = least_curl(flat, mix @ np.stack([p, q, third]))
    for wanted, own in zip((p, q), found, strict=True):
        assert abs(np.corrcoef(wanted, own)[0, 1]) > 0.98


@pytest.mark.parametrize("shape", ["drapery", "bust"])
def test_a_rendered_scene_starts_near_its_shape(shape):
    level, truth = rendered_level(images=10, shape=shape)
    unit, _ = level.normals(*level.slopes(integrable_surface(level)))
    wanted = truth.normals[truth.mask].T
    agree = [abs(np.corrcoef(unit[axis], wanted[axis])[0, 1]) for axis in (0, 1)]
    assert min(agree) > 0.6
    assert variety(level) > 0.1

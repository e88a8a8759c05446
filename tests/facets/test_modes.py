"""Smooth modes are orthonormal, change no mean and are evaluated the same way everywhere."""

import numpy as np
import pytest

from anylight.facets.modes import smooth_modes
from anylight.joint.course.starts import balloon_surface
from tests.joint.scenes import rendered_level


@pytest.fixture(scope="module")
def scene():
    level, _ = rendered_level(images=4)
    return level, smooth_modes(level, balloon_surface(level, 0.1))


def dense(level, modes):
    found = []
    for amounts in np.eye(len(modes)):
        field = np.zeros(level.grid.shape)
        modes.add(amounts, field)
        found.append(field)
    return np.stack(found)


def test_modes_are_orthonormal_and_change_no_mean(scene):
    level, modes = scene
    fields = dense(level, modes)
    assert len(modes) == 23
    np.testing.assert_allclose(np.einsum("aij,bij->ab", fields, fields), np.eye(23), atol=1e-6)
    np.testing.assert_allclose(fields.sum(axis=(1, 2)), 0, atol=1e-6)


def test_collecting_is_adjoint_to_adding(scene, rng):
    level, modes = scene
    field = rng.standard_normal(level.grid.shape)
    expected = np.einsum("aij,ij->a", dense(level, modes), field)
    np.testing.assert_allclose(modes.collect(field), expected, rtol=1e-9)


def test_corner_values_are_those_of_the_field(scene):
    level, modes = scene
    fields = dense(level, modes).reshape(len(modes), -1)
    pixels, width = np.array([0, 5, level.size - 1]), level.grid.shape[1]
    corners = modes.at_corners(pixels)
    for values, step in zip(corners, (0, 1, width, width + 1), strict=True):
        np.testing.assert_allclose(values, fields[:, level.here[pixels] + step], atol=1e-12)


def test_a_flat_surface_has_fewer_modes(scene):
    level, _ = scene
    assert len(smooth_modes(level, np.zeros(level.grid.shape))) == 20

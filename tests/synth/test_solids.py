import numpy as np
import pytest

from anylight.synth.shapes import SHAPE_NAMES, embedded_shape
from anylight.synth.solids import RADIUS, Solid, torus


@pytest.mark.parametrize("name", SHAPE_NAMES)
def test_hits_lie_on_the_surface_with_unit_normals_towards_the_ray(name, rng):
    shape = embedded_shape(name)
    origins = np.column_stack([rng.uniform(-1, 1, (2000, 2)), np.full(2000, 5.0)])
    directions = np.broadcast_to([0.0, 0.0, -1.0], origins.shape)
    hits = shape.trace(origins, directions)
    found = hits.is_hit
    assert 0.1 < found.mean() < 1
    assert np.abs(shape.implicit(hits.points[found])).max() < 1e-9
    assert np.allclose(np.linalg.norm(hits.normals[found], axis=1), 1)
    assert (hits.normals[found, 2] > -1e-6).mean() > 0.999


@pytest.mark.parametrize("name", SHAPE_NAMES)
def test_no_ray_jumps_over_the_surface(name, rng):
    # Everything between the camera and the hit is outside.
    shape = embedded_shape(name)
    origins = np.column_stack([rng.uniform(-0.9, 0.9, (300, 2)), np.full(300, 5.0)])
    directions = np.broadcast_to([0.0, 0.0, -1.0], origins.shape)
    hits = shape.trace(origins, directions)
    depth = np.where(hits.is_hit, 5.0 - hits.points[:, 2], 5.0 + RADIUS)
    share = np.linspace(0.5, 1, 4000)[:, None]
    before = origins[None] + (share * (depth - 2e-3))[..., None] * directions
    inside = shape.implicit(before) < 0
    assert not inside.any(axis=0)[hits.is_hit].any()
    # rays that miss may at most graze: their longest stay inside is shorter than a step
    assert inside.sum(axis=0).max() <= 1


@pytest.mark.parametrize("name", SHAPE_NAMES)
def test_shapes_fit_their_bounding_ball(name):
    samples = embedded_shape(name).samples()
    assert np.linalg.norm(samples, axis=1).max() < RADIUS - 0.05
    assert np.ptp(samples[:, :2], axis=0).max() > 1.5


def test_torus_against_its_analytic_intersection():
    # Looking down the ring's axis, the tube's top is at √(r² − (R − ρ)²).
    solid = Solid(lambda p: torus(p, (0, 0, 0), (0, 0, 1), (0.7, 0.2)))
    across = np.linspace(0.51, 0.89, 50)
    origins = np.column_stack([across, np.zeros(50), np.full(50, 4.0)])
    hits = solid.trace(origins, np.broadcast_to([0.0, 0.0, -1.0], origins.shape))
    assert np.allclose(hits.points[:, 2], np.sqrt(0.04 - (0.7 - across) ** 2), atol=1e-9)
    expected = np.column_stack([(across - 0.7) / 0.2, np.zeros(50), hits.points[:, 2] / 0.2])
    assert np.allclose(hits.normals, expected, atol=1e-6)

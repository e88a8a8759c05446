"""Normals of single pixels under a known light."""

import numpy as np

from anylight.geometry.camera import Orthographic
from anylight.geometry.normals import angles_deg
from anylight.joint.pixels.normals import pixel_normals
from anylight.joint.problem.fit import evaluate
from anylight.joint.problem.packed import pack
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.photometry.harmonics import degrees, harmonics
from tests.joint.scenes import blob_level


def lit_level(rng, order=4, camera=None):
    """A level whose photos follow from known normals, light and albedo."""
    level = blob_level(rng) if camera is None else blob_level(rng, camera)
    unit, _ = level.normals(*(0.02 * rng.standard_normal((2, level.size))))
    light = rng.standard_normal((len(harmonics(unit[:, :1].T, order)[0]), 15))
    light[0] += 3
    albedo = np.repeat(0.2 + rng.random((level.size, 3)), 5, axis=1)
    photos = albedo * (harmonics(unit.T.astype(float), order) @ light)
    lit = PyramidLevel(level.mask, level.camera, pack(photos.astype(np.float32)), 3, level.cover)
    return lit, unit, light


def test_every_normal_is_found(rng):
    level, unit, light = lit_level(rng)
    found = pixel_normals(level, light).fit
    error = angles_deg(found.unit.T.astype(float), unit.T.astype(float))
    assert np.quantile(error, 0.95) < 0.1
    assert np.quantile(found.misfit, 0.95) < 1e-5


def test_hills_and_hollows_look_alike_under_parallel_rays(rng):
    level, _, light = lit_level(rng, camera=Orthographic((10.0, 8.0)))
    surface = rng.standard_normal(level.grid.shape) * level.grid.inside
    signs = np.array([(-1.0) ** m for d in degrees(4) for m in range(-d, d + 1)])
    one, other = evaluate(level, surface, light), evaluate(level, -surface, light * signs[:, None])
    assert np.allclose(one.misfit, other.misfit, rtol=1e-3, atol=1e-4)

"""Newton steps of single pixels: the compiled pass against steps that can be read."""

from itertools import pairwise

import numpy as np
import pytest

from anylight.geometry.camera import Orthographic
from anylight.joint.pixels.normals import curvature
from anylight.joint.problem.fit import evaluate_slopes, polynomial
from anylight.kernels.facing import face
from anylight.kernels.monomials import EVERYWHERE
from tests.joint.test_pixels import lit_level

DAMPING, SETTLED = 1e-3, 1e-3


def faced(level, light, p, q, steps):
    own, coefficients = polynomial(level, light)
    p, q = p.astype(np.float32), q.astype(np.float32)
    unit, blocks = np.empty((2, 3, level.size), np.float32)
    length, misfit = np.empty((2, level.size), np.float32)
    albedo = np.empty((level.size, level.num_channels), np.float32)
    face(
        own.exponents, own.fields, EVERYWHERE, coefficients, level.camera.numbers,
        level.domain.pixels, level.photos.numbers, level.photos.scale, level.num_channels, steps,
        DAMPING, SETTLED, p, q, unit, length, albedo, misfit, blocks,
    )  # fmt: skip
    return p, q, misfit, albedo, unit, blocks


def stepped(level, light, p, q, steps):
    """All pixels go on to the end; those that have settled are put back."""
    fit, damping = evaluate_slopes(level, p, q, light), np.full(level.size, DAMPING)
    moves = np.full(level.size, True)
    every = slice(0, level.size)
    for _ in range(steps):
        (uu, uv, vv), gradient = curvature(level, light, fit, every)
        uu, vv = uu * (1 + damping), vv * (1 + damping)
        det = uu * vv - uv**2
        ahead_p = p - (vv * gradient[0] - uv * gradient[1]) / det
        ahead_q = q - (uu * gradient[1] - uv * gradient[0]) / det
        trial = evaluate_slopes(level, ahead_p, ahead_q, light)
        better = trial.misfit < fit.misfit
        taken, gained = moves & better, trial.misfit < (1 - SETTLED) * fit.misfit
        p, q = np.where(taken, ahead_p, p), np.where(taken, ahead_q, q)
        fit, damping = evaluate_slopes(level, p, q, light), damping * np.where(better, 0.2, 10)
        moves &= ~better | gained
    return p, q, fit


@pytest.mark.twin(
    "kernels.facing.face", "kernels.facing._step_tile", "kernels.facing._turn_tile",
    "kernels.facing._gather_tile",
)  # fmt: skip
@pytest.mark.parametrize("camera", [None, Orthographic((10.0, 8.0))], ids=["lens", "parallel"])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_steps_are_those_of_the_readable_twin(rng, steps, camera):
    level, _, light = lit_level(rng, camera=camera)
    start = 0.01 * rng.standard_normal((2, level.size))
    p, q, misfit, albedo, unit, blocks = faced(level, light, *start, steps)
    wanted_p, wanted_q, fit = stepped(level, light, *start, steps)
    alike = np.hypot(p - wanted_p, q - wanted_q) < 1e-3 * np.hypot(wanted_p, wanted_q)
    assert alike.mean() > 0.95  # rounding decides where two steps are equally good
    assert np.allclose(misfit[alike], fit.misfit[alike], rtol=0.02, atol=1e-4)
    assert np.allclose(albedo[alike], fit.albedo[alike], atol=1e-2)
    assert np.allclose(unit[:, alike], fit.unit[:, alike], atol=1e-2)
    own, _ = curvature(level, light, fit, slice(0, level.size))
    assert np.allclose(blocks[:, alike], own[:, alike], rtol=0.05, atol=0.01 * own.mean())


def test_no_step_makes_it_worse_and_all_pixels_are_there(rng):
    level, _, light = lit_level(rng)
    start = 0.02 * rng.standard_normal((2, level.size))
    misfits = [faced(level, light, *start, steps)[2] for steps in (0, 1, 2, 5)]
    for before, after in pairwise(misfits):
        assert (after <= before).all()
        assert after.sum() < 0.9 * before.sum()


def test_slopes_beyond_all_measure_are_not_tried(rng):
    level, _, light = lit_level(rng)
    dark = np.zeros_like(light)
    start = 0.02 * rng.standard_normal((2, level.size))
    p, q, misfit, *_ = faced(level, dark, *start, 3)
    assert np.array_equal([p, q], start.astype(np.float32))
    assert np.allclose(misfit, (level.photos.values() ** 2).sum(axis=1), rtol=1e-5)

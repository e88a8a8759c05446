"""Lamps that are near: found, explained, and not imagined where they are far."""

import numpy as np
import pytest

from anylight.geometry.normals import angles_deg
from anylight.io.archive import load_reconstruction, save_reconstruction
from anylight.joint.course.closeness import between
from anylight.joint.course.plan import Plan
from anylight.joint.explanation import explain
from anylight.joint.options import DefaultOptions
from anylight.joint.paint.evening import evened
from anylight.kernels.monomials import place_fields
from anylight.metrics import evaluate
from anylight.model.misfit import photo_misfits
from anylight.model.samples import is_usable, white_level
from anylight.photometry.near import NearLight, brightening, near_response
from anylight.pipeline import reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from tests.joint.scenes import rendered_level

_SCENE = {"shape": "medallion", "albedo": "voronoi", "height": 72, "images": 12}


@pytest.mark.slow
def test_near_lamps_are_found(tmp_path):
    near = render(SynthOptions(**_SCENE, lamp_distance=2.0))
    plan = Plan(orders=(1, 2, 4, 6, 8), near=False)
    white = white_level(near.capture)
    options = DefaultOptions(shadows="off")
    ignored = run_out(explain(near.capture, white, options, plan=plan))
    mask = np.asarray(near.capture.mask)
    before = angles_deg(ignored.normals.T, near.truth.normals[mask]).mean()
    found = reconstruct(near.capture, shadows="off")
    scene = found.reconstruction
    assert found.record["lamp_distance"] == pytest.approx(2.0, rel=0.2)
    assert evaluate(scene, near.truth).mae_deg < 0.7 * before
    assert found.record["noise"] < 0.5 * ignored.noise
    misfits = photo_misfits(scene, near.capture.photos, near.capture.full_scale)
    assert max(misfits) < 0.05
    save_reconstruction(tmp_path / "near.npz", scene)
    back = load_reconstruction(tmp_path / "near.npz")
    assert back.closeness == pytest.approx(scene.closeness)
    assert np.allclose(back.near_light, scene.near_light, rtol=1e-5, atol=1e-6)


def run_out(steps):
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_the_best_distance_lies_between_those_that_are_tried():
    tried = np.array([0.35, 0.5, 0.7])
    left = 2e-3 + 1e-2 * np.log(tried / 0.55) ** 2
    assert between(tried, left) == pytest.approx(0.55, abs=0.03)
    assert between(tried, np.array([1.0, 2.0, 5.0])) == 0.35
    assert between(tried, np.array([5.0, 2.0, 1.0])) == 0.7
    assert between(tried, np.array([1.0, 5.0, 1.1])) == 0.35


def test_far_lamps_stay_far():
    far = render(SynthOptions(**{**_SCENE, "height": 48}))
    result = reconstruct(far.capture, shadows="off")
    assert result.record["lamp_distance"] is None
    assert result.reconstruction.near_light is None


@pytest.mark.parametrize("bits", [8, 16])
def test_evened_photos_are_those_of_the_middle(bits, rng):
    capture = render(SynthOptions(**{**_SCENE, "height": 40, "bits": bits})).capture
    light = np.zeros((12, 3, 25))
    light[..., 0] = 2.0
    light[..., 1:9] = 0.2 * rng.standard_normal((12, 3, 8))
    mask = np.asarray(capture.mask)
    unit = np.tile([[0.0], [0.6], [-0.8]], int(mask.sum())).astype(np.float32)
    places = np.zeros((int(mask.sum()), 3))
    near = NearLight(0.5, light)
    stored = capture.photos[:, mask]
    kept = is_usable(stored)
    same, white = evened(capture, 1000.0, near, unit, place_fields(places))
    made = same.photos[:, mask]
    assert np.allclose(made[kept], white / 1000 * stored[kept], atol=1, rtol=0.02)
    assert not is_usable(made[~kept]).any()
    beside, _ = evened(capture, 1000.0, near, unit, place_fields(places + [0.4, 0, 0]))
    wanted = near_response(unit.T.astype(float), places + [0.4, 0, 0], 4, 0.5)
    more = brightening(near, unit.T.astype(float), wanted)[:, :, 0]
    ratio = np.median(made / np.maximum(beside.photos[:, mask], 1), axis=1)
    assert np.allclose(ratio, more, rtol=0.05)
    assert evened(capture, 1000.0, None, unit, None) == (capture, 1000.0)


def test_fields_are_those_of_the_surface_and_nothing_under_far_lamps():
    level, _ = rendered_level(images=4)
    assert level.fields(np.zeros(level.grid.shape)) is None

"""The phase as a whole, on rendered scenes with and without cast shadows."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from anylight.geometry.normals import angles_deg
from anylight.io.archive import load_reconstruction, save_reconstruction
from anylight.joint.shadows import phase
from anylight.joint.shadows.levels import Blocks, first_state, reduced
from anylight.metrics import evaluate
from anylight.model.misfit import photo_misfits
from anylight.model.rerendering import lamp_light
from anylight.model.samples import white_level
from anylight.model.status import Status
from anylight.photometry.environment import project_lamps
from anylight.photometry.shading import shading
from anylight.pipeline import iterate, reconstruct
from anylight.sky import Sky, lamp_directions
from anylight.synth.options import SynthOptions
from anylight.synth.render import render

_MANY = SynthOptions(shape="coral", albedo="natural", height=64, images=10)


@pytest.fixture(scope="module")
def shadowed():
    return render(SynthOptions(**{**_asdict(_MANY), "cast_shadows": True}))


def _asdict(options):
    return {name: getattr(options, name) for name in options.__struct_fields__}


@pytest.fixture(scope="module")
def found(shadowed):
    return reconstruct(shadowed.capture)


@pytest.fixture(scope="module")
def ignored(shadowed):
    return reconstruct(shadowed.capture, shadows="off")


def test_shadows_are_found_and_explained(shadowed, found, ignored):
    before = evaluate(ignored.reconstruction, shadowed.truth).mae_deg
    after = evaluate(found.reconstruction, shadowed.truth).mae_deg
    assert before > 8
    assert after < 0.6 * before
    said = found.record["shadows"]
    assert said["explained"]
    assert said["log_energy"]["hiding"] < said["log_energy"]["open"]
    assert said["log_energy"]["shadows"] < said["log_energy"]["course"]
    assert ignored.record["shadows"] is None
    assert ignored.reconstruction.openness is None


def test_the_re_rendering_knows_shadows(shadowed, found, ignored):
    capture = shadowed.capture

    def misfit(result):
        scene = result.reconstruction
        return float(np.median(photo_misfits(scene, capture.photos, capture.full_scale)))

    assert misfit(found) < 0.6 * misfit(ignored)


def test_openness_is_that_of_the_true_shape(shadowed, found):
    truth, mask = shadowed.truth, shadowed.truth.mask
    sky = Sky(mask, truth.camera, lamp_directions())
    unit = truth.normals[mask].astype(np.float32)
    sine = sky.rise(np.where(mask, truth.depth, 0).astype(np.float32), sky.pixels)
    through = sky.passes(unit, sine, sky.pixels, sky.aim(sky.pixels))
    cosine = np.maximum(unit @ sky.lamps.T, 0)
    true = (through * cosine).sum(axis=1) / cosine.sum(axis=1)
    openness = found.reconstruction.openness[mask]
    assert ((openness >= 0) & (openness <= 1)).all()
    assert np.corrcoef(openness, true)[0, 1] > 0.7
    assert np.abs(openness - true).mean() < 0.05


def test_what_is_hidden_is_less_sure(shadowed, found):
    scene = found.reconstruction
    error = angles_deg(scene.normals, shadowed.truth.normals)[scene.mask]
    sure = scene.confidence[scene.mask]
    order = np.argsort(sure)
    unsure, certain = error[order[: len(order) // 4]], error[order[-len(order) // 4 :]]
    # By how much depends on tilt and relief, which rounding alone moves at this size.
    assert unsure.mean() > certain.mean()
    assert spearmanr(sure, scene.openness[scene.mask]).statistic > 0.6


def test_lamps_survive_the_archive(tmp_path, found):
    scene = found.reconstruction
    save_reconstruction(tmp_path / "result.npz", scene)
    again = load_reconstruction(tmp_path / "result.npz")
    np.testing.assert_allclose(again.lamps, scene.lamps, rtol=1e-6)
    np.testing.assert_allclose(again.openness, scene.openness, rtol=1e-6)
    np.testing.assert_allclose(again.bounce, scene.bounce, rtol=1e-6)
    assert (scene.lamps >= 0).all()


def test_photos_without_shadows_keep_what_the_course_found(monkeypatch):
    monkeypatch.setattr(phase, "_COARSE_STEPS", 100)
    clean = render(SynthOptions(**{**_asdict(_MANY), "noise": 0.01}))
    looked, plain = (reconstruct(clean.capture, order=4, shadows=s) for s in ("auto", "off"))
    assert not looked.record["shadows"]["explained"]
    for name in ("depth", "normals", "albedo", "lighting", "confidence"):
        ours, theirs = (getattr(r.reconstruction, name) for r in (looked, plain))
        np.testing.assert_array_equal(ours, theirs)


def test_photos_that_are_explained_are_not_examined():
    clean = render(SynthOptions(shape="vase", height=48, images=10))
    said = reconstruct(clean.capture).record["shadows"]
    assert not said["explained"]
    assert said["log_energy"] == {}


def test_it_can_be_stopped_in_the_middle(shadowed):
    run = iterate(shadowed.capture, order=2)
    for progress in run:
        if progress.stage == "with shadows":
            run.stop()
    result = run.result
    assert result.status is Status.INTERRUPTED
    assert result.reconstruction.openness is None
    assert np.isfinite(result.reconstruction.normals[shadowed.capture.mask]).all()


def test_few_photos_or_pixels_are_said(shadowed):
    capture = shadowed.capture
    truth, mask = shadowed.truth, shadowed.truth.mask
    shape = (np.log(truth.depth[mask]), truth.normals[mask].T.astype(np.float32))
    albedo = truth.albedo[mask].T.astype(np.float32)

    def verdict(some):
        steps = phase.see(some, white_level(some), *shape, albedo, 0.1)
        with pytest.raises(StopIteration) as end:
            next(steps)
        return end.value.value.verdict

    assert "photos or more" in verdict(capture.some(np.arange(5)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phase, "_LEAST_PIXELS", 10**6)
        assert "too few pixels" in verdict(capture)


def test_a_lamp_casts_the_shadow_that_the_renderer_casts(shadowed):
    """The solver's horizons against the renderer's, which share no code."""
    truth = shadowed.truth
    rows, columns = np.nonzero(truth.mask)
    lamp = np.array([[-0.8, 0.0, -0.6]], np.float32)
    light = lamp_light(truth, np.ones((1, 1, 1)), lamp, rows, columns)[0, 0]
    free = np.maximum(truth.normals[rows, columns] @ lamp[0], 0)
    assert (light <= free + 1e-5).all()
    assert (light < 0.5 * free).mean() > 0.02


def test_lamps_as_harmonics():
    rng = np.random.default_rng(0)
    directions = lamp_directions(200)
    strength = rng.uniform(0, 1, (2, 3, 200)) ** 4
    normals = lamp_directions(64).astype(float)
    exact = np.einsum("mcd,nd->mcn", strength, np.maximum(normals @ directions.T, 0))
    close = shading(project_lamps(directions.astype(float), strength, 8), normals)
    assert np.abs(close - exact).max() < 0.03 * exact.mean()


def test_blocks_average_pixels_and_leave_out_what_is_saturated():
    capture = render(SynthOptions(shape="vase", height=40, images=10, bits=8)).capture
    photos = capture.photos.copy()
    row, column = np.argwhere(capture.mask)[len(np.argwhere(capture.mask)) // 2]
    row, column = row // 2 * 2, column // 2 * 2
    assert capture.mask[row : row + 2, column : column + 2].all()
    photos[3, row, column] = 255
    hurt = type(capture)(photos, capture.mask, capture.camera)
    white = white_level(capture)
    scene = reduced(hurt, white, 2)
    blocks = Blocks(np.asarray(capture.mask), 2)
    number = np.flatnonzero(
        (np.argwhere(blocks.coarse) == [row // 2, column // 2]).all(axis=1)
    ).item()
    weight = scene.weight.reshape(-1, 3, 10)
    assert (weight[number, :, 3] == 0.75).all()
    assert (weight[number, :, 2] == 1).all()
    others = photos[3, row : row + 2, column : column + 2].reshape(4, 3)[1:].mean(axis=0) / white
    np.testing.assert_allclose(scene.photos.reshape(-1, 3, 10)[number, :, 3], others, rtol=1e-5)
    state = first_state(
        scene, blocks, np.zeros(capture.domain().size),
        np.tile([[0.0], [0.0], [-1.0]], capture.domain().size).astype(np.float32),
        np.ones((3, capture.domain().size), np.float32), 16,
    )  # fmt: skip
    assert np.isfinite(state.paint).all()
    assert state.light.shape == (16, 30)


def test_photos_that_did_not_decide_get_their_light_too(shadowed, monkeypatch):
    for name, value in (("_MOST_PHOTOS", 6), ("_COARSE_STEPS", 80), ("_FINE_STEPS", 60)):
        monkeypatch.setattr(phase, name, value)
    capture = shadowed.capture
    scene = reconstruct(capture, order=4).reconstruction
    assert scene.lamps.shape[:2] == (10, 3)
    misfits = photo_misfits(scene, capture.photos, capture.full_scale)
    assert misfits.max() < 0.25

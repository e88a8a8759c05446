"""The default method as a whole, on scenes whose answer is known."""

import json
from dataclasses import replace

import numpy as np
import pytest

from anylight.cli.main import main
from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.normals import angles_deg
from anylight.io.archive import load_reconstruction, save_reconstruction
from anylight.joint.course.plan import VOLUMES, Plan
from anylight.joint.course.schedule import solve
from anylight.joint.options import DefaultOptions
from anylight.joint.problem.eigenphotos import compress
from anylight.joint.problem.packed import pack
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.metrics import evaluate
from anylight.model.capture import Capture
from anylight.model.method import StopRequestedError
from anylight.model.samples import white_level
from anylight.model.status import Status
from anylight.photometry.harmonics import num_harmonics
from anylight.pipeline import iterate, reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render

SIZE = 128


@pytest.fixture(scope="module")
def scene():
    return render(SynthOptions(shape="bust", albedo="voronoi", height=SIZE))


@pytest.fixture(scope="module")
def small():
    return render(SynthOptions(shape="bust", height=56, images=8))


@pytest.fixture(scope="module")
def result(scene):
    return reconstruct(scene.capture)


def finite(result):
    scene = result.reconstruction
    for field in (scene.depth, scene.normals, scene.albedo, scene.confidence):
        assert np.isfinite(field[scene.mask]).all()
        assert np.isnan(field[~scene.mask]).all()
    assert np.isfinite(scene.lighting).all()
    assert np.allclose(np.linalg.norm(scene.normals[scene.mask], axis=-1), 1)
    return result


def test_shape_albedo_and_light_are_recovered(scene, result):
    metrics = evaluate(finite(result).reconstruction, scene.truth)
    assert result.status is Status.FINISHED
    assert metrics.mae_deg < 2.5
    assert metrics.mae_fd_deg < 6
    assert metrics.albedo_rmse < 0.06
    assert metrics.depth_rmse < 0.05


def test_it_beats_the_published_method_at_its_best_volume(scene, result):
    ours = evaluate(result.reconstruction, scene.truth).mae_deg
    best = min(
        evaluate(
            reconstruct(scene.capture, preset="paper", volume=v).reconstruction, scene.truth
        ).mae_deg
        for v in (0.08, 0.15, 0.25)
    )
    assert ours < best / 2


@pytest.mark.slow
def test_confidence_orders_the_errors():
    large = render(SynthOptions(shape="bust", albedo="voronoi", height=200))
    found = reconstruct(large.capture, shadows="off").reconstruction
    mask = large.truth.mask
    ours, true = found.normals[mask], large.truth.normals[mask]
    # Tilt and relief are off by the same everywhere: confidence is about the rest.
    same = ours @ np.linalg.lstsq(ours, true, rcond=None)[0]
    error = angles_deg(same / np.linalg.norm(same, axis=1, keepdims=True), true)
    order = np.argsort(found.confidence[mask])
    quintiles = [part.mean() for part in np.array_split(error[order], 5)]
    assert np.all(np.diff(quintiles) < 0)


@pytest.mark.slow
def test_the_volume_of_the_start_is_forgotten(scene):
    found = [reconstruct(scene.capture, volume=v, shadows="off") for v in (0.05, 0.2)]
    errors = [evaluate(result.reconstruction, scene.truth).mae_deg for result in found]
    assert abs(errors[0] - errors[1]) < 1


@pytest.mark.slow
def test_started_at_the_truth_it_stays_there(scene, result, tmp_path):
    save_reconstruction(tmp_path / "truth.npz", scene.truth)
    there = reconstruct(scene.capture, init=str(tmp_path / "truth.npz"), shadows="off")
    a, b = (evaluate(r.reconstruction, scene.truth).mae_deg for r in (there, result))
    assert a < 2.5
    assert abs(a - b) < 1.5


def test_the_record_lists_orders_starts_and_energies(tmp_path):
    capture, out = tmp_path / "bust", tmp_path / "out"
    assert main(["synth", "--height", "56", "--images", "12", "--out", str(capture)]) == 0
    quick = ["--shadows", "off", "--only-result"]
    assert main(["run", str(capture), "--out", str(out), *quick]) == 0
    record = json.loads((out / "run.json").read_text())
    assert record["method"] == "default"
    assert record["orders"][:4] == [1, 2, 4, 6]
    assert {start["volume"] for start in record["starts"]} >= set(VOLUMES)
    assert [start["name"] for start in record["starts"]][2] == "integrable"
    assert record["starts"][-1]["name"] == record["starts"][-2]["name"] + " flipped"
    assert record["variety"] > 0.1
    assert all(start["energy"] > 0 for start in record["starts"])
    assert record["chosen"] in {start["name"] for start in record["starts"]}
    assert {"tilt_u_deg", "tilt_v_deg", "relief_deg", "sentence"} <= set(record["gauge"])
    assert len(record["energies"]) > 20
    scene = load_reconstruction(out / "result.npz")
    assert scene.lighting.shape == (12, 3, num_harmonics(record["orders"][-1]))
    assert 0 < np.nanmin(scene.confidence) <= np.nanmax(scene.confidence) <= 1


def test_three_photos_fall_back_and_say_so(small):
    found = reconstruct(small.capture, use=3)
    assert found.method == "paper"
    assert "published one" in found.warnings[0]


@pytest.mark.parametrize(("num", "top"), [(4, 2), (6, 4), (8, 6), (10, 8)])
def test_few_photos_lower_the_order(num, top):
    small = render(SynthOptions(shape="bust", height=56, images=num))
    found = finite(reconstruct(small.capture, shadows="off"))
    assert max(progress.report.order for progress in found.trace) == top
    assert any("order" in warning for warning in found.warnings) == (top < 6)


def test_one_channel_and_a_given_volume():
    small = render(SynthOptions(shape="vase", height=56, images=9))
    grey = Capture(small.capture.photos[..., :1], small.capture.mask, small.capture.camera)
    found = finite(reconstruct(grey, volume=0.1, shadows="off"))
    assert [start["volume"] for start in found.record["starts"]][:2] == [0.1, None]


def test_a_volume_of_zero_starts_without_a_balloon(small):
    found = finite(reconstruct(small.capture, volume=0.0, shadows="off"))
    assert found.record["starts"][0]["name"] == "integrable"
    assert any("volume of zero" in warning for warning in found.warnings)


def test_parallel_rays_are_named():
    small = render(SynthOptions(shape="sphere", height=48, images=8, orthographic=True))
    assert isinstance(small.capture.camera, Orthographic)
    found = finite(reconstruct(small.capture, shadows="off"))
    assert any("parallel rays" in warning for warning in found.warnings)
    error = evaluate(found.reconstruction, small.truth).mae_deg
    assert error < 15


@pytest.mark.slow
def test_separate_pieces_are_named():
    small = render(SynthOptions(shape="bust", height=64, images=8))
    mask = np.array(small.capture.mask)
    mask[:, 30:33] = False
    cut = Capture(small.capture.photos, mask, small.capture.camera)
    found = finite(reconstruct(cut, shadows="off"))
    assert any("separate pieces" in warning for warning in found.warnings)
    depth = found.reconstruction.depth
    assert np.nanmean(depth[:, :30]) == pytest.approx(1, abs=0.02)


def test_light_that_does_not_vary_is_named(small):
    photos = np.repeat(small.capture.photos[:1], 6, axis=0)
    other = Capture(photos, small.capture.mask, small.capture.camera)
    found = finite(reconstruct(other, shadows="off"))
    assert any("light hardly changes" in warning for warning in found.warnings)


def test_a_plane_ends_with_a_warning(rng):
    paint = rng.random((40, 50, 3)) * 0.5 + 0.2
    light = rng.random((8, 1, 1, 3)) + 0.5
    photos = np.round(20000 * paint * light).astype(np.uint16)
    camera = Perspective((70.0, 70.0), (24.5, 19.5))
    found = finite(reconstruct(Capture(photos, np.ones((40, 50), bool), camera), shadows="off"))
    assert any("looks flat" in warning for warning in found.warnings)
    assert not any("facets" in warning for warning in found.warnings)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_tiny_masks(rng, size):
    mask = np.zeros((32, 40), bool)
    mask[10, 10 : 10 + size] = True
    photos = rng.integers(1000, 60000, (6, 32, 40, 3)).astype(np.uint16)
    finite(reconstruct(Capture(photos, mask, Perspective((60.0, 60.0), (19.5, 15.5)))))


@pytest.mark.parametrize("after", [1, 30])
def test_a_run_that_is_stopped_keeps_what_was_reached(small, after):
    run = iterate(small.capture)
    for number, progress in enumerate(run, start=1):
        assert 0 <= progress.share <= 1
        if number == after:
            run.stop()
    found = finite(run.result)
    assert number == len(found.trace) == after
    assert found.status is Status.INTERRUPTED
    assert any("stopped" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    "step",
    [
        "normals of single pixels",
        "depth steps",
        "depth with steps",
        "albedo without shading",
        "albedo and light of every photo",
    ],
)
def test_stopped_after_the_solver_it_keeps_its_result(small, step):
    run = iterate(small.capture, shadows="off", order=2)
    for progress in run:
        if progress.line == step:
            run.stop()
    assert progress.line == step
    found = finite(run.result)
    assert found.status is Status.INTERRUPTED
    assert evaluate(found.reconstruction, small.truth).mae_deg < 15


def test_a_stopped_run_records_the_order_of_its_light(small):
    run = iterate(small.capture)
    for progress in run:
        if progress.report.order == 4:
            run.stop()
    light = run.result.reconstruction.lighting
    assert light.shape[-1] == num_harmonics(4)
    assert run.result.record["orders"] == [1, 2, 4]


def stop_at(running, wanted):
    """Drive a course, stop it at the first step that is wanted, and give what it ends in."""
    try:
        step = next(running)
        while not wanted(step[1]):
            step = next(running)
        running.throw(StopRequestedError())
    except StopIteration as end:
        return end.value
    raise AssertionError("it did not end")


@pytest.mark.parametrize(
    "wanted",
    [
        lambda report: report.iteration == 1,
        lambda report: report.order == 2,
        lambda report: report.start == "integrable",
        lambda report: report.start.endswith("flipped"),
        lambda report: report.level == 0,
    ],
    ids=["at the first step", "second order", "second start", "flipped", "finest level"],
)
@pytest.mark.parametrize("flip", [False, True], ids=["as found", "flipped on demand"])
def test_stopped_anywhere_a_course_keeps_a_whole_state(small, wanted, flip):
    size = int(small.capture.mask.sum())
    photos = compress(small.capture, white_level(small.capture))
    level = PyramidLevel(
        np.array(small.capture.mask), small.capture.camera, pack(photos.values), 3, photos.good
    )
    plan = Plan(orders=(1, 2), volumes=(0.08,), start_pixels=size / 2, flip=flip)
    reports = []

    def seen(report):
        reports.append(report)
        return wanted(report)

    course = stop_at(solve(level, plan), seen)
    if reports[-1].level == 0:
        assert course.chosen.name == reports[-1].start
    assert course.status is Status.INTERRUPTED
    assert course.levels[-1] == size
    assert course.state.surface.shape == level.grid.shape
    assert len(course.state.fit.misfit) == level.size
    assert np.isfinite(course.state.surface).all()
    assert np.isfinite(course.state.light).all()


@pytest.mark.slow
def test_a_pixel_that_is_always_black_is_least_sure(scene):
    photos = scene.capture.photos.copy()
    row, column = np.argwhere(scene.capture.mask)[len(np.argwhere(scene.capture.mask)) // 2]
    photos[:, row, column] = 0
    found = reconstruct(replace(scene.capture, photos=photos), shadows="off").reconstruction
    assert found.confidence[row, column] <= np.nanmin(found.confidence) + 1e-6


@pytest.mark.slow
def test_saturated_photos_do_not_bend_the_shape(scene, result):
    photos = np.minimum(scene.capture.photos.astype(int) * 3 // 2, 65535).astype(np.uint16)
    bright = replace(scene.capture, photos=photos)
    share = (photos[:, scene.capture.mask] == 65535).mean()
    assert share > 0.003
    found = reconstruct(bright, shadows="off")
    a, b = (evaluate(r.reconstruction, scene.truth).mae_deg for r in (found, result))
    assert a < b + 1.5


def test_impossible_options():
    for changes in ({"eigenphotos": 2}, {"refine_iterations": 0}):
        with pytest.raises(Exception, match="--"):
            DefaultOptions(**changes)

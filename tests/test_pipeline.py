"""Odd captures end in a sentence or in finite numbers with a warning."""

import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.normals import angles_deg, depth_normals
from anylight.initial.options import BalloonOptions
from anylight.initial.start import enclosing_ball
from anylight.io.archive import save_reconstruction
from anylight.io.images import write_image
from anylight.joint.options import DefaultOptions
from anylight.model.capture import Capture
from anylight.model.method import Progress, StopRequestedError
from anylight.model.status import Status
from anylight.paper import alternate as alternate_module
from anylight.paper import method as paper_method
from anylight.paper.options import PaperOptions
from anylight.pipeline import RunOptions, choose_photos, iterate, reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render

QUICK = {"preset": "paper", "iterations": 4, "first_order_iterations": 2}
CAMERA = Perspective((60.0, 60.0), (19.5, 15.5))


def capture_of(photos, mask=None, camera=CAMERA):
    mask = np.ones(photos.shape[1:3], bool) if mask is None else mask
    return Capture(photos, mask, camera)


def noise(rng, num=5, shape=(32, 40), channels=3):
    return rng.integers(1000, 60000, (num, *shape, channels)).astype(np.uint16)


def finite(result):
    scene = result.reconstruction
    for field in (scene.depth, scene.normals, scene.albedo):
        assert np.isfinite(field[scene.mask]).all()
        assert np.isnan(field[~scene.mask]).all()
    assert np.isfinite(scene.lighting).all()
    assert np.allclose(np.linalg.norm(scene.normals[scene.mask], axis=-1), 1)
    return result


@pytest.fixture(scope="module")
def scene():
    return render(SynthOptions(shape="bust", albedo="voronoi", images=6, height=64))


@pytest.fixture
def first_depths(monkeypatch):
    """Depths that the published method started from, run by run."""
    depths, plain = [], paper_method.first_state

    def remembered(problem, depth):
        depths.append(depth)
        return plain(problem, depth)

    monkeypatch.setattr(paper_method, "first_state", remembered)
    return depths


def test_black_photos_are_refused(rng):
    with pytest.raises(InvalidInputError, match="black"):
        reconstruct(capture_of(np.zeros_like(noise(rng))), **QUICK)


def test_light_that_does_not_change_is_named(rng):
    photos = np.repeat(noise(rng, 1), 5, axis=0)
    result = finite(reconstruct(capture_of(photos), **QUICK))
    assert any("light hardly changes" in warning for warning in result.warnings)


def test_equal_pixels(rng):
    photos = np.full_like(noise(rng), 20000)
    finite(reconstruct(capture_of(photos), **QUICK))


def test_saturated_photos_are_named(rng):
    photos = noise(rng)
    photos[:, :, :20] = 65535
    result = finite(reconstruct(capture_of(photos), **QUICK))
    assert any("saturated" in warning for warning in result.warnings)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_tiny_masks(rng, size):
    mask = np.zeros((32, 40), bool)
    mask[10, 10 : 10 + size] = True
    result = finite(reconstruct(capture_of(noise(rng), mask), **QUICK))
    assert any("too thin" in warning for warning in result.warnings)


def test_forty_pieces(rng):
    mask = np.zeros((32, 40), bool)
    for row in range(5):
        for column in range(8):
            mask[6 * row + 1 : 6 * row + 5, 5 * column : 5 * column + 4] = True
    result = finite(reconstruct(capture_of(noise(rng), mask), **QUICK))
    assert len(result.record["volumes"]) == 40
    assert any("40 separate pieces" in warning for warning in result.warnings)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_three_photos_and_any_channels(rng, channels):
    photos = noise(rng, 3, channels=channels)
    finite(reconstruct(capture_of(photos), **QUICK))


@pytest.mark.parametrize("volume", [0.0, 0.02, 5.0, 99.0])
def test_any_volume(scene, volume):
    numbers = {"iterations": 3, "first_order_iterations": 1}
    result = finite(reconstruct(scene.capture, preset="paper", volume=volume, **numbers))
    capped = any("capped" in warning for warning in result.warnings)
    assert capped == (volume > 1)
    assert not any("too thin" in warning for warning in result.warnings if volume)
    if volume > 1:
        assert 0.1 < result.record["volumes"][0] < 0.4


def test_volume_in_pixels_is_the_mean_height(scene):
    result = reconstruct(scene.capture, preset="paper", volume_px=4.0, iterations=1)
    wanted = 4 / np.sqrt(scene.capture.mask.sum())
    assert result.record["volumes"][0] == pytest.approx(wanted, rel=1e-3)


def test_a_parallel_camera(rng):
    camera = Orthographic((19.5, 15.5))
    finite(reconstruct(capture_of(noise(rng), camera=camera), **QUICK))


def test_the_constant_start_does_not_crash(scene):
    finite(reconstruct(scene.capture, init="constant", **QUICK))


def test_starting_from_the_truth(scene, first_depths, tmp_path):
    save_reconstruction(tmp_path / "truth.npz", scene.truth)
    numbers = {"iterations": 1, "first_order_iterations": 0}
    exact = scene.truth.depth[scene.truth.mask]
    filled = np.where(scene.truth.mask, scene.truth.depth, 1.0)
    for given in (
        {"init": str(tmp_path)},
        {"init": str(tmp_path / "truth.npz")},
        {"start": filled},
    ):
        finite(reconstruct(scene.capture, preset="paper", **given, **numbers))
        assert np.allclose(first_depths.pop(), exact / exact.mean())


def test_starting_from_images(scene, first_depths, tmp_path):
    mask = scene.truth.mask
    depth = np.nan_to_num(scene.truth.depth, nan=1.0).astype(np.float32)
    normals = np.nan_to_num(scene.truth.normals * [1, -1, -1], nan=0.0).astype(np.float32)
    write_image(tmp_path / "depth.exr", depth[..., None])
    write_image(tmp_path / "normals.exr", normals)
    for name in ("depth.exr", "normals.exr"):
        reconstruct(scene.capture, init=str(tmp_path / name), **QUICK)
    from_depth, from_normals = first_depths
    exact = scene.truth.depth[mask]
    assert np.allclose(from_depth, exact / exact.mean(), rtol=1e-5)
    assert np.abs(from_normals * exact.mean() / exact - 1).max() < 0.1


def test_the_hemisphere_start_lies_on_one_sphere(scene, first_depths, tmp_path):
    save_reconstruction(tmp_path / "truth.npz", scene.truth)
    reconstruct(scene.capture, preset="paper", init=f"hemisphere:{tmp_path}", iterations=1)
    pixels = scene.capture.domain().pixels
    points = scene.capture.camera.points(*pixels.T, first_depths[0])
    system = np.column_stack([2 * points, np.ones(len(points))])
    solution, *_ = np.linalg.lstsq(system, (points**2).sum(1), rcond=None)
    radius = np.sqrt(solution[3] + (solution[:3] ** 2).sum())
    distance = np.linalg.norm(points - solution[:3], axis=1)
    assert np.allclose(distance, radius, rtol=1e-6)
    assert solution[2] > points[:, 2].mean()  # the near side: convex


def test_the_smallest_ball(rng):
    on_sphere = rng.standard_normal((500, 3))
    on_sphere /= np.linalg.norm(on_sphere, axis=1, keepdims=True)
    points = np.concatenate([3 * on_sphere, rng.random((500, 3))]) + [1.0, 2.0, 9.0]
    centre, radius = enclosing_ball(points)
    assert np.linalg.norm(points - centre, axis=1).max() <= radius
    assert radius < 3.01


@pytest.mark.parametrize(
    ("init", "word"),
    [("nowhere.npz", "no such file"), ("nowhere.png", "no such file"), ("hemisphere:", "no such")],
)
def test_starts_that_are_not_there(scene, init, word):
    with pytest.raises(InvalidInputError, match=word):
        reconstruct(scene.capture, init=init, **QUICK)


def test_a_start_of_another_size(scene, tmp_path):
    write_image(tmp_path / "depth.exr", np.ones((5, 5, 1), np.float32))
    with pytest.raises(InvalidInputError, match="5×5"):
        reconstruct(scene.capture, init=str(tmp_path / "depth.exr"), **QUICK)


def test_photos_are_taken_evenly(scene):
    assert list(choose_photos(scene.capture, None)) == [0, 1, 2, 3, 4, 5]
    assert list(choose_photos(scene.capture, 3)) == [0, 2, 5]
    with pytest.raises(InvalidInputError, match="only 6 photos"):
        choose_photos(scene.capture, 7)
    result = reconstruct(scene.capture, use=3, **QUICK)
    assert list(result.reconstruction.photos) == [0, 2, 5]
    assert len(result.reconstruction.lighting) == 3


@pytest.mark.parametrize("after", [1, 2])
def test_a_run_that_is_stopped_keeps_what_was_reached(scene, after):
    run = iterate(scene.capture, **QUICK)
    for progress in run:
        if progress.report.iteration == after:
            run.stop()
    result = finite(run.result)
    assert result.status is Status.INTERRUPTED
    assert len(result.trace) == after
    assert any("stopped by the user" in warning for warning in result.warnings)
    assert run.result is result


def test_a_volume_without_a_balloon_is_told(scene):
    start = np.where(scene.capture.mask, 2.0, np.nan)
    for options, told in (({"volume": 0.1, "start": start}, True), ({"start": start}, False),
                          ({"volume": 0.1}, False)):  # fmt: skip
        warnings = reconstruct(scene.capture, **QUICK, **options).warnings
        assert any("volume was not used" in warning for warning in warnings) == told


@pytest.mark.parametrize("method", ["paper", "favaro2012"])
def test_stopped_before_there_was_anything_it_has_no_result(scene, method):
    run = iterate(scene.capture, method=method)
    if method != "paper":  # it works in one step
        assert next(run).share == 0
    run.stop()
    with pytest.raises(StopRequestedError):
        run.result  # noqa: B018


def test_stopping_what_has_ended_changes_nothing(scene):
    run = iterate(scene.capture, **QUICK)
    result = run.result
    run.stop()
    assert run.result is result
    assert result.status is Status.ITERATION_LIMIT


def test_every_step_is_told_and_the_rest_runs_by_itself(scene):
    told = []
    result = reconstruct(scene.capture, on_progress=told.append, **QUICK)
    assert all(isinstance(progress, Progress) for progress in told)
    assert [progress.share for progress in told] == [0.25, 0.5, 0.75, 1.0]
    assert [progress.stage for progress in told] == ["order 1"] * 2 + ["order 2"] * 2
    assert [progress.energy for progress in told] == [p.energy for p in result.trace]
    assert all("energy" in progress.line for progress in told)
    assert told[-1].state.depth.shape == (scene.capture.mask.sum(),)
    assert all(progress.state is None for progress in result.trace)
    run = iterate(scene.capture, **QUICK)
    next(run)
    assert len(run.result.trace) == 4


def test_choices_of_another_method_or_of_the_capture_are_refused(scene):
    for choices, words in (
        ({"preset": "paper", "order": 4}, "no option order"),
        ({"iterations": 4}, "no option iterations"),
        ({"preset": "paper", "iterations": "many"}, "iterations"),
        ({"method": "favaro2012", "preset": "paper"}, "--preset"),
        ({"depth": np.ones(scene.capture.mask.shape)}, "part of the capture already"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            reconstruct(scene.capture, **choices)


def test_arrays_do_as_well_as_a_capture(scene):
    given, camera = scene.capture, scene.capture.camera
    numbers = {"preset": "paper", "iterations": 1}
    a = reconstruct(given, **numbers).reconstruction
    b = reconstruct(given.photos, given.mask, camera.matrix, **numbers).reconstruction
    assert np.array_equal(a.depth, b.depth, equal_nan=True)
    guessed = reconstruct(given.photos, given.mask, **numbers)
    assert any("50 mm" in warning for warning in guessed.warnings)


def test_light_that_is_not_finite_is_not_taken(scene, monkeypatch):
    plain = alternate_module.update_lighting

    def poisoned(problem, state, normals):
        state = plain(problem, state, normals)
        if state.lighting.shape[2] == 9:
            state.lighting[:] = np.nan
        return state

    monkeypatch.setattr(alternate_module, "update_lighting", poisoned)
    result = finite(reconstruct(scene.capture, **QUICK))
    assert [progress.report.blocks_rejected for progress in result.trace] == [0, 0, 1, 1]


def test_algebra_that_fails_ends_the_run_with_what_was_reached(scene, monkeypatch):
    plain = alternate_module.update_lighting

    def failing(problem, state, normals):
        if state.lighting.shape[2] == 9:
            raise np.linalg.LinAlgError
        return plain(problem, state, normals)

    monkeypatch.setattr(alternate_module, "update_lighting", failing)
    result = finite(reconstruct(scene.capture, **QUICK))
    assert result.status is Status.SINGULAR
    assert len(result.trace) == 2
    assert any("singular" in warning for warning in result.warnings)


@pytest.mark.parametrize("preset", ["paper", "default"])
def test_an_absurd_pixel_does_not_break_the_run(rng, preset):
    photos = rng.random((5, 32, 40, 1)).astype(np.float32)
    photos[2, 7, 9] = 3e38
    numbers = QUICK if preset == "paper" else {}
    finite(reconstruct(capture_of(photos), **numbers))


@pytest.mark.parametrize("kind", [np.uint16, np.float32])
@pytest.mark.parametrize("preset", ["paper", "default"])
def test_a_black_photo_and_a_black_channel_are_named(rng, preset, kind):
    photos = noise(rng, 6)
    photos[3] = 0
    photos[..., 1] = 0
    if kind is np.float32:
        photos = (photos / np.float32(65535)).astype(np.float32)
    numbers = QUICK if preset == "paper" else {}
    warnings = finite(reconstruct(capture_of(photos), **numbers)).warnings
    assert any("photo 3 is black" in warning for warning in warnings)
    assert any("channel is black" in warning for warning in warnings)


def test_few_photos_and_no_volume_are_named(rng):
    numbers = {"preset": "paper", "volume": 0.0, "iterations": 2}
    warnings = reconstruct(capture_of(noise(rng, 3)), **numbers).warnings
    assert any("3 photos" in warning for warning in warnings)
    assert any("volume of zero" in warning for warning in warnings)


def test_pixel_volumes_of_several_pieces(rng):
    mask = np.zeros((70, 90), bool)
    mask[5:50, 5:50] = True
    mask[10:25, 60:75] = True
    photos = noise(rng, 6, mask.shape)
    numbers = {"preset": "paper", "volume_px": 2.0, "iterations": 1}
    found = reconstruct(capture_of(photos, mask), **numbers)
    assert sorted(found.record["volumes"]) == pytest.approx([2 / 45, 2 / 15], rel=1e-3)


def test_a_hemisphere_of_another_size(scene, tmp_path):
    save_reconstruction(tmp_path / "truth.npz", render(SynthOptions(images=3, height=40)).truth)
    with pytest.raises(InvalidInputError, match="40×40"):
        reconstruct(scene.capture, init=f"hemisphere:{tmp_path}", **QUICK)


def test_energy_never_rises_under_absurd_weights(scene):
    numbers = {"iterations": 6, "first_order_iterations": 3, "albedo_smoothness": 99999.0}
    totals = []
    for progress in reconstruct(scene.capture, preset="paper", **numbers).trace:
        report = progress.report
        totals += [report.after_albedo, report.after_lighting, report.energy]
        assert report.energy == pytest.approx(report.data + report.smoothness)
    assert np.all(np.diff(totals) <= 0)


@pytest.mark.parametrize(
    "changes",
    [{"iterations": 0}, {"cauchy_scale": 0.0}, {"huber_width": 0.0}, {"albedo_smoothness": -1.0}],
)
def test_impossible_numbers_of_the_paper(changes):
    with pytest.raises(InvalidInputError, match="--"):
        PaperOptions(**changes)


@pytest.mark.parametrize("options", [BalloonOptions, DefaultOptions, PaperOptions])
@pytest.mark.parametrize(
    "changes", [{"volume": -1.0}, {"volume": float("nan")}, {"volume_px": -2.0}]
)
def test_impossible_volumes(scene, options, changes):
    with pytest.raises(InvalidInputError, match="--volume"):
        options(**changes)
    with pytest.raises(InvalidInputError, match="--volume"):
        reconstruct(scene.capture, **changes)


@pytest.mark.parametrize("changes", [{"threads": 0}, {"use": 2}])
def test_impossible_options(changes):
    with pytest.raises(InvalidInputError, match="--"):
        RunOptions(**changes)


def test_normals_of_the_result_are_those_of_its_depth(scene):
    result = reconstruct(scene.capture, **QUICK).reconstruction
    normals = depth_normals(result.camera, result.depth, result.mask, "forward")
    assert angles_deg(normals[result.mask], result.normals[result.mask]).max() < 1e-5

"""Methods of one's own, and results of other programs: what goes wrong is said, not swallowed."""

import json
from dataclasses import replace

import msgspec
import numpy as np
import pytest
import threadpoolctl

import anylight
from anylight import methods
from anylight.benchmark.selection import Selection
from anylight.cli.main import main
from anylight.methods import _fault


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a method of one's own."""

    size: float = 1.0
    """A number."""


def scene(capture):
    return anylight.Reconstruction(mask=np.array(capture.mask), camera=capture.camera)


def method(run, **fields):
    return anylight.Method("mine", "mine", "a test", Numbers, run, **fields)


@pytest.fixture(scope="module")
def rendering():
    return anylight.render(anylight.SynthOptions(shape="vase", images=5, height=40))


@pytest.fixture(scope="module")
def capture(rendering):
    return rendering.capture


def returns_nothing(capture, options):
    del capture, options
    yield anylight.Progress(0.5, "half")


def yields_words(capture, options):
    del options
    yield "half"
    return anylight.Solution(scene(capture))


def returns_a_scene(capture, options):
    del options
    yield anylight.Progress(0.5, "half")
    return scene(capture)


def plain_function(capture, options):
    del options
    return anylight.Solution(scene(capture))


def fails(capture, options):
    del capture, options
    yield anylight.Progress(0.5, "half")
    raise ZeroDivisionError("mine")


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.parametrize(
    ("run", "words"),
    [
        (returns_nothing, "must return a Solution"),
        (yields_words, "yielded str"),
        (returns_a_scene, "not a Solution"),
        (plain_function, "must be a generator"),
    ],
)
def test_a_method_that_breaks_the_contract_is_told_so(capture, run, words):
    with pytest.raises(TypeError, match=words):
        anylight.reconstruct(capture, method=method(run))


def test_a_failure_is_raised_again_when_the_result_is_asked_for(capture):
    run = anylight.iterate(capture, method=method(fails))
    with pytest.raises(ZeroDivisionError):
        list(run)
    with pytest.raises(ZeroDivisionError):
        _ = run.result


def test_stopped_before_the_first_step_the_loop_ends_quietly(capture):
    run = anylight.iterate(capture, method="paper")
    run.stop()
    assert list(run) == []
    with pytest.raises(anylight.StopRequestedError):
        _ = run.result


def test_runs_leave_the_matrix_library_as_they_found_it(capture):
    def threads():
        libraries = threadpoolctl.threadpool_info()
        return [found["num_threads"] for found in libraries if found["user_api"] == "blas"]

    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        one = anylight.iterate(capture, method="paper", iterations=3)
        other = anylight.iterate(capture, method="paper", iterations=4, threads=1)
        next(one), next(other), next(one)
        assert threads() == before
        _ = one.result, other.result
        assert threads() == before
    assert set(before) == {2}


def test_numbers_of_numpy_and_paths_are_options_too(capture, tmp_path):
    volume = np.linspace(0.1, 0.2, 2)[0]
    result = anylight.reconstruct(capture, method="paper", volume=volume, iterations=np.int64(2))
    assert len(result.trace) == 2
    anylight.save_reconstruction(str(tmp_path / "start.npz"), result)
    again = anylight.reconstruct(capture, method="paper", init=tmp_path / "start.npz", iterations=1)
    assert len(again.trace) == 1


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (object(), "not an anylight.Method"),
        (anylight.Method("my-method", "", "", Numbers, fails), "small letters"),
        (anylight.Method("paper", "", "", Numbers, fails), "there already"),
        (anylight.Method("ours", "", "", Numbers, fails), "there already"),
        (
            anylight.Method(
                "new", "", "", msgspec.defstruct("Bare", [("size", float)], kw_only=True), fails
            ),
            "defaults",
        ),
        (anylight.Method("new", "", "", msgspec.defstruct("O", [("use", int, 1)]), fails), "use"),
    ],
)
def test_what_keeps_a_method_from_being_registered(made, words):
    assert words in _fault(made, anylight.registered())
    assert _fault(anylight.Method("new", "", "", Numbers, fails), anylight.registered()) == ""


def test_few_photos_and_known_depth_are_named(capture):
    def run(capture, options):
        del options
        yield anylight.Progress(0.5, "half")
        return anylight.Solution(scene(capture))

    with pytest.raises(anylight.InvalidInputError, match="needs 9 photos"):
        anylight.reconstruct(capture, method=method(run, min_photos=9))
    known = replace(capture, depth=np.where(capture.mask, 3.0, np.nan))
    result = anylight.reconstruct(known, method=method(run))
    assert any("does not look at the known depth" in warning for warning in result.warnings)
    with pytest.raises(anylight.InvalidInputError, match="takes no start"):
        anylight.reconstruct(capture, method=method(run), init="constant")
    with pytest.raises(anylight.InvalidInputError, match="not both"):
        anylight.reconstruct(capture, method=method(run), preset="paper")


def test_pieces_without_known_depth_stand_beside_the_others(rendering):
    capture, truth = rendering.capture, rendering.truth
    mask = np.array(capture.mask)
    mask[19:21] = False
    depth = np.where(np.arange(40)[:, None] > 20, 100 * truth.depth, np.nan)
    cut = replace(capture, mask=mask, depth=np.where(mask, depth, np.nan))
    found = anylight.reconstruct(cut).reconstruction.depth
    upper = np.nanmean(np.where(mask, found, np.nan)[:19])
    assert upper == pytest.approx(np.nanmean(100 * truth.depth), rel=0.1)


def test_a_record_cannot_forge_what_the_run_says(rendering, tmp_path, monkeypatch):
    def run(capture, options):
        del options
        yield anylight.Progress(0.5, "half", report={"steps": np.int64(2)})
        known = {"status": "forged", "method": "forged", "value": np.float64(3), "own": np.ones(2)}
        return anylight.Solution(scene(capture), record=known)

    known = {**anylight.registered(), "mine": method(run)}
    monkeypatch.setattr(methods, "_loaded", lambda: (known, {}))
    capture, out = tmp_path / "vase", tmp_path / "out"
    capture.mkdir()
    anylight.save_capture(capture, rendering.capture)
    assert main(["run", str(capture), "--method", "mine", "--out", str(out)]) == 0
    said = json.loads((out / "run.json").read_text())
    assert (said["status"], said["method"]) == ("finished", "mine")
    assert (said["value"], said["own"]) == (3.0, [1.0, 1.0])
    assert "2" in (out / "trace.csv").read_text()


@pytest.mark.parametrize("convention", ["opengl", "directx", "camera"])
def test_files_that_name_their_frame_are_believed(rendering, convention, tmp_path, capsys):
    anylight.export_scene(tmp_path, rendering.truth, normal_format=convention)
    anylight.save_reconstruction(tmp_path / "truth.npz", rendering.truth)
    for name in ("normals.png", "normals.exr", "depth.png", "depth.exr"):
        found = anylight.load_result(tmp_path / name)
        metrics = anylight.evaluate(replace(found, camera=rendering.truth.camera), rendering.truth)
        angle = metrics.mae_deg if "normals" in name else metrics.mae_fd_deg
        assert angle < 0.1, name
    arguments = ["integrate", str(tmp_path / "normals.png"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 0, capsys.readouterr().err


@pytest.mark.usefixtures("as_users_run_it")
def test_foreign_arrays_are_judged_by_their_frame(rendering, tmp_path):
    normals = rendering.truth.normals
    np.save(tmp_path / "camera.npy", normals)
    with pytest.raises(anylight.InvalidInputError, match="look away"):
        anylight.load_result(tmp_path / "camera.npy")
    found = anylight.load_result(tmp_path / "camera.npy", "camera")
    assert anylight.evaluate(found, rendering.truth).mae_deg < 1e-3
    np.save(tmp_path / "bytes.npy", np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(anylight.InvalidInputError, match="as floats"):
        anylight.load_result(tmp_path / "bytes.npy")
    with pytest.raises(anylight.InvalidInputError, match="frame must be"):
        anylight.load_result(tmp_path / "camera.npy", "blender")


def test_results_made_elsewhere_do_not_take_the_place_of_ours(tmp_path):
    (tmp_path / "paper").mkdir()
    with pytest.raises(anylight.InvalidInputError, match="has the name of a method"):
        Selection(("paper",)).elsewhere(tmp_path)

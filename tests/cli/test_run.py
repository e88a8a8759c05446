import csv
import errno
import hashlib
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
from fnmatch import fnmatch

import numpy as np
import pytest
import trimesh

from anylight.cli.main import main
from anylight.intake.load import load_capture
from anylight.io.archive import load_reconstruction
from anylight.io.capture import save_capture
from anylight.io.images import read_image, write_image
from anylight.io.normals import stated_convention
from anylight.model.capture import Capture
from anylight.runs.folder import OWNED
from tests.cli.test_main import fails

FAST = ["--preset", "paper", "--iterations", "4", "--first-order-iterations", "2"]


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "bust"
    assert main(["synth", "--images", "6", "--height", "56", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def ran(capture):
    out = capture.parent / "out"
    assert main(["run", str(capture), "--out", str(out), "--use", "5", *FAST]) == 0
    return out


def test_a_run_leaves_what_it_promises(ran):
    names = {path.relative_to(ran).as_posix() for path in ran.rglob("*") if path.is_file()}
    assert {"result.npz", "trace.csv", "run.json"} <= names
    for name in ("depth", "normals", "albedo", "shaded", "lights", "light_04"):
        assert f"preview/{name}.png" in names
    assert "lights/light_04.hdr" in names
    assert read_image(ran / "lights" / "light_00.hdr").shape == (64, 128, 3)


def test_the_record_tells_what_was_run(ran):
    record = json.loads((ran / "run.json").read_text())
    assert record["status"] == "iteration limit reached"
    assert record["orders"] == [1, 2]
    assert record["method"] == "paper"
    assert record["options"]["preset"] == "paper"
    assert record["settings"]["iterations"] == 4
    assert record["init"] == "balloon"
    assert record["photos"] == [
        "photo_00.png",
        "photo_01.png",
        "photo_02.png",
        "photo_04.png",
        "photo_05.png",
    ]
    assert record["volumes"] == pytest.approx([0.15], rel=1e-3)
    assert len(record["inputs"]["photos_sha256"]) == 64
    assert np.all(np.diff(record["energies"]) <= 0)
    assert {"python", "anylight", "numpy", "numba"} <= set(record["versions"])
    assert set(record["not_taken"]) == {"blocks_rejected", "depth_rejected"}
    assert set(record["seconds"]) == {"start", "solve"}


def test_the_trace_has_a_row_per_iteration(ran):
    with (ran / "trace.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["order"] for row in rows] == ["1", "1", "2", "2"]
    assert float(rows[0]["energy"]) == pytest.approx(
        float(rows[0]["data"]) + float(rows[0]["smoothness"])
    )


def test_the_result_keeps_the_contract(ran, capture, capsys):
    scene = load_reconstruction(ran / "result.npz")
    truth = load_reconstruction(capture / "truth.npz")
    assert np.array_equal(scene.mask, truth.mask)
    assert scene.lighting.shape == (5, 3, 9)
    capsys.readouterr()
    assert main(["eval", str(ran), "--truth", str(capture), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["coverage"] == 1
    assert numbers["lighting_error"] is not None


def test_neither_truth_nor_name_of_the_folder_matters(ran, capture, tmp_path):
    other = tmp_path / "renamed"
    shutil.copytree(capture, other)
    (other / "truth.npz").unlink()
    out = tmp_path / "out"
    assert main(["run", str(other), "--out", str(out), "--use", "5", *FAST]) == 0
    assert (out / "result.npz").read_bytes() == (ran / "result.npz").read_bytes()


def test_a_finished_run_is_not_repeated_unless_something_changed(capture, tmp_path, capsys):
    own, out = tmp_path / "own", tmp_path / "out"
    shutil.copytree(capture, own)
    arguments = ["run", str(own), "--out", str(out), "--only-result", *FAST]

    def runs(*more):
        before = (out / "run.json").stat().st_ino
        assert main([*arguments, *more]) == 0
        return (out / "run.json").stat().st_ino != before

    assert main(arguments) == 0
    record = json.loads((out / "run.json").read_text())
    assert set(record["files"]) == {
        path.relative_to(out).as_posix() for path in out.rglob("*.*") if path.name != "run.json"
    }
    result = (out / "result.npz").read_bytes()
    assert record["files"]["result.npz"] == hashlib.sha256(result).hexdigest()
    capsys.readouterr()
    assert not runs()
    assert "finished before" in capsys.readouterr().err
    assert runs("--again")
    assert (out / "result.npz").read_bytes() == result
    assert runs("--iterations", "5")
    assert not runs("--iterations", "5")
    photo = read_image(own / "photo_02.png")
    photo[photo.shape[0] // 2, photo.shape[1] // 2] += 1
    write_image(own / "photo_02.png", photo)
    assert runs("--iterations", "5")
    (out / "trace.csv").unlink()
    assert runs("--iterations", "5")


def test_the_result_of_another_capture_is_kept(capture, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    short = ["--only-result", *FAST]
    for place in ("a", "b"):
        shutil.copytree(capture, tmp_path / place / "vase.v1")
    photo = read_image(tmp_path / "b" / "vase.v1" / "photo_02.png")
    write_image(tmp_path / "b" / "vase.v1" / "photo_02.png", photo // 2)
    for place in ("a/vase.v1", "b/vase.v1"):
        assert main(["run", place, *short]) == 0
    names = {path.name for path in tmp_path.glob("*_result*")}
    assert names == {"vase.v1_result", "vase.v1_result_2"}
    fails(capsys, ["run", "b/vase.v1", "--out", "vase.v1_result", *short], "another capture")
    before = (tmp_path / "vase.v1_result" / "result.npz").read_bytes()
    assert main(["run", "b/vase.v1", "--out", "vase.v1_result", "--replace", *short]) == 0
    assert (tmp_path / "vase.v1_result" / "result.npz").read_bytes() != before


def test_a_result_among_the_photos_is_not_photos(capture, ran, tmp_path, capsys):
    own = tmp_path / "own"
    shutil.copytree(capture, own)
    out = own / "result"
    assert main(["run", str(own), "--out", str(out), "--use", "5", *FAST]) == 0
    assert (out / "result.npz").read_bytes() == (ran / "result.npz").read_bytes()
    capsys.readouterr()
    assert main(["run", str(own), "--out", str(out), "--use", "5", *FAST]) == 0
    assert "finished before" in capsys.readouterr().err
    fails(capsys, ["info", str(out)], "result of a run", "give the folder of the photos")
    for name in ("confidence.png", "openness.png", "mesh_texture.png"):
        shutil.copy(ran / "normals.png", own / name)
    assert load_capture(own).num_photos == 6


def test_preset_is_another_word_for_method(capture, ran, tmp_path):
    out = tmp_path / "out"
    arguments = ["--method", "paper", *FAST[2:]]
    assert main(["run", str(capture), "--out", str(out), "--use", "5", *arguments]) == 0
    assert (out / "result.npz").read_bytes() == (ran / "result.npz").read_bytes()


def test_bad_captures_and_options(capture, tmp_path, capsys):
    out = str(tmp_path / "out")
    fails(capsys, ["run", str(tmp_path / "nowhere"), "--out", out], "nowhere")
    fails(capsys, ["run", str(capture), "--out", out, "--use", "99"], "--use 99")
    fails(capsys, ["run", str(capture), "--out", out, "--volume", "-1"], "--volume")
    fails(capsys, ["run", str(capture), "--out", out, "--iterations", "4"], "--iterations", "paper")
    fails(capsys, ["run", str(capture), "--out", out, "--method", "magic"], "magic", "default")
    fails(capsys, ["run", str(capture), "--out", out, "--method", "mo2018", *FAST], "--preset")
    fails(capsys, ["run", str(capture), "--out", str(capture)], "other files")
    assert not (tmp_path / "out").exists()


def test_integrate_a_normal_map(capture, tmp_path, capsys):
    truth = load_reconstruction(capture / "truth.npz")
    coded = np.nan_to_num((truth.normals * [1, -1, -1] + 1) / 2 * 65535)
    coded[~truth.mask] = 0
    write_image(tmp_path / "n.png", np.round(coded).astype(np.uint16))
    arguments = ["integrate", str(tmp_path / "n.png"), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--intrinsics", str(capture / "K.txt")]) == 0
    scene = load_reconstruction(tmp_path / "out" / "result.npz")
    assert np.array_equal(scene.mask, truth.mask)
    assert (tmp_path / "out" / "mesh.ply").stat().st_size > 1000
    capsys.readouterr()
    assert main(["eval", str(tmp_path / "out"), "--truth", str(capture), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["mae_deg"] < 0.01
    assert numbers["depth_rmse"] < 0.05
    fails(
        capsys, ["integrate", str(tmp_path / "none.png"), "--out", str(tmp_path / "o")], "none.png"
    )
    write_image(tmp_path / "grey.png", np.ones((9, 9, 1), np.uint8))
    fails(capsys, ["integrate", str(tmp_path / "grey.png"), "--out", str(tmp_path / "o")], "three")


@pytest.mark.parametrize("channels", [1, 2])
def test_other_numbers_of_channels_are_written_whole(capture, tmp_path, channels):
    folder = tmp_path / "few"
    folder.mkdir()
    whole = load_capture(capture)
    photos = np.ascontiguousarray(whole.photos[..., :channels])
    save_capture(folder, Capture(photos, whole.mask, whole.camera))
    assert main(["run", str(folder), "--out", str(tmp_path / "out"), *FAST]) == 0
    suffix = "hdr" if channels == 1 else "exr"
    assert (tmp_path / "out" / "lights" / f"light_00.{suffix}").exists()
    assert load_reconstruction(tmp_path / "out" / "result.npz").albedo.shape[2] == channels


def test_going_on_from_an_earlier_result(capture, ran, tmp_path):
    arguments = ["run", str(capture), "--out", str(tmp_path / "o"), "--init", str(ran), *FAST]
    assert main(arguments) == 0
    record = json.loads((tmp_path / "o" / "run.json").read_text())
    assert record["init"] == str(ran)
    assert record["inputs"]["camera"] == "perspective"
    assert record["threads"] >= 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--preset", "paper", "--iterations", "9999"], "iteration 3/"),
        ([], "balloon 0.03, level 0, order 1, step 1:"),
    ],
    ids=["paper", "default"],
)
def test_interrupting_the_solve_keeps_a_result(capture, tmp_path, arguments, line):
    program = [sys.executable, "-m", "anylight.cli.main", "run", str(capture)]
    out = tmp_path / "out"
    run = subprocess.Popen(
        [*program, "--out", str(out), *arguments], stderr=subprocess.PIPE, text=True
    )
    for said in run.stderr:
        if said.startswith(line):
            run.send_signal(signal.SIGINT)
            break
    rest = run.communicate(timeout=120)[1]
    assert run.returncode == 130
    assert "Traceback" not in rest
    assert json.loads((out / "run.json").read_text())["status"] == "stopped by the user"


def press_ctrl_c(monkeypatch, place, times=1):
    """Press Ctrl-C while a function is at work for the first time."""
    plain, pressed = pkgutil.resolve_name(place), []

    def interrupted(*arguments, **more):
        while len(pressed) < times:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)
        return plain(*arguments, **more)

    monkeypatch.setattr(place, interrupted)


def test_ctrl_c_in_the_first_step_keeps_that_step(capture, tmp_path, capfd, monkeypatch):
    press_ctrl_c(monkeypatch, "anylight.paper.alternate.update_depth")
    before, out = signal.getsignal(signal.SIGINT), tmp_path / "out"
    with pytest.raises(SystemExit) as stop:
        main(["run", str(capture), "--out", str(out), "--only-result", *FAST])
    assert stop.value.code == 130
    assert "press Ctrl-C again" in capfd.readouterr().err
    assert len(json.loads((out / "run.json").read_text())["energies"]) == 1
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("place", "method"),
    [
        ("anylight.paper.method.reconstruction", FAST),
        ("anylight.joint.explanation.paint", ["--order", "2", "--shadows", "off"]),
    ],
    ids=["paper", "default"],
)
def test_ctrl_c_after_the_last_step_loses_nothing(capture, tmp_path, monkeypatch, place, method):
    press_ctrl_c(monkeypatch, place)
    out = tmp_path / "out"
    assert main(["run", str(capture), "--out", str(out), "--only-result", *method]) == 0
    assert load_reconstruction(out / "result.npz").depth is not None


@pytest.mark.parametrize(
    ("place", "times", "asked"),
    [
        ("anylight.paper.alternate.update_depth", 2, FAST),
        ("anylight.baselines.favaro2012.factorise", 1, ["--method", "favaro2012"]),
        ("anylight.joint.course.lenses._try", 1, ["--shadows", "off"]),
    ],
    ids=["twice", "competitor", "lenses"],
)
def test_ctrl_c_without_a_result_leaves_nothing(
    capture, tmp_path, capsys, monkeypatch, place, times, asked
):
    press_ctrl_c(monkeypatch, place, times)
    before, out = signal.getsignal(signal.SIGINT), tmp_path / "made" / "out"
    shutil.copytree(capture, tmp_path / "bust")
    if "lenses" in place:
        (tmp_path / "bust" / "K.txt").unlink()
    assert main(["run", str(tmp_path / "bust"), "--out", str(out), *asked]) == 130
    said = capsys.readouterr().err
    assert "nothing was written" in said
    assert ("before there was a result to keep" in said) == (times == 1)
    assert not out.parent.exists()
    assert signal.getsignal(signal.SIGINT) is before


def test_in_the_background_ctrl_c_is_not_for_us(capture, tmp_path, monkeypatch):
    press_ctrl_c(monkeypatch, "anylight.paper.alternate.update_depth", 2)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert (
            main(["run", str(capture), "--out", str(tmp_path / "o"), "--only-result", *FAST]) == 0
        )
    finally:
        signal.signal(signal.SIGINT, before)


def test_being_told_to_end_leaves_nothing(capture, tmp_path):
    program = [sys.executable, "-m", "anylight.cli.main", "run", str(capture)]
    arguments = ["--out", str(tmp_path / "out"), "--preset", "paper", "--iterations", "9999"]
    run = subprocess.Popen([*program, *arguments], stderr=subprocess.PIPE, text=True)
    for said in run.stderr:
        if said.startswith("iteration 3/"):
            run.terminate()
            break
    rest = run.communicate(timeout=60)[1]
    assert run.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in rest
    assert not list(tmp_path.iterdir())


def test_a_run_leaves_meshes_maps_and_a_report(ran):
    names = {path.relative_to(ran).as_posix() for path in ran.rglob("*") if path.is_file()}
    assert {
        "mesh.glb", "mesh.ply", "mesh.obj", "mesh.mtl", "mesh_texture.png", "depth.exr",
        "depth.png", "normals.png", "normals.exr", "albedo.png", "albedo.exr", "lighting.json",
        "lights.lp", "report.html", "preview/mask.png", "preview/relit_left.png",
    } <= names  # fmt: skip
    assert all(any(fnmatch(name, p) for p in OWNED.patterns) for name in names)
    mesh = trimesh.load(ran / "mesh.glb", force="mesh")
    assert len(mesh.faces) > 500
    assert "Content-Security-Policy" in (ran / "report.html").read_text()


def test_only_the_result_when_asked(capture, tmp_path):
    out = tmp_path / "out"
    arguments = ["run", str(capture), "--out", str(out), "--only-result", *FAST]
    assert main(arguments) == 0
    assert not (out / "mesh.glb").exists()
    assert not (out / "report.html").exists()
    assert (out / "preview" / "normals.png").exists()


def test_without_out_the_result_is_named_after_the_capture(capture, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(capture), "--only-result", *FAST]) == 0
    assert (tmp_path / "bust_result" / "run.json").exists()


def test_scale_crop_and_downscale_reach_the_files(capture, tmp_path):
    out = tmp_path / "out"
    arguments = ["run", str(capture), "--out", str(out), "--crop", "--downscale", "2",
                 "--distance", "600", "--normal-format", "directx", *FAST]  # fmt: skip
    assert main(arguments) == 0
    result = load_reconstruction(out / "result.npz")
    whole = load_capture(capture)
    rows = np.flatnonzero(whole.mask.any(1))
    assert result.mask.shape[0] <= len(rows) / 2 + 6
    assert result.unit == "mm"
    assert np.median(result.depth[result.mask]) == pytest.approx(600)
    assert b"unit: mm" in (out / "mesh.ply").read_bytes()[:600]
    assert stated_convention(out / "normals.png") == "directx"
    record = json.loads((out / "run.json").read_text())
    assert record["unit"] == "mm"
    assert record["capture"]["cropped_at"] != [0, 0]


def test_a_photo_that_moved_far_ends_the_run(tmp_path, capsys):
    moved, out = tmp_path / "moved", tmp_path / "out"
    painted = ["--images", "6", "--height", "128", "--albedo", "voronoi"]
    assert main(["synth", *painted, "--out", str(moved)]) == 0
    photo = read_image(moved / "photo_03.png")
    write_image(moved / "photo_03.png", np.roll(photo, (3, 5), (0, 1)))
    fails(capsys, ["run", str(moved), "--out", str(out), *FAST], "photo_03.png", "moved")
    assert not out.exists()


def test_a_read_only_place_is_named(capture, tmp_path, capsys, monkeypatch):
    place = tmp_path / "locked"
    place.mkdir(mode=0o555)
    if os.geteuid() == 0:  # root may write anywhere

        def denied(**_):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr("anylight.io.stage.tempfile.mkdtemp", denied)
    fails(capsys, ["run", str(capture), "--out", str(place / "out"), *FAST], "cannot be written")


def test_a_full_disk_leaves_nothing_behind(capture, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("anylight.runs.folder.export_scene", full)
    out = tmp_path / "out"
    assert main(["run", str(capture), "--out", str(out), *FAST]) == 2
    assert "No space left" in capsys.readouterr().err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []

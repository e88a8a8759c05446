import csv
import json
import shutil
from fnmatch import fnmatch

import numpy as np
import pytest
import trimesh

from anylight.cli.main import main
from anylight.intake.load import load_capture
from anylight.io.archive import load_reconstruction
from anylight.io.capture import save_capture
from anylight.io.images import read_image
from anylight.io.normals import stated_convention
from anylight.model.capture import Capture
from anylight.runs.folder import OWNED
from tests.cli.short import FAST


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


def test_preset_is_another_word_for_method(capture, ran, tmp_path):
    out = tmp_path / "out"
    arguments = ["--method", "paper", *FAST[2:]]
    assert main(["run", str(capture), "--out", str(out), "--use", "5", *arguments]) == 0
    assert (out / "result.npz").read_bytes() == (ran / "result.npz").read_bytes()


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

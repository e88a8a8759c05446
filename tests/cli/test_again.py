"""Results that are already there."""

import hashlib
import json
import shutil

from anylight.cli.main import main
from anylight.intake.load import load_capture
from anylight.io.images import read_image, write_image
from tests.cli.short import FAST, fails


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


def test_going_on_from_an_earlier_result(capture, ran, tmp_path):
    arguments = ["run", str(capture), "--out", str(tmp_path / "o"), "--init", str(ran), *FAST]
    assert main(arguments) == 0
    record = json.loads((tmp_path / "o" / "run.json").read_text())
    assert record["init"] == str(ran)
    assert record["inputs"]["camera"] == "perspective"
    assert record["threads"] >= 1

"""Runs that cannot be."""

import errno
import os

import numpy as np

from anylight.cli.main import main
from anylight.io.images import read_image, write_image
from tests.cli.short import FAST, fails


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

    monkeypatch.setattr("anylight.export.folder.write_depth", full)
    out = tmp_path / "out"
    assert main(["run", str(capture), "--out", str(out), *FAST]) == 2
    assert "No space left" in capsys.readouterr().err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []

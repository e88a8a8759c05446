"""What would not fit is refused before it is decoded or solved, or reduced if asked."""

import struct
import zlib

import numpy as np
import pytest
from intake.files import chunk, noise, write_photos

from anylight.cli.main import main
from anylight.errors import InvalidInputError
from anylight.intake import stack
from anylight.intake.forecast import bytes_to_read, bytes_to_solve, bytes_to_write
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.io import room
from anylight.io.images import read_image, write_image
from tests.cli.short import fails


def bomb(path, side, is_whole=False):
    """Write a small PNG of a huge picture, or of its header alone."""
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * ((3 * side + 1) * side if is_whole else 1000))
    body = [(b"IHDR", head), (b"IDAT", data), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, data) for kind, data in body))


def limited(monkeypatch, size):
    monkeypatch.setattr(room, "_of_machine", lambda: size)


@pytest.fixture
def folder(tmp_path, rng):
    write_photos(tmp_path / "photos", noise(rng, 4, (48, 64)))
    return tmp_path / "photos"


def test_image_bombs_are_stopped_by_their_headers(tmp_path, monkeypatch):
    for index in range(3):
        bomb(tmp_path / f"{index}.png", 60000)
    with pytest.raises(InvalidInputError, match=r"memory|million|malicious"):
        load(tmp_path)
    bomb(tmp_path / "0.png", 3000, is_whole=True)
    assert (tmp_path / "0.png").stat().st_size < 100_000
    limited(monkeypatch, 2**24)
    with pytest.raises(InvalidInputError, match="of memory"):
        read_image(tmp_path / "0.png")


def test_the_sum_of_all_photos_is_known_before_the_first_is_decoded(folder, monkeypatch):
    paths = sorted(folder.iterdir())
    assert bytes_to_read(paths) == 4 * 48 * 64 * 3
    limited(monkeypatch, 4 * 48 * 64 * 3 - 1)
    monkeypatch.setattr(stack, "_read_all", None)
    with pytest.raises(InvalidInputError, match="these 4 photos"):
        load(folder)


def test_a_run_that_would_not_fit_is_refused_or_reduced(folder, tmp_path, monkeypatch, capsys):
    photos = load(folder).capture.photos
    limited(monkeypatch, bytes_to_solve(photos.nbytes, 48 * 64) // 3)
    out = tmp_path / "out"
    fails(capsys, ["run", str(folder), "--out", str(out)], "of memory", "--downscale 2", "--fit")
    assert not out.exists()
    intake = load(folder, IntakeOptions(fit=True))
    assert intake.downscale == 2
    assert intake.capture.mask.shape == (24, 32)
    assert any("reduced by 2" in warning for warning in intake.warnings)
    assert intake.record()["downscaled_by"] == 2
    limited(monkeypatch, 2**40)
    assert load(folder, IntakeOptions(fit=True)).downscale == 1


def test_a_full_disk_is_known_before_the_solve(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("anylight.io.room.free_disk", lambda _: 10**6)
    monkeypatch.setattr("anylight.cli.run.steps", None)
    fails(capsys, ["run", str(folder), "--out", str(tmp_path / "out")], "disk", "free some space")


def test_the_forecast_of_the_disk_is_above_what_a_run_writes(tmp_path):
    capture, out = tmp_path / "vase", tmp_path / "out"
    rendering = ["--shape", "vase", "--albedo", "voronoi", "--images", "6", "--height", "160"]
    assert main(["synth", *rendering, "--out", str(capture)]) == 0
    quick = ["--preset", "paper", "--iterations", "2", "--first-order-iterations", "1"]
    assert main(["run", str(capture), "--out", str(out), *quick]) == 0
    written = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    pixels = int(load(capture).capture.mask.sum())
    assert written < bytes_to_write(6, pixels, only_result=False)


def test_many_channels_count(tmp_path):
    write_image(tmp_path / "a.tif", np.zeros((4, 5, 7), np.uint16))
    assert bytes_to_read([tmp_path / "a.tif"]) == 4 * 5 * 7 * 2

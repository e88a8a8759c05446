"""What would not fit is refused before it is decoded or solved, or reduced if asked."""

import struct
import zlib

import numpy as np
import pytest
from intake.files import chunk, eight_bit, noise, rendering, write_photos

from anylight.cli.main import main
from anylight.errors import InvalidInputError
from anylight.intake import load as intake
from anylight.intake import stack, streaming
from anylight.intake.forecast import (
    bytes_of_run,
    bytes_to_read,
    bytes_to_solve,
    bytes_to_write,
    stack_size,
)
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
    monkeypatch.setattr(stack, "read_all", None)
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


def test_a_reduction_that_fits_is_known_before_the_first_photo_is_decoded(folder, monkeypatch):
    size = stack_size(sorted(folder.iterdir()))
    assert size == (4, (48, 64), 4 * 48 * 64 * 3, 1)
    limited(monkeypatch, bytes_of_run(size, 48 * 64, 3))
    decoded, begun = [], []
    plain = streaming.read_all

    def read_all(paths):
        begun.append(len(decoded))
        for path, photo in plain(paths):
            decoded.append(path)
            yield path, photo

    monkeypatch.setattr(streaming, "read_all", read_all)
    monkeypatch.setattr(stack, "read_all", None)  # the whole stack is never read
    assert load(folder, IntakeOptions(fit=True)).downscale == 3
    assert begun == [0, 4]
    limited(monkeypatch, 1000)
    with pytest.raises(InvalidInputError, match="however far"):
        load(folder, IntakeOptions(fit=True))


def test_a_small_object_needs_less_reduction(folder, monkeypatch):
    mask = np.zeros((48, 64, 1), np.uint8)
    mask[4:20, 4:40] = 255
    size = stack_size(sorted(folder.iterdir()))
    limited(monkeypatch, bytes_of_run(size, 16 * 36, 2))
    whole = load(folder, IntakeOptions(fit=True)).downscale
    write_image(folder / "mask.png", mask)
    assert load(folder, IntakeOptions(fit=True)).downscale == 2 < whole


@pytest.mark.parametrize("kind", ["coded", "linear", "float", "mixed"])
def test_photos_that_are_reduced_one_by_one_are_the_same(kind, tmp_path, monkeypatch):
    capture = rendering().capture
    photos = eight_bit(capture, is_coded=kind != "linear")
    if kind in ("float", "mixed"):
        floats = (capture.photos / 65535.0).astype(np.float32)
        write_photos(tmp_path, floats[:4], "a{}.exr")
    if kind != "float":
        write_photos(tmp_path, photos[4:], "b{}.png")
    asked = IntakeOptions(downscale=3)
    at_once = load(tmp_path, asked)
    monkeypatch.setattr(intake, "_is_large", lambda _: True)
    monkeypatch.setattr(stack, "read_all", None)
    one_by_one = load(tmp_path, asked)
    assert np.array_equal(at_once.capture.photos, one_by_one.capture.photos)
    assert at_once.capture.photos.dtype == one_by_one.capture.photos.dtype
    assert at_once.record() == one_by_one.record()


def test_a_photo_that_is_there_twice_is_refused_one_by_one_too(folder, monkeypatch):
    (folder / "twin.png").write_bytes(sorted(folder.iterdir())[1].read_bytes())
    monkeypatch.setattr(intake, "_is_large", lambda _: True)
    with pytest.raises(InvalidInputError, match="same photo"):
        load(folder, IntakeOptions(downscale=2))


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

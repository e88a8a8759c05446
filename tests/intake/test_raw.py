import importlib

import numpy as np
import pytest
from intake.files import write_dng

from anylight.errors import InvalidInputError
from anylight.intake.load import load
from anylight.intake.raw import read_raw

WHITE = 16383


def ramp(factor=1.0):
    rows, columns = np.mgrid[:48, :64]
    return factor * (2000 + 60 * columns + 20 * rows)


@pytest.fixture
def folder(tmp_path):
    for index in range(3):
        write_dng(tmp_path / f"{index}.dng", ramp((1.0, 2.0, 0.5)[index]), seconds=(index + 1, 100))
    return tmp_path


def test_twice_the_light_is_twice_the_value(folder):
    once, twice, half = (read_raw(folder / f"{n}.dng")[0][4:-4, 4:-4].astype(float) for n in
                         range(3))  # fmt: skip
    assert np.allclose(twice / once, 2, rtol=0.01)
    assert np.allclose(half / once, 0.5, rtol=0.01)


def test_grey_stays_grey_and_white_is_full_scale(tmp_path):
    write_dng(tmp_path / "a.dng", ramp())
    inner = read_raw(tmp_path / "a.dng")[0][4:-4, 4:-4] / 65535
    assert np.allclose(inner, (ramp() / WHITE)[4:-4, 4:-4, None], rtol=0.02)
    write_dng(tmp_path / "a.dng", np.full((48, 64), WHITE))
    assert (read_raw(tmp_path / "a.dng")[0] == 65535).all()


def test_raw_photos_are_turned_upright(tmp_path):
    for orientation, shape in ((1, (48, 64)), (3, (48, 64)), (6, (64, 48)), (8, (64, 48))):
        path = tmp_path / f"{orientation}.dng"
        write_dng(path, ramp(), orientation)
        pixels, facts = read_raw(path)
        assert pixels.shape == (*shape, 3)
        assert facts.orientation == 1
    level, turned = (read_raw(tmp_path / f"{n}.dng")[0].astype(float) for n in (1, 6))
    assert np.allclose(np.rot90(level, -1)[4:-4, 4:-4], turned[4:-4, 4:-4], rtol=0.02)


def test_three_raw_files_make_a_capture(folder):
    intake = load(folder)
    assert intake.capture.photos.shape == (3, 48, 64, 3)
    assert intake.capture.photos.dtype == np.uint16
    assert intake.coding.coding == "linear"
    assert intake.capture.exposures == pytest.approx((1, 2, 3))
    assert intake.capture.camera.focal_px[0] == pytest.approx(75 / 36 * 64)


@pytest.mark.parametrize("content", [b"", b"II*\0garbage", bytes(5000)])
def test_a_raw_file_that_cannot_be_decoded(folder, content):
    (folder / "1.dng").unlink()
    (folder / "1.cr2").write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"1\.cr2.*cannot be decoded.*DNG") as caught:
        load(folder)
    assert "\n" not in str(caught.value)


def test_a_raw_file_that_is_cut_off(folder):
    content = (folder / "1.dng").read_bytes()
    (folder / "1.dng").write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidInputError, match=r"1\.dng"):
        load(folder)


@pytest.mark.parametrize("missing", ["rawpy", "exifread"])
def test_the_extra_that_reads_raw_is_named(folder, monkeypatch, missing):
    original = importlib.import_module

    def without(name, *rest):
        if name == missing:
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(InvalidInputError, match=r"0\.dng.*anylight\[raw\]"):
        load(folder)

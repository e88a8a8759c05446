import struct

import numpy as np
import pytest
from intake.files import eight_bit, exif, insert_chunk, noise, rendering, write_photos, write_png16
from PIL import Image, ImageCms

from anylight.errors import InvalidInputError
from anylight.intake.coding import curve_misfit
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.io.capture import save_capture
from anylight.io.images import write_image
from anylight.photometry.transfer import srgb_to_linear

SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def chunked(folder, rng, kind, data, dtype=np.uint8):
    photos = noise(rng, dtype=dtype)
    for path in write_photos(folder, photos):
        insert_chunk(path, kind, data)
    return photos


def test_jpeg_is_srgb(tmp_path, rng):
    photos = np.repeat(np.repeat(noise(rng, shape=(3, 4), channels=1), 16, 1), 16, 2)
    write_photos(tmp_path, photos, "{}.jpg", quality=95)
    intake = load(tmp_path)
    assert intake.coding.coding == "srgb"
    stored = np.asarray(Image.open(tmp_path / "2.jpg")) / 255
    assert np.allclose(intake.capture.photos[2, ..., 0] / 65535, srgb_to_linear(stored), atol=1e-5)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize(
    ("kind", "data", "coding"),
    [
        (b"sRGB", b"\0", "srgb"),
        (b"gAMA", struct.pack(">I", 45455), "srgb"),
        (b"gAMA", struct.pack(">I", 100000), "linear"),
        (b"cICP", bytes([1, 13, 0, 1]), "srgb"),
        (b"cICP", bytes([1, 8, 0, 1]), "linear"),
    ],
)
def test_a_png_names_its_curve_in_a_chunk(tmp_path, rng, kind, data, coding, dtype):
    photos = chunked(tmp_path, rng, kind, data, dtype)
    intake = load(tmp_path)
    assert intake.coding.coding == coding
    assert kind.decode() in intake.coding.source
    light = photos / np.iinfo(dtype).max
    expected = light if coding == "linear" else srgb_to_linear(light)
    assert np.allclose(intake.capture.photos / intake.capture.full_scale, expected, atol=1e-5)


def test_the_srgb_chunk_outweighs_gamma(tmp_path, rng):
    write_photos(tmp_path, noise(rng))
    for path in tmp_path.glob("*.png"):
        insert_chunk(path, b"sRGB", b"\0")
        insert_chunk(path, b"gAMA", struct.pack(">I", 100000))
    assert load(tmp_path).coding.coding == "srgb"


def test_a_colour_profile_is_a_curve(tmp_path, rng):
    write_photos(tmp_path, noise(rng), icc_profile=SRGB)
    coding = load(tmp_path).coding
    assert coding.coding == "srgb"
    assert not coding.is_judged


def test_a_png_may_say_it_in_exif(tmp_path, rng):
    said = exif(1)
    said.get_ifd(0x8769)[0xA001] = 1
    write_photos(tmp_path, noise(rng), exif=said)
    assert load(tmp_path).coding.source == "EXIF says sRGB"


def test_a_silent_16_bit_png_is_linear(tmp_path, rng):
    photos = noise(rng, dtype=np.uint16)
    write_photos(tmp_path, photos)
    intake = load(tmp_path)
    assert intake.coding.coding == "linear"
    assert np.array_equal(intake.capture.photos, photos)


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize("is_coded", [False, True])
def test_silent_8_bit_files_are_judged_by_their_values(tmp_path, is_coded, suffix):
    write_photos(tmp_path, eight_bit(rendering().capture, is_coded), "{:02d}." + suffix)
    coding = load(tmp_path).coding
    assert coding.is_judged
    assert coding.coding == ("srgb" if is_coded else "linear")


@pytest.mark.parametrize(
    ("shape", "albedo"),
    [("sphere", "white"), ("coral", "natural"), ("vase", "pattern")],
)
def test_the_judgement_does_not_depend_on_the_scene(shape, albedo):
    capture = rendering(shape, albedo).capture
    linear, coded = (curve_misfit(eight_bit(capture, is_coded)) for is_coded in (False, True))
    assert coded < 1.0
    assert linear > 1.15


def test_photos_that_say_nothing_at_all_cannot_be_judged():
    assert curve_misfit(np.zeros((12, 20, 20, 3), np.uint8)) is None
    assert curve_misfit(np.full((3, 20, 20, 1), 128, np.uint8)) is None


@pytest.mark.parametrize("asked", ["linear", "srgb"])
def test_the_option_outweighs_file_and_notes(tmp_path, rng, asked):
    chunked(tmp_path, rng, b"sRGB", b"\0")
    (tmp_path / "capture.toml").write_text('transfer = "linear"')
    assert load(tmp_path).coding.coding == "linear"
    coding = load(tmp_path, IntakeOptions(transfer=asked)).coding
    assert (coding.coding, coding.source) == (asked, "--transfer")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_a_saved_capture_is_linear(tmp_path, dtype):
    capture = rendering().capture
    photos = (capture.photos / 65535).astype(np.float32)
    if dtype != np.float32:
        photos = np.round(photos * np.iinfo(dtype).max).astype(dtype)
    save_capture(tmp_path, type(capture)(photos, capture.mask, capture.camera))
    for _ in range(2):
        intake = load(tmp_path)
        assert intake.coding.coding == "linear"
        assert np.array_equal(intake.capture.photos, photos)
        (tmp_path / "capture.toml").unlink(missing_ok=True)  # the files say it themselves


def test_float_files_are_linear_whatever_one_says(tmp_path, rng):
    photos = rng.random((3, 8, 9, 3)).astype(np.float32)
    write_photos(tmp_path, photos, "{}.exr")
    intake = load(tmp_path, IntakeOptions(transfer="srgb"))
    assert intake.coding.coding == "linear"
    assert np.array_equal(intake.capture.photos, photos)


def test_the_curve_is_undone_where_8_and_16_bit_meet(tmp_path, rng):
    photos = noise(rng)
    first, *rest = write_photos(tmp_path, photos)
    write_png16(first, photos[0].astype(np.uint16) * 257)
    for path in (first, *rest):
        insert_chunk(path, b"sRGB", b"\0")
    intake = load(tmp_path)
    assert intake.coding.coding == "srgb"
    assert np.allclose(intake.capture.photos, srgb_to_linear(photos / 255), atol=1e-6)


def test_files_that_contradict_each_other_are_refused(tmp_path, rng):
    for index, path in enumerate(write_photos(tmp_path, noise(rng))):
        insert_chunk(path, b"gAMA", struct.pack(">I", 100000 if index else 45455))
    with pytest.raises(InvalidInputError, match=r"differently.*--transfer"):
        load(tmp_path)
    assert load(tmp_path, IntakeOptions(transfer="srgb")).coding.coding == "srgb"


def test_radiance_files_are_linear(tmp_path, rng):
    for index in range(3):
        light = rng.random((8, 9, 3)).astype(np.float32)
        write_image(tmp_path / f"{index}.hdr", light)
    assert load(tmp_path).coding.coding == "linear"

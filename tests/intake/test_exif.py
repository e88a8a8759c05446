import numpy as np
import pytest
from intake.files import exif, noise, write_photos, write_tiff_with_exif
from PIL import Image, ImageOps

from anylight.intake.bodies import phone_35mm, sensor_mm
from anylight.intake.intrinsics import _from_metadata
from anylight.intake.load import load
from anylight.intake.photo import read_photo, upright
from anylight.io.metadata import Metadata, metadata_from_tags, read_metadata

SHAPE = (24, 36)


def smooth(rng, num=3, shape=SHAPE):
    """Photos that JPEG hardly changes."""
    coarse = noise(rng, num, (shape[0] // 12, shape[1] // 12), 1)
    return np.repeat(np.repeat(coarse, 12, 1), 12, 2)


def shot(folder, rng, *tags, name="{}.jpg"):
    """Write photos, each with its EXIF; the last one's serves the rest."""
    for index, photo in enumerate(smooth(rng)):
        write_photos(folder, photo[None], name.format(index), exif=tags[min(index, len(tags) - 1)])
    return folder


def focal(folder):
    intake = load(folder)
    return intake.capture.camera.focal_px[0], intake


@pytest.mark.parametrize("orientation", range(1, 9))
def test_upright_undoes_the_eight_symmetries(tmp_path, rng, orientation):
    pixels = noise(rng, 1, (5, 7))[0]
    path = tmp_path / "a.tif"
    Image.fromarray(pixels).save(path, exif=exif(orientation))
    assert read_metadata(path).orientation == orientation
    expected = np.asarray(ImageOps.exif_transpose(Image.open(path)))
    assert np.array_equal(upright(pixels, orientation), expected)
    assert np.array_equal(read_photo(path)[0], expected)


def test_no_two_orientations_are_alike(rng):
    square = noise(rng, 1, (6, 6))[0]
    assert len({upright(square, orientation).tobytes() for orientation in range(1, 9)}) == 8


@pytest.mark.parametrize("nonsense", [0, 9, -3, "portrait", None])
def test_an_impossible_orientation_means_upright(nonsense):
    assert metadata_from_tags({"orientation": nonsense}, 8).orientation == 1


def test_a_portrait_is_read_upright(tmp_path, rng):
    shot(tmp_path, rng, exif(6, focal_35mm=72))
    length, intake = focal(tmp_path)
    assert intake.capture.photos.shape[1:3] == (36, 24)
    assert length == pytest.approx(72 / 36 * 36)
    assert intake.capture.camera.centre_px == (11.5, 17.5)


def test_focal_length_on_35_mm_film(tmp_path, rng):
    length, intake = focal(shot(tmp_path, rng, exif(focal=30, focal_35mm=45)))
    assert length == pytest.approx(45)
    assert "45 mm on 35 mm film" in intake.camera.source
    assert not intake.warnings[0].startswith("NOTHING")


@pytest.mark.parametrize(("unit", "per_unit"), [(2, 25.4), (3, 10.0), (4, 1.0)])
def test_focal_plane_resolution_in_any_unit(tmp_path, rng, unit, per_unit):
    tags = exif(focal=50, plane_x=1.5 * per_unit, plane_unit=unit)
    length, intake = focal(shot(tmp_path, rng, tags))
    assert length == pytest.approx(75, rel=1e-3)
    assert "50 mm" in intake.camera.source


@pytest.mark.parametrize(
    ("width", "height", "orientation"), [(3600, 2400, 1), (3600, 2400, 6), (2400, 3600, 1)]
)
def test_a_resized_photo_keeps_its_view(tmp_path, rng, width, height, orientation):
    tags = exif(orientation, focal=50, plane_x=1000, plane_unit=3, width=width, height=height)
    assert focal(shot(tmp_path, rng, tags))[0] == pytest.approx(50)


@pytest.mark.parametrize(
    ("lie", "word"),
    [
        ({"focal": 0, "plane_x": 1000, "plane_unit": 3}, "focal length 0"),
        ({"focal": 65535, "plane_x": 1000, "plane_unit": 3}, "focal length 65535"),
        ({"focal": 0, "focal_35mm": 0}, "35 mm focal length 0"),
    ],
)
def test_a_lens_that_cannot_be_is_named_and_not_used(tmp_path, rng, lie, word):
    length, intake = focal(shot(tmp_path, rng, exif(**lie)))
    assert intake.camera.guessed
    assert length == pytest.approx(50)
    assert any(word in warning and "cannot be" in warning for warning in intake.warnings)
    assert any("NOTHING SAYS WHICH LENS" in warning for warning in intake.warnings)


def test_a_resolution_that_cannot_be_is_not_used(tmp_path, rng):
    _, intake = focal(shot(tmp_path, rng, exif(focal=50, plane_x=100000, plane_unit=4)))
    assert intake.camera.guessed


def test_exposures_are_relative_to_the_first(tmp_path, rng):
    first, second, third = (
        exif(seconds=0.01, f_number=4, iso=100),
        exif(seconds=0.02, f_number=4, iso=100),
        exif(seconds=0.01, f_number=8, iso=800),
    )
    shot(tmp_path, rng, first, second, third)
    assert load(tmp_path).capture.exposures == pytest.approx((1, 2, 2), rel=1e-3)


def test_exposures_are_unknown_unless_all_say_them(tmp_path, rng):
    shot(tmp_path, rng, exif(seconds=0.01), exif(seconds=0.02), exif(iso=100))
    assert load(tmp_path).capture.exposures == ()


def test_tiff_holds_exif_too(tmp_path, rng):
    for index, photo in enumerate(noise(rng, 3, SHAPE, dtype=np.uint16)):
        write_tiff_with_exif(
            tmp_path / f"{index}.tif",
            photo,
            ExposureTime=0.02 * (index + 1),
            Exif__FocalLength=50.0,
            Exif__FocalLengthIn35mmFilm=75,
        )
    length, intake = focal(tmp_path)
    assert length == pytest.approx(75)
    assert intake.coding.coding == "linear"
    assert intake.capture.exposures == pytest.approx((1, 2, 3), rel=1e-3)


@pytest.mark.parametrize("value", ["nan", float("inf"), -1, "f/8", None, 0])
def test_numbers_that_cannot_be_are_left_out(value):
    names = ("seconds", "f_number", "iso", "focal_35mm", "plane_resolution", "sensor_width_px")
    facts = metadata_from_tags(dict.fromkeys(names, value), 8)
    assert facts.exposure is facts.focal_35mm is facts.pixels_per_mm is None
    assert facts.sensor_width_px is None


@pytest.mark.parametrize(
    ("name", "sensor", "phone"),
    [
        ("SONY ILCE-7M4", 36.0, None),
        ("SONY ILCE-6400", 23.5, None),
        ("Canon EOS R5", 36.0, None),
        ("Canon EOS R10", 22.3, None),
        ("Canon EOS 80D", 22.3, None),
        ("Canon EOS 5D Mark IV", 36.0, None),
        ("NIKON CORPORATION NIKON Z 6", 36.0, None),
        ("NIKON CORPORATION NIKON Z 50", 23.5, None),
        ("NIKON CORPORATION NIKON D750", 36.0, None),
        ("NIKON CORPORATION NIKON D7500", 23.5, None),
        ("NIKON CORPORATION NIKON D90", 23.5, None),
        ("FUJIFILM X-T4", 23.5, None),
        ("OLYMPUS E-M10MarkIII", 17.3, None),
        ("Apple iPhone 13", None, 26.0),
        ("Apple iPhone 15 Pro", None, 24.0),
        ("Google Pixel 7", None, 25.0),
        ("nobody knows this", None, None),
    ],
)
def test_cameras_known_by_name(name, sensor, phone):
    assert sensor_mm(name) == sensor
    assert phone_35mm(name) == phone


def test_a_camera_that_names_itself_needs_no_guess():
    fact = Metadata(bits=8, focal_mm=50.0, taken="SONY ILCE-6400 2024:01:01")
    found = _from_metadata((fact,), (2400, 3600))
    assert not found.guessed
    assert found.camera.focal_px[0] == pytest.approx(50 / 23.5 * 3600)
    found = _from_metadata((Metadata(bits=8, taken="Apple iPhone 13"),), (2400, 3600))
    assert not found.guessed
    assert found.camera.focal_px[0] == pytest.approx(26 / 36 * 3600)
    assert "phone" in found.source

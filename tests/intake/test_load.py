import numpy as np
import pytest
from PIL import Image

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective
from anylight.intake.load import load, load_capture
from anylight.intake.options import IntakeOptions
from anylight.io.capture import natural_key, save_capture
from anylight.io.images import write_image
from anylight.model.capture import Capture
from anylight.photometry.transfer import linear_to_srgb, srgb_to_linear

CAMERA = Perspective((30.0, 28.0), (7.5, 5.25))


def make_capture(rng, dtype=np.uint16, channels=3, num=4, camera=CAMERA):
    if np.dtype(dtype).kind == "f":
        photos = rng.random((num, 12, 16, channels)).astype(dtype)
    else:
        photos = rng.integers(0, np.iinfo(dtype).max, (num, 12, 16, channels)).astype(dtype)
    mask = np.zeros((12, 16), bool)
    mask[2:10, 3:14] = True
    return Capture(photos, mask, camera)


@pytest.fixture
def folder(tmp_path, rng):
    save_capture(tmp_path, make_capture(rng))
    return tmp_path


def refused(folder, *words):
    with pytest.raises(InvalidInputError) as caught:
        load_capture(folder)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


@pytest.mark.parametrize("camera", [CAMERA, Orthographic((7.5, 5.5))])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_round_trip(tmp_path, rng, dtype, channels, camera):
    capture = make_capture(rng, dtype, channels, camera=camera)
    save_capture(tmp_path, capture)
    back = load_capture(tmp_path)
    assert back.photos.dtype == dtype
    assert np.array_equal(back.photos, capture.photos)
    assert np.array_equal(back.mask, capture.mask)
    assert back.camera == camera


def test_a_capture_cannot_be_changed(folder):
    capture = load_capture(folder)
    with pytest.raises(ValueError, match="read-only"):
        capture.photos[0, 0, 0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        capture.mask[0, 0] = True


def test_radiance_is_stored_value_over_full_scale(folder):
    capture = load_capture(folder)
    radiance = capture.radiance()
    assert radiance.shape == (4, 3, capture.mask.sum())
    first = capture.photos[:, 2, 3, :] / 65535
    assert np.array_equal(radiance[:, :, 0], first)


def test_natural_order():
    names = ["b10.png", "b2.png", "B1.png", "a.png", "b2a.png", "b02.png"]
    assert sorted(names, key=natural_key) == [
        "a.png", "B1.png", "b02.png", "b2.png", "b2a.png", "b10.png"
    ]  # fmt: skip


def test_photos_come_in_natural_order_without_the_mask(folder):
    (folder / "capture.toml").unlink()
    for number, name in enumerate(sorted(p.name for p in folder.glob("photo_*"))):
        (folder / name).rename(folder / f"p{(7, 8, 9, 10)[number]}.png")
    assert load_capture(folder).names == ("p7.png", "p8.png", "p9.png", "p10.png")


def test_notes_can_set_the_order(folder):
    names = [f"photo_0{i}.png" for i in (2, 0, 3)]
    (folder / "capture.toml").write_text(f"files = {names}")
    assert load_capture(folder).names == tuple(names)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_srgb_is_undone_when_the_notes_say_so(tmp_path, rng, dtype):
    capture = make_capture(rng, dtype)
    save_capture(tmp_path, capture)
    (tmp_path / "capture.toml").write_text('transfer = "srgb"')
    expected = srgb_to_linear(capture.radiance())
    assert np.allclose(load_capture(tmp_path).radiance(), expected, atol=1e-5)


def test_all_levels_survive_linearisation(tmp_path):
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    for index in range(3):
        write_image(tmp_path / f"{index}.png", np.roll(levels, index))
    (tmp_path / "capture.toml").write_text('transfer = "srgb"\ncamera = "orthographic"')
    assert len(np.unique(load_capture(tmp_path).photos[0])) == 256


def test_srgb_curve_round_trips(rng):
    values = rng.random(1000)
    assert np.allclose(srgb_to_linear(linear_to_srgb(values)), values, atol=1e-6)


def test_mixed_bit_depths_meet_in_float(folder):
    first = load_capture(folder)
    write_image(folder / "photo_01.png", (first.photos[1] >> 8).astype(np.uint8))
    capture = load_capture(folder)
    assert capture.photos.dtype == np.float32
    assert np.allclose(capture.radiance(), first.radiance(), atol=1 / 255)


def test_orthographic_needs_no_intrinsics(folder):
    (folder / "K.txt").unlink()
    (folder / "capture.toml").write_text('camera = "orthographic"')
    assert load_capture(folder).camera == Orthographic((7.5, 5.5))


def test_comma_separated_intrinsics(folder):
    (folder / "K.txt").write_text("30,0,7.5\n0,28,5.25\n0,0,1\n")
    assert load_capture(folder).camera == CAMERA


def test_missing_folder(tmp_path):
    refused(tmp_path / "nowhere", "nowhere", "no such folder")


def test_too_few_photos(folder):
    (folder / "capture.toml").unlink()
    for name in ("photo_00.png", "photo_01.png"):
        (folder / name).unlink()
    refused(folder, "2 photo(s)", "at least 3")


def test_photos_of_different_sizes(folder):
    write_image(folder / "photo_02.png", np.zeros((12, 15, 3), np.uint16))
    refused(folder, "photo_02.png", "15×12", "16×12")


def test_photos_with_different_channels(folder):
    write_image(folder / "photo_02.png", np.zeros((12, 16, 1), np.uint16))
    refused(folder, "photo_02.png", "1 channel(s)")


def test_mask_of_another_size(folder):
    write_image(folder / "mask.png", np.full((11, 16, 1), 255, np.uint8))
    refused(folder, "mask.png", "16×11", "16×12")


def test_empty_mask(folder):
    write_image(folder / "mask.png", np.zeros((12, 16, 1), np.uint8))
    refused(folder, "mask.png", "all black")


def test_grey_mask(folder):
    write_image(folder / "mask.png", np.arange(192, dtype=np.uint8).reshape(12, 16, 1))
    refused(folder, "mask.png", "not a mask")


def test_coloured_mask(folder):
    mask = np.zeros((12, 16, 3), np.uint8)
    mask[3:9, 3:9, 0] = 255
    write_image(folder / "mask.png", mask)
    refused(folder, "mask.png", "not a mask")


def test_two_masks(folder):
    write_image(folder / "Mask.tif", np.full((12, 16, 1), 255, np.uint8))
    refused(folder, "second mask")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("1 0\n0 1", "2×2"),
        ("1 2 3 4 5 6 7 8 9", "1×9"),
        ("1e7 0 1\n0 1e7 1\n0 0 0", "last row"),
        ("0 0 0\n0 0 0\n0 0 1", "singular"),
        ("-5 0 1\n0 5 1\n0 0 1", "positive"),
        ("nan 0 1\n0 5 1\n0 0 1", "singular"),
        ("5 1 1\n0 5 1\n0 0 1", "skew"),
        ("5 0 1\n0 5 1\n0 0 2", "last row"),
        ("a b c", "numbers"),
        ("1 2 3\n4 5", "numbers"),
        ("", "K.txt"),
    ],
)
def test_bad_intrinsics(folder, text, word):
    (folder / "K.txt").write_text(text)
    refused(folder, "K.txt", word)


def test_missing_intrinsics_are_guessed_loudly(folder):
    (folder / "K.txt").unlink()
    intake = load(folder)
    assert intake.camera.guessed
    assert intake.capture.camera == Perspective((16 * 50 / 36,) * 2, (7.5, 5.5))
    assert any("NOTHING SAYS WHICH LENS" in warning for warning in intake.warnings)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.5])
def test_impossible_light(tmp_path, rng, bad):
    capture = make_capture(rng, np.float32)
    save_capture(tmp_path, capture)
    photo = capture.photos[1].copy()
    photo[3, 4, 1] = bad
    write_image(tmp_path / "photo_01.exr", photo)
    refused(tmp_path, "photo_01.exr", "negative" if bad == -0.5 else "NaN")


@pytest.mark.parametrize(
    "text", ['transfer = "gamma"', "colour = 3", "transfer = ", 'files = ["../a.png"]', "\xff"]
)
def test_bad_notes(folder, text):
    (folder / "capture.toml").write_bytes(text.encode("latin-1"))
    refused(folder, "capture.toml")


def test_listed_but_missing_photo(folder):
    (folder / "photo_03.png").unlink()
    refused(folder, "photo_03.png", "no such file")


def test_a_text_file_named_png(folder):
    (folder / "photo_01.png").write_text("hello")
    refused(folder, "photo_01.png", "cannot be read")


def test_a_linearised_capture_keeps_its_depth_when_saved(tmp_path, rng):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    save_capture(first, make_capture(rng, np.uint16))
    (first / "capture.toml").write_text('transfer = "srgb"')
    capture = load_capture(first)  # float32, from names that end in .png
    save_capture(second, capture)
    assert np.array_equal(load_capture(second).photos, capture.photos)


def test_names_that_need_escaping(tmp_path, rng):
    capture = make_capture(rng)
    names = ('a "b".png', "c\\d.png", "é ü.png", "x'y.png")
    named = Capture(capture.photos, capture.mask, capture.camera, names)
    save_capture(tmp_path, named)
    assert load_capture(tmp_path).names == names


def test_windows_notepad_writes_a_mark_first(folder):
    for name in ("K.txt", "capture.toml"):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    assert load_capture(folder).camera == CAMERA


def test_a_mask_in_the_transparency_is_understood(folder):
    wanted = load_capture(folder).mask
    cut = np.full((*wanted.shape, 4), 255, np.uint8)
    cut[..., 3] = 255 * wanted
    Image.fromarray(cut).save(folder / "mask.png")
    np.testing.assert_array_equal(load_capture(folder).mask, wanted)


def test_the_transparency_of_cut_out_photos_is_their_mask(tmp_path, rng):
    wanted = np.zeros((24, 36), bool)
    wanted[5:20, 8:30] = True
    for index in range(4):
        cut = rng.integers(1, 250, (24, 36, 4), dtype=np.uint8)
        cut[..., 3] = 255 * wanted
        cut[..., 3][6, 9 + index] = 0
        Image.fromarray(cut).save(tmp_path / f"{index}.png")
    wanted[6, 9:13] = False
    intake = load(tmp_path)
    np.testing.assert_array_equal(intake.capture.mask, wanted)
    assert "transparency" in intake.mask_source
    assert intake.capture.photos.shape[3] == 3


def test_intrinsics_that_are_a_guess_stay_one(tmp_path, rng):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    save_capture(first, make_capture(rng))
    (first / "K.txt").unlink()
    guessed = load_capture(first)
    assert not guessed.lens_known
    save_capture(second, guessed)
    intake = load(second)
    assert not intake.capture.lens_known
    assert "guess" in intake.camera.source
    np.testing.assert_allclose(intake.capture.camera.matrix, guessed.camera.matrix, rtol=1e-9)


def test_distance_and_size_tell_the_lens(folder):
    mask = load_capture(folder).mask
    rows, columns = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
    longer = max(np.ptp(rows), np.ptp(columns)) + 1
    intake = load(folder, IntakeOptions(distance=800.0, object_size=200.0))
    assert intake.capture.camera.focal_px[0] == pytest.approx(4 * longer)
    assert intake.capture.lens_known
    assert not any("LENS" in warning for warning in intake.warnings)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"object_size": 10.0}, "needs --distance"),
        ({"distance": 10.0, "object_size": 100.0}, "units"),
        ({"distance": 800.0, "object_size": 200.0, "fov": 30.0}, "only one"),
    ],
)
def test_distances_that_cannot_be(options, word):
    with pytest.raises(InvalidInputError, match=word):
        IntakeOptions(**options)


def test_a_photo_listed_twice(folder):
    (folder / "capture.toml").write_text('files = ["photo_00.png", "photo_00.png", "photo_01.png"]')
    refused(folder, "capture.toml", "twice")


def test_the_callers_arrays_stay_writeable(rng):
    photos, mask = np.zeros((3, 4, 4, 1), np.uint8), np.ones((4, 4), bool)
    Capture(photos, mask, CAMERA)
    photos[0, 0, 0, 0] = rng.integers(255)
    mask[0, 0] = False

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from intake.files import noise, write_dng, write_photos

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective
from anylight.intake.load import load
from anylight.intake.source import find_source
from anylight.io.images import write_image

SHAPE = (24, 36)
MATRIX = np.array([[40.0, 0, 17], [0, 42.0, 11], [0, 0, 1]])


def object_mask():
    mask = np.zeros(SHAPE, bool)
    mask[4:20, 6:30] = True
    return mask


def write_mask(folder):
    write_image(folder / "mask.png", np.where(object_mask(), np.uint8(255), np.uint8(0))[..., None])


def refused(path, *words):
    with pytest.raises(InvalidInputError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


@pytest.fixture
def diligent(tmp_path, rng):
    folder = tmp_path / "ballPNG"
    photos = noise(rng, 4, SHAPE, dtype=np.uint16)
    write_photos(folder, photos, "{:03d}.png")
    write_image(folder / "Normal_gt.png", photos[0])
    write_mask(folder)
    (folder / "filenames.txt").write_text("003.png\r\n000.png\r\n001.png\r\n")
    np.savetxt(folder / "light_directions.txt", [[0, 0, 1], [0.6, 0, 0.8], [0, 0.6, 0.8]])
    np.savetxt(folder / "light_intensities.txt", np.arange(9).reshape(3, 3) + 1.0)
    return folder, photos


def test_diligent(diligent):
    folder, photos = diligent
    intake = load(folder)
    assert intake.source.dialect == "DiLiGenT folder"
    assert intake.capture.names == ("003.png", "000.png", "001.png")
    assert np.array_equal(intake.capture.photos, photos[[3, 0, 1]])
    assert np.array_equal(intake.capture.mask, object_mask())
    assert np.allclose(intake.source.directions[2], [0, -0.6, -0.8])  # y down, z away
    assert intake.source.intensities[1, 0] == 4
    assert intake.coding.coding == "linear"


def test_notes_choose_among_the_listed_photos(diligent):
    folder, photos = diligent
    (folder / "filenames.txt").write_text("003.png\n000.png\n001.png\n002.png\n")
    lights = np.array([[0, 0, 1], [0.6, 0, 0.8], [0, 0.6, 0.8], [0, 0.8, 0.6]])
    np.savetxt(folder / "light_directions.txt", lights)
    (folder / "light_intensities.txt").unlink()
    (folder / "capture.toml").write_text('files = ["002.png", "003.png", "001.png"]')
    intake = load(folder)
    assert np.array_equal(intake.capture.photos, photos[[2, 3, 1]])
    assert np.allclose(intake.source.directions, lights[[3, 0, 2]] * [1, -1, -1])
    (folder / "capture.toml").write_text('files = ["002.png", "Normal_gt.png", "001.png"]')
    refused(folder, "capture.toml", "Normal_gt.png", "does not list")


def test_8_bit_files_of_diligent_are_linear_too(tmp_path, rng):
    write_photos(tmp_path, noise(rng, 3, SHAPE))
    (tmp_path / "filenames.txt").write_text("\n".join(p.name for p in tmp_path.glob("*.png")))
    assert load(tmp_path).coding.coding == "linear"


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("filenames.txt", "000.png\n001.png\n009.png\n", "009.png"),
        ("filenames.txt", "000.png\n001.png\n../000.png\n", "not in the folder"),
        ("filenames.txt", "000.png\n001.png\n", "2 photo(s)"),
        ("light_directions.txt", "0 0 1\n0 0 1\n", "each of the 3"),
        ("light_directions.txt", "0 0 1\n0 0 1\n0 0 x\n", "numbers"),
        ("light_directions.txt", "0 0 1\n0 0 1\n0 0 \n", "light_directions.txt"),
    ],
)
def test_a_broken_diligent_folder(diligent, name, text, word):
    folder, _ = diligent
    (folder / name).write_text(text)
    refused(folder, word)


def test_a_photo_listed_twice_is_refused(diligent):
    folder, _ = diligent
    (folder / "filenames.txt").write_text("000.png\n001.png\n002.png\n000.png\n")
    (folder / "light_directions.txt").unlink()
    (folder / "light_intensities.txt").unlink()
    refused(folder, "000.png")


@pytest.fixture(params=["L{}.png", "L_{:03d}.png", "L ({}).png"])
def unips(tmp_path, rng, request):
    folder = tmp_path / "set" / "owl.data"
    photos = noise(rng, 4, SHAPE)
    write_photos(folder, photos, request.param)
    for name in ("baseColor.png", "normal.tif", "roughness.png", "photo_of_setup.png"):
        write_image(folder / name, photos[0])
    write_mask(folder)
    return folder, photos


def test_sdm_unips(unips):
    folder, photos = unips
    intake = load(folder)
    assert intake.source.dialect == "SDM-UniPS folder"
    assert len(intake.capture.photos) == len(photos)
    assert len(intake.source.left_out) == 4
    assert intake.coding.coding == "srgb"


def test_a_folder_that_holds_one_data_folder_is_that_folder(unips):
    folder, photos = unips
    intake = load(folder.parent)
    assert intake.source.folder == folder
    assert len(intake.capture.photos) == len(photos)


def test_of_several_data_folders_one_must_be_named(unips):
    folder, _ = unips
    shutil.copytree(folder, folder.parent / "cat.data")
    refused(folder.parent, "2 objects", "cat.data", "owl.data", "one of them")


def test_a_data_file_is_not_a_data_folder(tmp_path):
    (tmp_path / "sensor.data").write_bytes(b"")
    refused(tmp_path, "0 photo(s)")


@pytest.fixture
def toy(tmp_path, rng):
    for name in ("cat", "pot"):
        write_photos(tmp_path / name, noise(rng, 3, SHAPE), "img {}.png")
        write_mask(tmp_path / name)
        (tmp_path / name / "names.txt").write_text("img 2.png\nimg 0.png\nimg 1.png\n")
    (tmp_path / "objects.txt").write_text("cat\n")
    return tmp_path


def test_sdps(toy):
    intake = load(toy)
    assert intake.source.dialect == "SDPS folder"
    assert intake.source.name == "cat"
    assert intake.capture.names == ("img 2.png", "img 0.png", "img 1.png")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cat\npot\n", ("2 objects", "cat, pot", "one of them")),
        ("dog\n", ("objects.txt", "no folder")),
        (".\n", ("objects.txt",)),
        ("..\n", ("objects.txt",)),
    ],
)
def test_a_list_of_objects_that_is_not_one(toy, text, words):
    (toy / "objects.txt").write_text(text)
    refused(toy, *words)


def test_a_folder_of_folders_names_them(toy):
    (toy / "objects.txt").unlink()
    refused(toy, "holds no photos itself", "cat, pot", "give one of them")


LAMPS = "0 0 1\n", "0.6 0 0.8\n", "0 0.6 0.8\n"


def rti(folder, rng, names, listed=None):
    folder.mkdir(exist_ok=True)
    for name, photo in zip(names, noise(rng, len(names), SHAPE), strict=True):
        (folder / name).parent.mkdir(exist_ok=True)
        write_photos(folder, photo[None], name)
    lines = [f"{name} {lamp}" for name, lamp in zip(listed or names, LAMPS, strict=True)]
    script = folder / "dome.lp"
    script.write_text("3\r\n" + "".join(lines))
    return script


def test_rti_given_as_file_or_folder(tmp_path, rng):
    script = rti(tmp_path, rng, ["b 2.jpg", "a 1.jpg", "ü.jpg"])
    for path in (script, tmp_path):
        intake = load(path)
        assert intake.source.dialect == "RTI folder (dome.lp)"
        assert intake.capture.names == ("b 2.jpg", "a 1.jpg", "ü.jpg")
        assert np.allclose(intake.source.directions[2], [0, -0.6, -0.8])


@pytest.mark.parametrize(
    "prefix", ["", "C:\\Users\\Ann\\My RTI\\", "/Volumes/disk/rti/", "jpeg\\", "./"]
)
def test_rti_files_may_come_from_another_machine(tmp_path, rng, prefix):
    names = ["x 1.jpg", "x 2.jpg", "x 3.jpg"]
    rti(tmp_path, rng, names, [prefix + name for name in names])
    assert load(tmp_path).capture.names == tuple(names)


def test_rti_photos_in_a_folder_below_under_windows(tmp_path, rng):
    names = [f"jpeg/{n}.jpg" for n in range(3)]
    rti(tmp_path, rng, names, [name.replace("/", "\\") for name in names])
    assert load(tmp_path).capture.names == ("0.jpg", "1.jpg", "2.jpg")


def test_an_lp_file_in_capitals(tmp_path, rng):
    script = rti(tmp_path, rng, ["1.jpg", "2.jpg", "3.jpg"])
    script.rename(tmp_path / "DOME.LP")
    assert find_source(tmp_path).dialect == "RTI folder (DOME.LP)"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("4\n1.jpg 0 0 1\n2.jpg 0 0 1\n3.jpg 0 0 1\n", "promises 4"),
        ("3\n1.jpg 0 0 1\n2.jpg 0 0 1\n9.jpg 0 0 1\n", "9.jpg"),
        ("3\n1.jpg 0 0 1\n2.jpg 0 0\n3.jpg 0 0 1\n", "line 3"),
        ("1.jpg 0 0 1\n", "begin with a number"),
        ("2\n1.jpg 0 0 1\n2.jpg 0 0 1\n", "2 photo(s)"),
    ],
)
def test_a_broken_lp_file(tmp_path, rng, text, word):
    rti(tmp_path, rng, ["1.jpg", "2.jpg", "3.jpg"]).write_text(text)
    refused(tmp_path / "dome.lp", word)


def matlab(path, rng, **changes):
    images = rng.random((*SHAPE, 3, 4))
    scipy.io.savemat(path, {"I": images, "mask": object_mask(), "K": MATRIX, **changes})
    return images


def test_matlab(tmp_path, rng):
    images = matlab(tmp_path / "vase.mat", rng)
    intake = load(tmp_path / "vase.mat")
    assert intake.source.name == "vase"
    assert np.allclose(intake.capture.photos, np.moveaxis(images, 3, 0), atol=1e-6)
    assert np.array_equal(intake.capture.mask, object_mask())
    assert intake.capture.camera == Perspective((40, 42), (17, 11))
    assert intake.coding.coding == "linear"


def test_noisy_images_of_a_matlab_file_come_first(tmp_path, rng):
    noisy = noise(rng, 4, SHAPE, dtype=np.uint16)
    matlab(tmp_path / "a.mat", rng, I_noise=np.moveaxis(noisy, 0, 3))
    assert np.array_equal(load(tmp_path / "a.mat").capture.photos, noisy)


def test_grey_matlab_images_may_have_three_axes(tmp_path, rng):
    images = 200 * rng.random((*SHAPE, 5))
    matlab(tmp_path / "a.mat", rng, I=images)
    photos = load(tmp_path / "a.mat").capture.photos
    assert photos.shape == (5, *SHAPE, 1)
    assert np.allclose(photos[..., 0], np.moveaxis(images, 2, 0) / images.max(), atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"I": np.ones((4, 5))}, ("no images", "height × width")),
        ({"I": np.array("text")}, ("no images",)),
        ({"I": -np.ones((*SHAPE, 3, 4))}, ("negative",)),
        ({"I": np.full((*SHAPE, 3, 4), np.nan)}, ("NaN",)),
        ({"I": np.ones((*SHAPE, 3, 2))}, ("2×24×36×3", "at least 3")),
        ({"I": np.ones((0, 4, 3, 4))}, ("at least",)),
        ({"mask": np.ones((5, 6))}, ("mask", "5×6", "24×36")),
        ({"mask": np.zeros(SHAPE)}, ("mask is empty",)),
        ({"K": np.ones((2, 2))}, ("K", "2×2")),
        ({"K": np.array("text")}, ("K",)),
    ],
)
def test_a_matlab_file_that_is_no_capture(tmp_path, rng, changes, words):
    matlab(tmp_path / "a.mat", rng, **changes)
    refused(tmp_path / "a.mat", "a.mat", *words)


def test_matlab_7_3_is_refused(tmp_path):
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Sun Nov 15 12:00:00 2026"
    (tmp_path / "a.mat").write_bytes(head.ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(2000))
    refused(tmp_path / "a.mat", "a.mat", "7.3", "-v7")


@pytest.mark.parametrize("size", [0, 100, 700, -500])
def test_a_damaged_matlab_file(tmp_path, rng, size):
    matlab(tmp_path / "a.mat", rng)
    content = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(content[:size])
    refused(tmp_path / "a.mat", "a.mat")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_npz(tmp_path, rng, dtype):
    photos = noise(rng, 3, SHAPE).astype(dtype)
    np.savez(tmp_path / "a.npz", photos=photos, mask=object_mask(), K=MATRIX, other=3)
    capture = load(tmp_path / "a.npz").capture
    scale = 1 if dtype in (np.uint8, np.uint16) else photos.max()
    assert np.allclose(capture.photos, photos / scale)
    assert np.array_equal(capture.mask, object_mask())
    assert capture.camera == Perspective((40, 42), (17, 11))


def test_an_npz_of_grey_photos_behind_parallel_rays(tmp_path, rng):
    photos = noise(rng, 3, SHAPE)[..., 0]
    np.savez(tmp_path / "a.npz", photos=photos, K=MATRIX, camera="orthographic")
    capture = load(tmp_path / "a.npz").capture
    assert np.array_equal(capture.photos[..., 0], photos)
    assert capture.camera == Orthographic((17, 11))


@pytest.mark.parametrize(
    "changes",
    [
        {"photos": np.array([1, None], dtype=object)},
        {"mask": np.array([{}], dtype=object)},
        {"photos": np.ones((4, 4))},
        {"mask": np.array("yes")},
        {"camera": "fisheye"},
    ],
)
def test_an_npz_that_is_no_capture(tmp_path, rng, changes):
    arrays = {"photos": noise(rng, 3, SHAPE), "K": MATRIX, **changes}
    np.savez(tmp_path / "a.npz", **arrays)
    refused(tmp_path / "a.npz", "a.npz")


def test_a_damaged_npz(tmp_path, rng):
    buffer = io.BytesIO()
    np.savez(buffer, photos=noise(rng, 3, SHAPE))
    (tmp_path / "a.npz").write_bytes(buffer.getvalue()[:900])
    refused(tmp_path / "a.npz", "a.npz", "not a readable NPZ")


def test_raw_wins_over_the_jpeg_beside_it(tmp_path, rng):
    for index in range(3):
        write_dng(tmp_path / f"IMG_{index}.DNG", noise(rng, 1, (48, 64), 1, np.uint16)[0, ..., 0])
        (tmp_path / f"IMG_{index}.CR2").write_bytes(b"converted to DNG")
    write_photos(tmp_path, noise(rng, 3, (48, 64)), "IMG_{}.JPG")
    source = find_source(tmp_path)
    assert [path.name for path in source.photos] == ["IMG_0.DNG", "IMG_1.DNG", "IMG_2.DNG"]
    assert len(source.left_out) == 6


def test_here_has_a_name(diligent, monkeypatch):
    monkeypatch.chdir(diligent[0])
    assert load(Path(".")).source.name == "ballPNG"


def test_hidden_files_and_results_are_no_photos(tmp_path, rng):
    photos = noise(rng, 3, SHAPE)
    write_photos(tmp_path, photos)
    write_photos(tmp_path, photos[:1], "._photo_00.png")
    write_photos(tmp_path, photos[:1], "Albedo.png")
    (tmp_path / "readme.txt").write_text("hello")
    (tmp_path / "folder.png").mkdir()
    source = find_source(tmp_path)
    assert [path.name for path in source.photos] == [f"photo_0{n}.png" for n in range(3)]
    assert source.left_out == ("Albedo.png",)


def test_any_name_will_do_in_natural_order(tmp_path, rng):
    names = ["été 1.png", "été 2.PNG", "été 10.tif", "фото 3.jpeg", "写真.png"]
    for name, photo in zip(names, noise(rng, 5, SHAPE), strict=True):
        write_photos(tmp_path, photo[None], name)
    assert load(tmp_path).capture.names == tuple(names)

import numpy as np
import pytest
from intake.files import exif, noise, write_photos
from PIL import Image

from anylight.errors import InvalidInputError
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.io.images import write_image

SHAPE = (24, 36)


@pytest.fixture
def folder(tmp_path, rng):
    write_photos(tmp_path, noise(rng, 4, SHAPE))
    mask = np.zeros((*SHAPE, 1), np.uint8)
    mask[5:20, 5:30] = 255
    write_image(tmp_path / "mask.png", mask)
    return tmp_path


def refused(path, *words, **options):
    with pytest.raises(InvalidInputError) as caught:
        load(path, IntakeOptions(**options))
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


@pytest.mark.parametrize("suffix", ["HEIC", "heif"])
def test_a_folder_of_heic_names_a_converter(tmp_path, suffix):
    for index in range(3):
        (tmp_path / f"IMG_{index}.{suffix}").write_bytes(b"ftypheic")
    refused(tmp_path, f"IMG_0.{suffix}", "heif-convert", "Most compatible")


@pytest.mark.parametrize("suffix", ["mp4", "MOV"])
def test_a_video_is_not_photos(tmp_path, suffix):
    path = tmp_path / f"turn.{suffix}"
    path.write_bytes(b"ftypisom")
    for given in (tmp_path, path):
        refused(given, path.name, "video", "ffmpeg")


def test_a_single_photo_is_not_a_folder(folder):
    refused(folder / "photo_00.png", "photo_00.png", "single file", "folder")


def test_nothing_there(tmp_path):
    refused(tmp_path, "0 photo(s)", "at least 3")
    refused(tmp_path / "nowhere", "no such folder")


def test_two_photos_are_too_few(folder):
    for name in ("photo_00.png", "photo_02.png"):
        (folder / name).unlink()
    refused(folder, "2 photo(s)", "at least 3")


def test_portrait_among_landscape(folder, rng):
    write_photos(folder, noise(rng, 1, SHAPE[::-1]), "photo_02.png")
    refused(folder, "photo_02.png", "24×36", "36×24", "portrait", "rotate")


def test_portrait_by_orientation_among_landscape(tmp_path, rng):
    write_photos(tmp_path, noise(rng, 3, SHAPE), "{}.jpg")
    write_photos(tmp_path, noise(rng, 1, SHAPE), "1.jpg", exif=exif(8))
    refused(tmp_path, "1.jpg", "portrait")


def test_a_photo_of_another_size(folder, rng):
    write_photos(folder, noise(rng, 1, (24, 35)), "photo_03.png")
    refused(folder, "photo_03.png", "35×24", "36×24", "leave it out")


def test_a_photo_that_is_there_twice(folder):
    (folder / "photo_03.png").write_bytes((folder / "photo_01.png").read_bytes())
    refused(folder, "photo_03.png", "same photo as photo_01.png", "remove one")


def test_photos_that_are_all_alike(folder, rng):
    content = (folder / "photo_01.png").read_bytes()
    for path in folder.glob("photo_*"):
        path.write_bytes(content)
    refused(folder, "all 4 photos are the same", "different light")
    photos = noise(rng, 4, SHAPE)
    photos[3] = photos[1]
    np.savez(folder / "twins.npz", photos=photos)
    refused(folder / "twins.npz", "photo_03", "same photo as photo_01")


def test_a_mask_all_black(folder):
    write_image(folder / "mask.png", np.zeros((*SHAPE, 1), np.uint8))
    refused(folder, "mask.png", "all black", "paint the object white")


def test_a_mask_of_another_size(folder):
    write_image(folder / "mask.png", np.full((24, 35, 1), 255, np.uint8))
    refused(folder, "mask.png", "35×24", "36×24")


def test_a_mask_that_is_not_there(folder):
    refused(folder, "nowhere.png", "no such file", mask="nowhere.png")


def test_soft_edges_of_a_mask_are_cut_at_half(folder):
    soft = np.zeros((*SHAPE, 1), np.uint8)
    soft[5:20, 5:30] = 255
    soft[5:20, 5], soft[5:20, 29] = 100, 160
    write_image(folder / "mask.png", soft)
    expected = soft[..., 0] > 127
    assert np.array_equal(load(folder).capture.mask, expected)
    assert not expected[6, 5]
    assert expected[6, 29]


def test_a_mask_over_everything_is_warned_of(folder):
    intake = load(folder, IntakeOptions(mask="-1,-1 99,-1 99,99 -1,99"))
    assert intake.capture.mask.all()
    assert any("every pixel" in warning for warning in intake.warnings)


@pytest.mark.parametrize("name", ["photo_01.png", "photo_01.jpg", "photo_01.tif", "photo_01.exr"])
def test_a_photo_of_no_bytes(folder, name):
    (folder / "photo_01.png").unlink()
    (folder / name).write_bytes(b"")
    refused(folder, name, "cannot be read as an image", "export it again")


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_a_photo_that_is_cut_off(tmp_path, rng, suffix):
    write_photos(tmp_path, noise(rng, 4, (60, 80)), "{}." + suffix)
    content = (tmp_path / f"2.{suffix}").read_bytes()
    (tmp_path / f"2.{suffix}").write_bytes(content[: len(content) // 2])
    refused(tmp_path, f"2.{suffix}")


def test_a_link_that_leads_nowhere(folder):
    (folder / "photo_09.png").symlink_to(folder / "gone.png")
    assert load(folder).capture.num_photos == 4


def test_black_photos_are_read(tmp_path):
    for index in range(3):
        Image.new("RGB", (36, 24), (0, 0, index)).save(tmp_path / f"{index}.png")
    intake = load(tmp_path)
    assert intake.capture.mask.all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (2, 2), (5, 3), (2, 2000)])
def test_the_smallest_photos_are_read(tmp_path, rng, shape):
    write_photos(tmp_path, noise(rng, 4, shape, dtype=np.uint16))
    intake = load(tmp_path, IntakeOptions(align=True))
    assert intake.capture.mask.shape == shape

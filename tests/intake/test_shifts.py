import numpy as np
import pytest
from intake.files import rendering, write_photos
from scipy import fft, ndimage

from anylight.errors import InvalidInputError
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.intake.shifts import align, find_shifts


def moved(photo, right, down):
    """Shift by a phase in the frequencies, which is exact for what a camera can resolve."""
    padded = np.pad(photo.astype(float), ((16, 16), (16, 16), (0, 0)), mode="edge")
    away = fft.fftn(padded, axes=(0, 1))
    for axis, by in ((0, down), (1, right)):
        turn = np.exp(-2j * np.pi * fft.fftfreq(padded.shape[axis]) * by)
        away = away * (turn[:, None, None] if axis == 0 else turn[None, :, None])
    back = fft.ifftn(away, axes=(0, 1)).real[16:-16, 16:-16]
    return np.clip(np.round(back), 0, 65535).astype(np.uint16)


@pytest.fixture(scope="module")
def still():
    """Painted, and blurred as lenses blur."""
    photos = rendering("bust", "voronoi", height=160).capture.photos[:8]
    return ndimage.gaussian_filter(photos.astype(float), (0, 0.7, 0.7, 0)).astype(np.uint16)


@pytest.fixture(scope="module")
def offsets():
    rng = np.random.default_rng(3)
    found = rng.uniform(-4, 4, (8, 2))
    found[[1, 4, 5, 6]] = 0.0
    return found


@pytest.fixture(scope="module")
def shaken(still, offsets):
    return np.stack([moved(photo, *by) for photo, by in zip(still, offsets, strict=True)])


def test_changing_light_is_no_movement(still):
    assert np.hypot(*find_shifts(still).offsets.T).max() < 0.5


def test_shifts_are_found_to_a_fraction_of_a_pixel(still, shaken, offsets):
    found = find_shifts(shaken).offsets - find_shifts(still).offsets
    expected = offsets - np.median(offsets, axis=0)
    assert np.abs(found - np.median(found - expected, axis=0) - expected).max() < 0.15


def test_align_brings_the_photos_back(still, shaken, offsets):
    back = align(shaken, offsets)
    inner = np.s_[:, 8:-8, 8:-8]
    before = np.abs(shaken[inner].astype(float) - still[inner]).mean()
    after = np.abs(back[inner].astype(float) - still[inner]).mean()
    assert after < 0.05 * before
    assert back.dtype == still.dtype


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_photos_that_did_not_move_stay_as_they_are(rng, dtype):
    photos = rng.integers(0, 200, (3, 20, 30, 3)).astype(dtype)
    assert np.array_equal(align(photos, np.zeros((3, 2))), photos)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_whole_pixels_are_moved_exactly(rng, dtype):
    photos = rng.integers(0, 200, (1, 20, 30, 3)).astype(dtype)
    back = align(np.roll(photos, (2, -3), (1, 2)), np.array([[-3.0, 2.0]]))
    inner = np.s_[:, 5:-5, 5:-5]
    assert np.allclose(back[inner], photos[inner], atol=1e-2)


def test_loading_can_undo_shifts(tmp_path, still, shaken):
    write_photos(tmp_path, shaken)
    plain, aligned = (load(tmp_path, IntakeOptions(align=flag)) for flag in (False, True))
    assert plain.shifts is None
    assert np.array_equal(plain.capture.photos, shaken)
    after = find_shifts(aligned.capture.photos).offsets - find_shifts(still).offsets
    assert np.abs(after - np.median(after, axis=0)).max() < 0.3
    assert len(aligned.record()["aligned"]) == 8


def test_what_moved_too_far_is_named(tmp_path, still):
    photos = still.copy()
    photos[3] = moved(still[3], 9.0, 0.0)
    write_photos(tmp_path, photos)
    with pytest.raises(InvalidInputError, match=r"photo_03\.png.*9 pixels.*too far"):
        load(tmp_path, IntakeOptions(align=True))


def test_photos_without_content_did_not_move():
    shifts = find_shifts(np.zeros((4, 30, 40, 3), np.uint8))
    assert not shifts.lengths.any()

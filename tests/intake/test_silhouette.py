import numpy as np
import pytest
from intake.files import rendering

from anylight.intake.silhouette import find_silhouette


def overlap(found, true):
    return (found & true).sum() / (found | true).sum()


def in_a_room(capture, rng, brightness=0.03):
    """Surroundings that are not black: a dim, painted wall and noise."""
    photos = capture.photos / 65535
    wall = brightness * (0.6 + 0.4 * rng.random((1, *photos.shape[1:])))
    lamps = rng.uniform(0.7, 1.3, (len(photos), 1, 1, 1))
    photos = np.where(capture.mask[..., None], photos, wall * lamps)
    noisy = photos + rng.normal(0, 0.005, photos.shape)
    return np.clip(np.round(65535 * noisy), 0, 65535).astype(np.uint16)


@pytest.mark.parametrize(
    ("shape", "albedo"),
    [("vase", "bars"), ("vase", "white"), ("coral", "bars"), ("sphere", "bars"),
     ("sphere", "voronoi")],
)  # fmt: skip
def test_the_object_is_told_from_darkness(shape, albedo):
    capture = rendering(shape, albedo).capture
    found = find_silhouette(capture.photos)
    assert not found.fills_frame
    assert overlap(found.mask, capture.mask) >= 0.97


@pytest.mark.parametrize("shape", ["vase", "coral", "sphere"])
def test_the_object_is_told_from_a_dim_room(shape, rng):
    capture = rendering(shape, "bars").capture
    found = find_silhouette(in_a_room(capture, rng))
    assert overlap(found.mask, capture.mask) >= 0.97


def test_large_photos_keep_a_sharp_outline(rng):
    photos = in_a_room(rendering().capture, rng)[:6].repeat(7, axis=1).repeat(7, axis=2)
    mask = rendering().capture.mask.repeat(7, axis=0).repeat(7, axis=1)
    assert overlap(find_silhouette(photos).mask, mask) >= 0.98


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_the_type_of_the_photos_does_not_matter(dtype):
    capture = rendering().capture
    photos = capture.photos / 65535
    photos = np.round(255 * photos) if dtype == np.uint8 else photos
    found = find_silhouette(photos.astype(dtype))
    assert overlap(found.mask, capture.mask) >= 0.97


def test_grey_photos_will_do():
    capture = rendering().capture
    assert overlap(find_silhouette(capture.photos[..., 1:2]).mask, capture.mask) >= 0.97


@pytest.mark.parametrize("albedo", ["voronoi", "white", "bars"])
def test_a_relief_fills_the_frame(albedo):
    capture = rendering("medallion", albedo).capture
    rows, columns = capture.mask.shape
    inside = np.s_[rows // 4 : 3 * rows // 4, columns // 4 : 3 * columns // 4]
    assert capture.mask[inside].all()
    found = find_silhouette(capture.photos[:, *inside])
    assert found.fills_frame
    assert found.mask.all()


def test_the_same_photos_give_the_same_mask(rng):
    photos = in_a_room(rendering().capture, rng)
    assert np.array_equal(find_silhouette(photos).mask, find_silhouette(photos.copy()).mask)


def test_progress_ends_with_the_whole():
    told = []
    find_silhouette(rendering().capture.photos, told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_where_nothing_differs_everything_counts():
    found = find_silhouette(np.full((4, 30, 40, 3), 7, np.uint8))
    assert found.fills_frame

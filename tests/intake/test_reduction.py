import numpy as np
import pytest
from intake.files import rendering, write_photos

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.intake.reduction import cropped, reduced
from anylight.io.capture import save_capture
from anylight.io.images import write_image
from anylight.model.capture import Capture


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vase")
    save_capture(folder, rendering().capture)
    return folder


@pytest.fixture
def depth():
    """Half of the true depth, in millimetres."""
    truth = rendering().truth
    known = np.where(truth.mask, 500 * truth.depth / np.nanmin(truth.depth), np.nan)
    known[:, : known.shape[1] // 2] = np.nan
    return known


def write_depth(path, depth):
    if path.suffix == ".png":
        write_image(path, np.nan_to_num(depth).round().astype(np.uint16)[..., None])
    elif path.suffix == ".npy":
        np.save(path, depth)
    else:
        write_image(path, np.nan_to_num(depth).astype(np.float32)[..., None])
    return str(path)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("factor", [1, 2, 3, 5])
def test_blocks_are_averaged(rng, dtype, factor):
    photos = rng.integers(0, 200, (3, 16, 21, 3)).astype(dtype)
    small = reduced(photos, factor)
    assert small.shape == (3, 16 // factor, 21 // factor, 3)
    top, out = (np.iinfo(x.dtype).max if x.dtype.kind == "u" else 1 for x in (photos, small))
    mean = photos[:, :factor, :factor].mean(axis=(1, 2)) / top
    assert np.allclose(small[:, 0, 0] / out, mean, rtol=1e-6, atol=0.51 / 65535)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_a_block_with_a_saturated_sample_stays_saturated(rng, dtype):
    top = np.iinfo(dtype).max
    photos = rng.integers(0, top, (3, 12, 12, 3)).astype(dtype)
    photos[1, 7, 4, 2] = top
    photos[2, :4, :4, 0] = top - 1
    small = reduced(photos, 4)
    assert small.dtype == np.uint16
    assert np.argwhere(small == 65535).tolist() == [[1, 1, 1, 2]]


def test_more_than_the_photos_have_cannot_be_taken_away(rng):
    with pytest.raises(InvalidInputError, match="--downscale 13"):
        reduced(rng.integers(0, 9, (3, 12, 12, 3)).astype(np.uint8), 13)


@pytest.mark.parametrize(
    "camera", [Perspective((150.0, 140.0), (40.0, 50.0)), Orthographic((40.0, 50.0))]
)
def test_the_camera_follows_the_reduction(tmp_path, camera):
    capture = rendering().capture
    save_capture(tmp_path, Capture(capture.photos, capture.mask, camera))
    small = load(tmp_path, IntakeOptions(downscale=4)).capture
    assert small.mask.shape == (24, 24)
    u, v = np.array([10.0, 37.0]), np.array([61.0, 20.0])
    points = camera.points(u, v, np.array([3.0, 7.0]))
    if isinstance(camera, Orthographic):  # its unit is the pixel
        points = points / 4
    where = small.camera.project(points)
    assert np.allclose(where, (np.stack([u, v], axis=1) + 0.5) / 4 - 0.5)


@pytest.mark.parametrize(
    "camera", [Perspective((150.0, 140.0), (40.0, 50.0)), Orthographic((40.0, 50.0))]
)
def test_the_camera_follows_the_crop(camera):
    capture = rendering().capture
    depth = np.where(capture.mask, 3.0, np.nan) if isinstance(camera, Perspective) else None
    whole = Capture(capture.photos, capture.mask, camera, depth=depth)
    cut, (left, top) = cropped(whole)
    rows, columns = np.nonzero(cut.mask)
    assert np.array_equal(cut.photos[:, rows, columns], whole.photos[:, rows + top, columns + left])
    points = whole.camera.points(columns + left + 0.0, rows + top + 0.0, np.full(len(rows), 3.0))
    assert np.allclose(cut.camera.project(points), np.stack([columns, rows], axis=1))
    assert cut.mask.sum() == whole.mask.sum()
    assert cut.mask.size < whole.mask.size
    if depth is not None:
        assert np.array_equal(np.isfinite(cut.depth), cut.mask)


def test_an_object_at_the_border_is_cut_there():
    mask = np.zeros((20, 30), bool)
    mask[0, 0] = mask[9, 29] = True
    photos = np.zeros((3, 20, 30, 1), np.uint8)
    cut, corner = cropped(Capture(photos, mask, Orthographic((0.0, 0.0))))
    assert corner == (0, 0)
    assert cut.mask.shape == (12, 30)


def test_loading_can_reduce_and_crop(folder):
    whole = load(folder).capture
    intake = load(folder, IntakeOptions(downscale=2, crop=True))
    small = intake.capture
    left, top = intake.corner
    rows, columns = np.nonzero(small.mask)
    blocks = whole.photos.reshape(12, 48, 2, 48, 2, 3).mean(axis=(2, 4))
    found, expected = small.photos[:, rows, columns], blocks[:, rows + top, columns + left]
    assert np.abs(found - expected)[found < 65535].max() <= 1
    assert small.mask.shape[1] < 48
    assert intake.camera.camera == small.camera


def test_nothing_left_of_the_mask(tmp_path, rng):
    write_photos(tmp_path, rng.integers(0, 250, (3, 40, 40, 3)).astype(np.uint8))
    with pytest.raises(InvalidInputError, match="nothing of the mask"):
        load(tmp_path, IntakeOptions(mask="3.5,3.5 5.5,3.5 5.5,5.5 3.5,5.5", downscale=8))


@pytest.mark.parametrize("name", ["depth.png", "depth.npy", "depth.exr", "depth.tif"])
def test_a_known_depth_is_in_millimetres(folder, tmp_path, depth, name):
    path = write_depth(tmp_path / name, depth)
    capture = load(folder, IntakeOptions(depth_prior=path)).capture
    assert capture.unit == "mm"
    assert np.array_equal(np.isfinite(capture.depth), np.isfinite(depth))
    assert np.nanmax(np.abs(capture.depth - depth)) <= 0.5


@pytest.mark.parametrize(("extra", "unit"), [({}, None), ({"unit": "mm"}, "mm")])
def test_an_archive_says_its_unit(folder, tmp_path, depth, extra, unit):
    np.savez(tmp_path / "depth.npz", depth=depth, **extra)
    path = str(tmp_path / "depth.npz")
    assert load(folder, IntakeOptions(depth_prior=path)).capture.unit == unit


def test_depth_follows_reduction_and_crop(folder, tmp_path, depth):
    path = write_depth(tmp_path / "depth.npy", depth)
    intake = load(folder, IntakeOptions(depth_prior=path, downscale=2, crop=True))
    left, top = intake.corner
    found = intake.capture.depth
    assert found.shape == intake.capture.mask.shape
    blocks = depth.reshape(48, 2, 48, 2).transpose(0, 2, 1, 3).reshape(48, 48, 4)
    rows, columns = np.nonzero(np.isfinite(found))
    own = blocks[rows + top, columns + left]
    low, high = np.nanmin(own, axis=1), np.nanmax(own, axis=1)
    assert ((low <= found[rows, columns]) & (found[rows, columns] <= high)).all()
    kept = blocks[top : top + found.shape[0], left : left + found.shape[1]]
    assert np.array_equal(np.isfinite(found), np.isfinite(kept).any(axis=2))


def test_depth_of_another_size(folder, tmp_path, depth):
    path = write_depth(tmp_path / "depth.npy", depth[:-1])
    with pytest.raises(InvalidInputError, match=r"depth\.npy.*96×95.*96×96"):
        load(folder, IntakeOptions(depth_prior=path))


def test_depth_that_misses_the_object(folder, tmp_path):
    elsewhere = np.where(rendering().truth.mask, np.nan, 500.0)
    path = write_depth(tmp_path / "depth.npy", elsewhere)
    with pytest.raises(InvalidInputError, match="too little"):
        load(folder, IntakeOptions(depth_prior=path))

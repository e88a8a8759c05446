from dataclasses import replace

import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.io.archive import save_reconstruction
from anylight.io.depths import load_depth_map
from anylight.io.images import write_image

SHAPE = (5, 8)


@pytest.fixture
def depth(rng):
    values = np.round(rng.uniform(400, 900, SHAPE))
    values[0, :3] = np.nan
    return values


def same(path, depth, unit):
    back, found = load_depth_map(path, SHAPE)
    assert found == unit
    return np.array_equal(back, depth, equal_nan=True)


def pfm(depth, order):
    scale = b"-1.0" if order == "<" else b"1.0"
    rows = depth[::-1].astype(f"{order}f4").tobytes()
    return b"Pf\n%d %d\n%s\n" % (depth.shape[1], depth.shape[0], scale) + rows


@pytest.mark.parametrize("suffix", [".exr", ".tif"])
@pytest.mark.parametrize("missing", [np.nan, 0.0, -1.0, np.inf, 1e10])
def test_float_images_without_words_have_a_free_scale(tmp_path, depth, suffix, missing):
    stored = np.where(np.isfinite(depth), depth, missing).astype(np.float32)
    write_image(tmp_path / f"tiefe ü{suffix}", stored[..., None])
    assert same(tmp_path / f"tiefe ü{suffix}", depth, None)


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_sixteen_bits_are_millimetres(tmp_path, depth, suffix):
    write_image(tmp_path / f"a{suffix}", np.nan_to_num(depth)[..., None].astype(np.uint16))
    assert same(tmp_path / f"a{suffix}", depth, "mm")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16, np.int32])
def test_npy(tmp_path, depth, dtype):
    np.save(tmp_path / "a.npy", np.nan_to_num(depth).astype(dtype))
    assert same(tmp_path / "a.npy", depth, None)


@pytest.mark.parametrize("unit", ["mm", None])
def test_npz_with_depth(tmp_path, depth, unit):
    np.savez(tmp_path / "a.npz", depth=depth, **({"unit": unit} if unit else {}))
    assert same(tmp_path / "a.npz", depth, unit)


@pytest.mark.parametrize("unit", ["mm", None])
def test_our_archives(tmp_path, vase, unit):
    save_reconstruction(tmp_path / "result.npz", replace(vase, unit=unit))
    depth, found = load_depth_map(tmp_path / "result.npz", vase.mask.shape)
    assert found == unit
    assert np.array_equal(depth, vase.depth, equal_nan=True)


@pytest.mark.parametrize("order", ["<", ">"])
def test_pfm_rows_run_upwards(tmp_path, depth, order):
    (tmp_path / "a.pfm").write_bytes(pfm(depth, order))
    assert same(tmp_path / "a.pfm", depth, None)


def test_bad_files_are_named_in_one_sentence(tmp_path, depth):
    filled = np.nan_to_num(depth)
    write_image(tmp_path / "three.exr", np.ones((*SHAPE, 3), np.float32))
    write_image(tmp_path / "eight.png", np.ones((*SHAPE, 1), np.uint8))
    write_image(tmp_path / "zero.png", np.zeros((*SHAPE, 1), np.uint16))
    write_image(tmp_path / "small.png", np.ones((4, 4, 1), np.uint16))
    np.save(tmp_path / "cube.npy", np.ones((*SHAPE, 2)))
    np.save(tmp_path / "object.npy", np.array([{}], object), allow_pickle=True)
    np.save(tmp_path / "words.npy", np.full(SHAPE, "x"))
    np.savez(tmp_path / "other.npz", height=filled)
    np.savez(tmp_path / "inch.npz", depth=filled, unit="inch")
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04nothing")
    (tmp_path / "torn.npy").write_bytes(b"")
    (tmp_path / "torn.pfm").write_bytes(pfm(filled, "<")[:-3])
    (tmp_path / "colour.pfm").write_bytes(b"PF" + pfm(filled, "<")[2:])
    (tmp_path / "no.pfm").write_bytes(b"hello")
    (tmp_path / "torn.exr").write_bytes(b"hello")
    (tmp_path / "a.txt").write_text("1")
    (tmp_path / "folder.exr").mkdir()
    reasons = {
        "three.exr": "3 channels", "eight.png": "8 bits", "zero.png": "no positive",
        "small.png": "4×4 pixels, the photos 8×5", "cube.npy": "shape", "object.npy": "read",
        "words.npy": "not numbers", "other.npz": "no array 'depth'", "inch.npz": "inch",
        "torn.npz": "read", "torn.npy": "read", "torn.pfm": "bytes", "colour.pfm": "3 channels",
        "no.pfm": "not a PFM", "torn.exr": "cannot be read", "a.txt": "not a depth map",
        "folder.exr": "folder", "absent.exr": "no such file",
    }  # fmt: skip
    for name, reason in reasons.items():
        with pytest.raises(InvalidInputError) as caught:
            load_depth_map(tmp_path / name, SHAPE)
        message = str(caught.value)
        assert message.startswith(str(tmp_path / name))
        assert reason in message
        assert "\n" not in message

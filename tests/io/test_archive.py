import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective
from anylight.io.archive import find_result, find_truth, load_reconstruction, save_reconstruction
from anylight.model.reconstruction import Reconstruction, outside_nan


@pytest.fixture
def scene(rng):
    mask = rng.random((9, 11)) < 0.7
    normals = rng.standard_normal((9, 11, 3))
    return Reconstruction(
        mask,
        Perspective((50.0, 49.0), (5.0, 4.0)),
        outside_nan(rng.random((9, 11)) + 1, mask),
        outside_nan(normals / np.linalg.norm(normals, axis=-1, keepdims=True), mask),
        outside_nan(rng.random((9, 11, 3)), mask),
        rng.standard_normal((5, 3, 9)),
        np.array([0, 2, 3, 7, 8]),
    )


def test_round_trip(tmp_path, scene):
    save_reconstruction(tmp_path / "a.npz", scene)
    back = load_reconstruction(tmp_path / "a.npz")
    assert back.camera == scene.camera
    assert np.array_equal(back.mask, scene.mask)
    assert np.array_equal(back.depth, scene.depth, equal_nan=True)
    assert np.array_equal(back.photos, scene.photos)
    for name in ("normals", "albedo", "lighting"):
        assert np.allclose(getattr(back, name), getattr(scene, name), atol=1e-6, equal_nan=True)


def test_same_values_same_bytes(tmp_path, scene):
    for name in ("a.npz", "b.npz"):
        save_reconstruction(tmp_path / name, scene)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_contract_of_names_and_shapes(tmp_path, scene):
    save_reconstruction(tmp_path / "a.npz", scene)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as archive:
        shapes = {name: archive[name].shape for name in archive}
        assert str(archive["camera"]) == "perspective"
        assert str(archive["frame"]) == "camera"
        assert archive["mask"].dtype == bool
        assert np.isnan(archive["depth"][~archive["mask"]]).all()
    assert shapes == {
        "mask": (9, 11), "K": (3, 3), "camera": (), "frame": (), "depth": (9, 11),
        "normals": (9, 11, 3), "albedo": (9, 11, 3), "lighting": (5, 3, 9), "photos": (5,),
    }  # fmt: skip


def test_opengl_normals_are_turned(tmp_path, scene):
    save_reconstruction(tmp_path / "camera.npz", scene)
    with np.load(tmp_path / "camera.npz") as archive:
        arrays = dict(archive)
    arrays["normals"] = arrays["normals"] * [1, -1, -1]
    arrays["frame"] = np.array("opengl")
    np.savez(tmp_path / "opengl.npz", **arrays)
    back = load_reconstruction(tmp_path / "opengl.npz")
    assert np.allclose(back.normals, scene.normals, atol=1e-6, equal_nan=True)


def test_defaults_of_missing_keys(tmp_path):
    np.savez(tmp_path / "a.npz", mask=np.ones((4, 5), bool), K=np.diag([2.0, 3.0, 1.0]))
    scene = load_reconstruction(tmp_path / "a.npz")
    assert scene.camera == Perspective((2.0, 3.0), (0.0, 0.0))
    assert scene.depth is None
    np.savez(tmp_path / "b.npz", mask=np.ones((4, 5), bool))
    assert load_reconstruction(tmp_path / "b.npz").camera is None
    np.savez(tmp_path / "c.npz", mask=np.ones((4, 5), bool), camera="orthographic")
    assert load_reconstruction(tmp_path / "c.npz").camera == Orthographic((0.0, 0.0))


@pytest.mark.parametrize(
    ("arrays", "word"),
    [
        ({"depth": np.ones((4, 5))}, "mask"),
        ({"mask": np.ones((4, 5), bool), "depth": np.ones((4, 6))}, "depth"),
        ({"mask": np.ones((4, 5), bool), "depth": np.ones((4, 5, 1))}, "depth"),
        ({"mask": np.ones((4, 5), bool), "K": np.ones((2, 3))}, "K"),
        ({"mask": np.ones((4, 5), bool), "frame": "world"}, "frame"),
        ({"mask": np.ones((4, 5), bool), "normals": np.ones((4, 5, 3))}, "names no frame"),
        ({"mask": np.ones((4, 5), bool), "K": np.eye(3), "camera": "fisheye"}, "camera"),
        ({"mask": np.array([["a"]])}, "mask"),
        ({"mask": np.zeros((4, 5), bool)}, "empty"),
        ({"mask": np.ones((4, 5), bool), "lighting": np.ones((2, 3, 5))}, "lighting"),
        ({"mask": np.ones((4, 5), bool), "near_light": np.ones((2, 3, 9))}, "closeness"),
        (
            {
                "mask": np.ones((4, 5), bool),
                "near_light": np.ones((2, 3, 25)),
                "closeness": 0.5,
                "lighting": np.ones((3, 3, 9)),
            },
            "near_light",
        ),
        ({"mask": np.ones((4, 5), bool), "photos": np.array([-1])}, "photos"),
        ({"mask": np.ones((4, 5), bool), "photos": np.array([0.5])}, "photos"),
        ({"mask": np.ones((4, 5), bool), "photos": np.zeros((2, 2), int)}, "photos"),
        (
            {"mask": np.ones((4, 5), bool), "K": np.array([[5, 1, 0], [0, 5, 0], [0, 0, 1.0]])},
            "skew",
        ),
    ],
)
def test_broken_contracts(tmp_path, arrays, word):
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(InvalidInputError, match=word) as caught:
        load_reconstruction(tmp_path / "bad.npz")
    assert "bad.npz" in str(caught.value)


def test_pickles_are_never_loaded(tmp_path):
    np.savez(tmp_path / "bad.npz", mask=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InvalidInputError, match=r"bad\.npz"):
        load_reconstruction(tmp_path / "bad.npz")


def test_damaged_archives(tmp_path, scene):
    save_reconstruction(tmp_path / "a.npz", scene)
    whole = (tmp_path / "a.npz").read_bytes()
    for share in (0.0, 0.3, 0.95):
        (tmp_path / "a.npz").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(InvalidInputError, match=r"a\.npz"):
            load_reconstruction(tmp_path / "a.npz")


def test_every_flipped_byte_is_read_or_refused(tmp_path, scene):
    save_reconstruction(tmp_path / "a.npz", scene)
    whole = (tmp_path / "a.npz").read_bytes()
    refused = 0
    for place in np.random.default_rng(0).integers(0, len(whole), 60):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        (tmp_path / "a.npz").write_bytes(damaged)
        try:
            load_reconstruction(tmp_path / "a.npz")
        except InvalidInputError:
            refused += 1
    assert refused > 20


def test_another_numpy_file_is_refused(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(InvalidInputError, match=r"a\.npz"):
        load_reconstruction(tmp_path / "a.npz")


def test_values_outside_the_mask_do_not_come_in(tmp_path):
    mask = np.eye(4, dtype=bool)
    np.savez(tmp_path / "a.npz", mask=mask, depth=np.ones((4, 4)))
    depth = load_reconstruction(tmp_path / "a.npz").depth
    assert np.array_equal(np.isfinite(depth), mask)


def test_finding_files(tmp_path):
    (tmp_path / "gt.npz").touch()
    assert find_truth(tmp_path) == tmp_path / "gt.npz"
    (tmp_path / "truth.npz").touch()
    assert find_truth(tmp_path) == tmp_path / "truth.npz"
    assert find_truth(tmp_path / "other.npz") == tmp_path / "other.npz"
    assert find_result(tmp_path) == tmp_path / "result.npz"
    with pytest.raises(InvalidInputError, match="neither"):
        find_truth(tmp_path.parent)

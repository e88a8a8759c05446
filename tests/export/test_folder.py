from dataclasses import replace
from fnmatch import fnmatch

import numpy as np
import pytest

from anylight.export.folder import EXPORTED, export_scene
from anylight.export.relit import LAMPS, relit_previews
from anylight.geometry.camera import Orthographic
from anylight.model.reconstruction import Reconstruction

NAMES = ("a b.png", "ü.png", "c.png")


def written(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.fixture
def full(vase):
    confidence, openness = (np.where(vase.mask, value, np.nan) for value in (0.7, 0.9))
    return replace(vase, unit="mm", confidence=confidence, openness=openness)


def test_everything_is_written_and_announced(tmp_path, full):
    shares = []
    export_scene(tmp_path, full, NAMES, "opengl", lambda _, share: shares.append(share))
    names = written(tmp_path)
    assert all(any(fnmatch(name, pattern) for pattern in EXPORTED) for name in names)
    plain = [p for p in EXPORTED if "*" not in p]
    assert set(plain) <= set(names)
    previews = {f"preview/relit_{side}.png" for side in ("left", "right", "top", "front")}
    previews |= {f"preview/{name}.png" for name in ("shaded", "depth", "lights", "light_02")}
    assert previews <= set(names)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_bytes_repeat(tmp_path, full):
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        export_scene(tmp_path / name, full, NAMES, "directx", None)
        contents.append({n: (tmp_path / name / n).read_bytes() for n in written(tmp_path / name)})
    assert contents[0] == contents[1]


def test_files_hold_no_time_stamp(tmp_path, full):
    export_scene(tmp_path, full, NAMES, "opengl", None)
    for name in written(tmp_path):
        content = (tmp_path / name).read_bytes()
        assert b"capDate" not in content
        assert b"tIME" not in content


def test_what_is_unknown_is_left_out(tmp_path, vase):
    export_scene(tmp_path, Reconstruction(mask=vase.mask), (), "opengl", None)
    assert written(tmp_path) == []
    only_depth = Reconstruction(mask=vase.mask, camera=vase.camera, depth=vase.depth)
    export_scene(tmp_path, only_depth, (), "opengl", None)
    assert set(written(tmp_path)) == {
        "mesh.glb", "mesh.ply", "mesh.obj", "mesh.mtl", "mesh_texture.png",
        "depth.exr", "depth.png", "preview/depth.png",
    }  # fmt: skip


def test_relit_sides_are_lit_from_their_side(vase):
    pictures = relit_previews(replace(vase, albedo=None), 64)
    assert pictures.keys() == LAMPS.keys()
    half = vase.mask.shape[1] // 2
    left, right = pictures["left"].astype(int), pictures["right"].astype(int)
    assert (left - right)[:, :half].sum() > 0
    assert (left - right)[:, half:].sum() < 0
    assert pictures["top"].dtype == np.uint8
    assert all(max(picture.shape[:2]) <= 64 for picture in pictures.values())
    assert max(relit_previews(vase, 32)["front"].shape[:2]) <= 32
    assert relit_previews(replace(vase, normals=None), 64) == {}


def test_a_lamp_from_the_side_casts_shadows_where_they_are_known(vase):
    """A wall in front of a floor: under a lamp behind the wall the floor near it is dark."""
    rows, columns = np.mgrid[:40, :40]
    mask = (rows > 3) & (rows < 36) & (columns > 3) & (columns < 36)
    depth = np.where(np.abs(columns - 12) < 3, -8.0, 0.0)
    normals = np.zeros((40, 40, 3))
    normals[..., 2] = -1
    wall = Reconstruction(
        mask,
        Orthographic((19.5, 19.5)),
        np.where(mask, depth, np.nan),
        np.where(mask[..., None], normals, np.nan),
        openness=np.where(mask, 1.0, np.nan),
    )
    lit = relit_previews(wall, 40)
    behind, before = lit["left"][20, 18].mean(), lit["left"][20, 32].mean()
    assert behind < 0.7 * before
    plain = relit_previews(replace(wall, openness=None), 40)["left"]
    assert plain[20, 18].mean() == plain[20, 32].mean()
    assert vase.openness is None

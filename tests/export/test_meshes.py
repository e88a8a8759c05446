import json
import struct
from dataclasses import replace

import numpy as np
import pytest
import trimesh

from anylight.export import gltf
from anylight.export.gltf import write_glb
from anylight.export.obj import write_obj
from anylight.export.ply import write_ply
from anylight.export.surface import surface_mesh
from anylight.io.images import read_image

UNITS = ["mm", None]


@pytest.fixture(params=UNITS)
def mesh(vase, request):
    return surface_mesh(replace(vase, unit=request.param))


def glb_parts(path):
    content = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", content)
    assert (magic, version, length) == (b"glTF", 2, len(content))
    size, kind = struct.unpack_from("<I4s", content, 12)
    assert kind == b"JSON"
    assert size % 4 == 0
    return json.loads(content[20 : 20 + size]), content[28 + size :]


def test_glb_round_trips_in_metres(tmp_path, mesh):
    write_glb(tmp_path / "mesh.glb", mesh)
    scene = trimesh.load(tmp_path / "mesh.glb", process=False)
    (back,) = scene.geometry.values()
    scale = 0.001 if mesh.unit == "mm" else 1.0
    assert np.allclose(back.vertices, mesh.vertices * scale, rtol=1e-6, atol=0)
    assert np.array_equal(back.faces, mesh.faces)
    assert np.allclose(back.vertex_normals, mesh.normals, atol=1e-6)
    # trimesh counts texture rows from the bottom
    assert np.allclose(back.visual.uv, np.abs(mesh.uv - [0, 1]), atol=1e-6)
    material = back.visual.material
    assert np.array_equal(np.asarray(material.baseColorTexture), mesh.texture)
    assert (material.metallicFactor, material.roughnessFactor) == (0, 1)
    assert material.doubleSided


def test_glb_states_unit_frame_and_origin(tmp_path, mesh):
    write_glb(tmp_path / "mesh.glb", mesh)
    document, body = glb_parts(tmp_path / "mesh.glb")
    extras = document["asset"]["extras"]
    assert document["asset"]["generator"] == "anylight"
    assert extras["unit"] == ("metre" if mesh.unit == "mm" else "arbitrary")
    assert "y up" in extras["frame"]
    scale = 0.001 if mesh.unit == "mm" else 1.0
    assert np.allclose(extras["origin"], np.array(mesh.origin) * scale)
    position = document["accessors"][0]
    values = np.frombuffer(body, "<f4", 3 * position["count"]).reshape(-1, 3)
    assert position["min"] == values.min(0).tolist()
    assert position["max"] == values.max(0).tolist()
    assert all(view["byteOffset"] % 4 == 0 for view in document["bufferViews"])
    assert document["buffers"][0]["byteLength"] == len(body)


def test_large_textures_become_jpeg(tmp_path, mesh, monkeypatch):
    monkeypatch.setattr(gltf, "_MAX_PNG_TEXELS", 10)
    write_glb(tmp_path / "mesh.glb", mesh)
    document, body = glb_parts(tmp_path / "mesh.glb")
    assert document["images"][0]["mimeType"] == "image/jpeg"
    assert body[document["bufferViews"][4]["byteOffset"] :][:3] == b"\xff\xd8\xff"


def test_ply_round_trips_and_states_its_unit(tmp_path, mesh):
    write_ply(tmp_path / "mesh.ply", mesh)
    back = trimesh.load(tmp_path / "mesh.ply", process=False)
    assert np.array_equal(back.vertices.astype(np.float32), mesh.vertices)
    assert np.array_equal(back.faces, mesh.faces)
    assert np.allclose(back.vertex_normals, mesh.normals, atol=1e-6)
    assert np.array_equal(back.visual.vertex_colors[:, :3], mesh.colours)
    header = (tmp_path / "mesh.ply").read_bytes().split(b"end_header")[0].decode()
    assert f"comment unit: {mesh.unit or 'arbitrary'}\n" in header
    assert "comment frame: x right, y up" in header
    origin = header.split("comment origin: ")[1].split("\n")[0]
    assert tuple(map(float, origin.split())) == mesh.origin


def test_obj_round_trips_and_states_its_unit(tmp_path, mesh):
    folder = tmp_path / "with spaces é"
    folder.mkdir()
    write_obj(folder, mesh)
    back = trimesh.load(folder / "mesh.obj", process=False, maintain_order=True)
    assert np.allclose(back.vertices, mesh.vertices, rtol=1e-6)
    assert np.array_equal(back.faces, mesh.faces)
    assert np.allclose(back.vertex_normals, mesh.normals, atol=2e-5)
    assert np.allclose(back.visual.uv, np.abs(mesh.uv - [0, 1]), atol=1e-6)
    assert np.array_equal(np.asarray(back.visual.material.image), mesh.texture)
    assert np.array_equal(read_image(folder / "mesh_texture.png"), mesh.texture)
    for name in ("mesh.obj", "mesh.mtl"):
        assert f": {mesh.unit or 'arbitrary'}\n" in (folder / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("size", [1e-5, 1.0, 3e3, 1e7])
def test_obj_holds_places_of_any_size(tmp_path, mesh, size):
    mesh = replace(mesh, vertices=(size * mesh.vertices).astype(np.float32))
    write_obj(tmp_path, mesh)
    back = trimesh.load(tmp_path / "mesh.obj", process=False, maintain_order=True)
    assert np.abs(back.vertices - mesh.vertices).max() < 1e-7 * np.abs(mesh.vertices).max()


def test_obj_says_which_normals_are_none(tmp_path, mesh):
    normals = mesh.normals.copy()
    normals[3] = np.nan
    write_obj(tmp_path, replace(mesh, normals=normals))
    lines = (tmp_path / "mesh.obj").read_text().splitlines()
    read = np.array([line.split()[1:] for line in lines if line.startswith("vn ")], float)
    assert np.allclose(read, normals, atol=2e-5, equal_nan=True)


def test_an_empty_mesh_is_no_glb(tmp_path, mesh):
    with pytest.raises(ValueError, match="empty"):
        write_glb(tmp_path / "mesh.glb", replace(mesh, faces=mesh.faces[:0]))

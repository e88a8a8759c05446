"""Mesh files."""

from pathlib import Path

import numpy as np
import trimesh

from anylight.arrays import DepthMap
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera

MESH_SUFFIXES = (".ply", ".obj", ".glb", ".gltf", ".stl", ".off")


def save_depth_mesh(path: Path, camera: Camera, depth: DepthMap) -> None:
    """Write the surface behind a depth map, y up and the front towards +z; NaN stays open."""
    holds = np.isfinite(depth)
    rows, columns = np.nonzero(holds)
    points = camera.points(columns.astype(float), rows.astype(float), depth[holds])
    numbers = np.full(depth.shape, -1)
    numbers[holds] = np.arange(len(points))
    a, b, c, d = numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, :-1], numbers[1:, 1:]
    faces = np.concatenate(
        [np.stack([a, c, b], -1).reshape(-1, 3), np.stack([b, c, d], -1).reshape(-1, 3)]
    )
    faces = faces[(faces >= 0).all(axis=1)]
    mesh = trimesh.Trimesh(points * [1.0, -1.0, -1.0], faces, process=False)
    path.write_bytes(trimesh.exchange.ply.export_ply(mesh))


def load_mesh(path: Path) -> trimesh.Trimesh:
    """Read a mesh with its vertices merged, so that normals can be averaged over them."""
    if not path.is_file():
        raise InvalidInputError(f"{path}: no such file.")
    if path.suffix.lower() not in MESH_SUFFIXES:
        raise InvalidInputError(
            f"{path}: is not a mesh file; use one of {', '.join(MESH_SUFFIXES)}."
        )
    try:
        loaded: object = trimesh.load(path, process=True, maintain_order=True)
    except Exception as error:  # trimesh's readers raise whatever their format's parser does
        raise InvalidInputError(f"{path}: cannot be read as a mesh ({error}).") from error
    if isinstance(loaded, trimesh.Scene):
        loaded = loaded.to_mesh()
    if not isinstance(loaded, trimesh.Trimesh) or len(loaded.faces) == 0:
        raise InvalidInputError(f"{path}: holds no triangles; export it as PLY, OBJ or GLB mesh.")
    if not np.isfinite(loaded.vertices).all() or float(np.min(loaded.extents[:2])) <= 0:
        raise InvalidInputError(f"{path}: is flat or holds vertices that are not finite.")
    loaded.merge_vertices(merge_tex=True, merge_norm=True)
    return loaded

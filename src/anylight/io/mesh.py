"""Mesh files to render."""

from pathlib import Path

import numpy as np
import trimesh

from anylight.errors import InvalidInputError

MESH_SUFFIXES = (".ply", ".obj", ".glb", ".gltf", ".stl", ".off")


def load_mesh(path: Path) -> trimesh.Trimesh:
    """Read a mesh with its vertices merged, so that normals can be averaged over them."""
    if not path.is_file():
        raise InvalidInputError(f"{path}: no such file.")
    if path.suffix.lower() not in MESH_SUFFIXES:
        raise InvalidInputError(
            f"{path}: is not a mesh file; use one of {', '.join(MESH_SUFFIXES)}."
        )
    try:
        with np.errstate(all="ignore"):  # vertices that are not finite are refused below
            loaded: object = trimesh.load(path, process=True, maintain_order=True)
    except Exception as error:  # trimesh's readers raise whatever their format's parser does
        raise InvalidInputError(f"{path}: cannot be read as a mesh ({error}).") from error
    if isinstance(loaded, trimesh.Scene):
        loaded = loaded.to_mesh()
    if not isinstance(loaded, trimesh.Trimesh) or len(loaded.faces) == 0:
        raise InvalidInputError(f"{path}: holds no triangles; export it as PLY, OBJ or GLB mesh.")
    if not np.isfinite(loaded.vertices).all() or float(np.min(loaded.extents[:2])) <= 0:
        raise InvalidInputError(f"{path}: is flat or holds vertices that are not finite.")
    with np.errstate(invalid="ignore"):  # normals that the file holds may be anything
        loaded.merge_vertices(merge_tex=True, merge_norm=True)
    return loaded

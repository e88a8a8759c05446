"""PLY: points with normals and colours, binary."""

from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from anylight.threads import chunks

from .surface import FRAME, SurfaceMesh

_PLACE, _NORMAL, _COLOUR = ("x", "y", "z"), ("nx", "ny", "nz"), ("red", "green", "blue")
_VERTEX = np.dtype(
    [(name, "<f4") for name in _PLACE + _NORMAL] + [(name, "u1") for name in _COLOUR]
)
_FACE = np.dtype([("count", "u1"), ("corners", "<i4", (3,))])


def write_ply(path: Path, mesh: SurfaceMesh) -> None:
    """Write a mesh in its own unit; comments state unit, frame and origin."""
    header = [
        "ply",
        "format binary_little_endian 1.0",
        "comment generator: anylight",
        f"comment unit: {mesh.unit or 'arbitrary'}",
        f"comment frame: {FRAME}",
        "comment origin: {!r} {!r} {!r}".format(*mesh.origin),
        f"element vertex {len(mesh.vertices)}",
        *(f"property float {name}" for name in _PLACE + _NORMAL),
        *(f"property uchar {name}" for name in _COLOUR),
        f"element face {len(mesh.faces)}",
        "property list uchar int vertex_indices",
        "end_header",
    ]
    with path.open("wb") as file:
        file.write(("\n".join(header) + "\n").encode("ascii"))
        for part in chunks(len(mesh.vertices)):
            file.write(_vertices(mesh, part).view(np.uint8).data)
        for part in chunks(len(mesh.faces)):
            faces = np.empty(part.stop - part.start, _FACE)
            faces["count"], faces["corners"] = 3, mesh.faces[part]
            file.write(faces.view(np.uint8).data)


def _vertices(mesh: SurfaceMesh, part: slice) -> Shaped[np.ndarray, " n"]:
    """Some vertices as the file has them."""
    vertices = np.empty(part.stop - part.start, _VERTEX)
    for names, values in (
        (_PLACE, mesh.vertices),
        (_NORMAL, mesh.normals),
        (_COLOUR, mesh.colours),
    ):
        for name, column in zip(names, values[part].T, strict=True):
            vertices[name] = column
    return vertices

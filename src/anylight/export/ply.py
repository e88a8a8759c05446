"""PLY: points with normals and colours, binary."""

from pathlib import Path

import numpy as np

from .surface import FRAME, SurfaceMesh

_PLACE, _NORMAL, _COLOUR = ("x", "y", "z"), ("nx", "ny", "nz"), ("red", "green", "blue")
_VERTEX = np.dtype(
    [(name, "<f4") for name in _PLACE + _NORMAL] + [(name, "u1") for name in _COLOUR]
)
_FACE = np.dtype([("count", "u1"), ("corners", "<i4", (3,))])


def write_ply(path: Path, mesh: SurfaceMesh) -> None:
    """Write a mesh in its own unit; comments state unit, frame and origin."""
    vertices = np.empty(len(mesh.vertices), _VERTEX)
    for names, values in (
        (_PLACE, mesh.vertices),
        (_NORMAL, mesh.normals),
        (_COLOUR, mesh.colours),
    ):
        for name, column in zip(names, values.T, strict=True):
            vertices[name] = column
    faces = np.empty(len(mesh.faces), _FACE)
    faces["count"], faces["corners"] = 3, mesh.faces
    header = [
        "ply",
        "format binary_little_endian 1.0",
        "comment generator: anylight",
        f"comment unit: {mesh.unit or 'arbitrary'}",
        f"comment frame: {FRAME}",
        "comment origin: {!r} {!r} {!r}".format(*mesh.origin),
        f"element vertex {len(vertices)}",
        *(f"property float {name}" for name in _PLACE + _NORMAL),
        *(f"property uchar {name}" for name in _COLOUR),
        f"element face {len(faces)}",
        "property list uchar int vertex_indices",
        "end_header",
    ]
    with path.open("wb") as file:
        file.write(("\n".join(header) + "\n").encode("ascii"))
        file.write(vertices.tobytes())
        file.write(faces.tobytes())

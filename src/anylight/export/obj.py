"""OBJ: a textured mesh as text, for programs that read nothing else."""

from pathlib import Path
from typing import TextIO

import numpy as np
from jaxtyping import Float, Int

from anylight.io.images import write_image

from .surface import FRAME, SurfaceMesh

_BOTTOM_LEFT = np.array([0.0, 1.0])
"""Where OBJ has the origin of a texture."""
_BLOCK = 50_000
"""Lines formatted at once."""


def write_obj(folder: Path, mesh: SurfaceMesh, stem: str = "mesh") -> None:
    """Write `mesh.obj`, `mesh.mtl` and `mesh_texture.png`, in the mesh's own unit."""
    unit = mesh.unit or "arbitrary"
    texture = f"{stem}_texture.png"
    write_image(folder / texture, mesh.texture)
    material = (
        f"# anylight\n# unit of the mesh: {unit}\nnewmtl albedo\n"
        f"Ka 0 0 0\nKd 1 1 1\nKs 0 0 0\nillum 1\nmap_Kd {texture}\n"
    )
    (folder / f"{stem}.mtl").write_text(material, encoding="utf-8", newline="\n")
    with (folder / f"{stem}.obj").open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"# anylight\n# unit: {unit}\n# frame: {FRAME}\n")
        file.write("# origin: {!r} {!r} {!r}\n".format(*mesh.origin))
        file.write(f"mtllib {stem}.mtl\nusemtl albedo\n")
        _write_rows(file, "v %.7g %.7g %.7g\n", mesh.vertices)
        _write_rows(file, "vt %.7g %.7g\n", np.abs(mesh.uv - _BOTTOM_LEFT))
        _write_rows(file, "vn %.5f %.5f %.5f\n", mesh.normals)
        _write_faces(file, mesh.faces)


def _write_rows(file: TextIO, line: str, rows: Float[np.ndarray, "n d"]) -> None:
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        file.write(line * len(block) % tuple(block.ravel().tolist()))


def _write_faces(file: TextIO, faces: Int[np.ndarray, "F 3"]) -> None:
    """Corners as a/a/a, because place, texture and normal of a vertex have one number.

    Short ones are filled up with spaces, so that lines are pieced together as arrays.
    """
    numbers = range(1, int(faces.max(initial=0)) + 2)
    corners = np.array([f" {number}/{number}/{number}" for number in numbers], bytes)
    width = corners.itemsize
    letters = corners.view(np.uint8).reshape(-1, width)
    letters[letters == 0] = ord(" ")
    for start in range(0, len(faces), _BLOCK):
        block = faces[start : start + _BLOCK]
        lines = np.empty((len(block), 3 * width + 2), np.uint8)
        lines[:, 0], lines[:, -1] = ord("f"), ord("\n")
        lines[:, 1:-1] = letters[block].reshape(len(block), -1)
        file.write(lines.tobytes().decode("ascii"))

"""OBJ: a textured mesh as text, for programs that read nothing else."""

from pathlib import Path
from typing import BinaryIO

import numpy as np
from jaxtyping import Float

from anylight.io.images import write_image
from anylight.threads import chunks

from .lettering import decimals_for, faces, rows
from .surface import FRAME, SurfaceMesh

_BOTTOM_LEFT = np.array([0.0, 1.0])
"""Where OBJ has the origin of a texture."""


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
    places = decimals_for(mesh.vertices)
    with (folder / f"{stem}.obj").open("wb") as file:
        head = f"# anylight\n# unit: {unit}\n# frame: {FRAME}\n"
        head += "# origin: {!r} {!r} {!r}\n".format(*mesh.origin)
        file.write(f"{head}mtllib {stem}.mtl\nusemtl albedo\n".encode())
        if places is None:
            _write_rows(file, "v %.7g %.7g %.7g\n", mesh.vertices)
        else:
            file.writelines(rows("v", mesh.vertices, places))
        file.writelines(rows("vt", np.abs(mesh.uv - _BOTTOM_LEFT), 7))
        file.writelines(rows("vn", mesh.normals, 5))
        file.writelines(faces(mesh.faces))


def _write_rows(file: BinaryIO, line: str, values: Float[np.ndarray, "n d"]) -> None:
    """Numbers that are so large or so small that their digits must be counted one by one."""
    for part in chunks(len(values)):
        block = values[part]
        file.write((line * len(block) % tuple(block.ravel().tolist())).encode("ascii"))

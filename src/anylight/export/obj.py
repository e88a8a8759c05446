"""OBJ: a textured mesh as text, for programs that read nothing else."""

from collections.abc import Iterator
from pathlib import Path

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
    with (folder / f"{stem}.obj").open("wb") as file:
        head = f"# anylight\n# unit: {unit}\n# frame: {FRAME}\n"
        head += "# origin: {!r} {!r} {!r}\n".format(*mesh.origin)
        file.write(f"{head}mtllib {stem}.mtl\nusemtl albedo\n".encode())
        file.writelines(_lines("v", mesh.vertices))
        file.writelines(_lines("vt", np.abs(mesh.uv - _BOTTOM_LEFT), 7))
        file.writelines(_lines("vn", mesh.normals, 5))
        file.writelines(faces(mesh.faces))


def _lines(
    key: str, values: Float[np.ndarray, "n d"], decimals: int | None = None
) -> Iterator[bytes | memoryview]:
    """Rows by tables of digits; if these cannot hold a number, number by number."""
    if np.isfinite(values).all():
        decimals = decimals_for(values) if decimals is None else decimals
        if decimals is not None:
            yield from rows(key, values, decimals)
            return
    line = f"{key}{' %.7g' * values.shape[1]}\n"
    for part in chunks(len(values)):
        block = values[part]
        yield (line * len(block) % tuple(block.ravel().tolist())).encode("ascii")

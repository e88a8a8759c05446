"""`anylight integrate`: normals to depth, alone."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import rich.console
import tyro

from anylight.errors import InvalidInputError
from anylight.export.ply import write_ply
from anylight.export.surface import surface_mesh
from anylight.geometry.camera import Camera, Orthographic, camera_from_matrix
from anylight.geometry.domain import Domain
from anylight.integration.best import integrate
from anylight.io.archive import save_reconstruction
from anylight.io.capture import read_mask, read_matrix
from anylight.io.folder import Owned, check_output, staged_folder
from anylight.io.images import write_image
from anylight.io.normals import unit_normals
from anylight.io.results import Frame, load_normals
from anylight.model.reconstruction import Reconstruction, outside_nan
from anylight.pictures import scene_pictures

from .progress import say

OWNED = Owned(marker="depth.exr", patterns=("result.npz", "depth.exr", "mesh.ply", "preview/*.png"))


@dataclass(frozen=True, kw_only=True)
class Integrate:
    """Turn a normal map into depth and a mesh.

    Depth may jump where the normals want it, and the mesh is open there. Perspective with
    --intrinsics, else orthographic.
    Try: anylight integrate normal_map.png --mask mask.png --intrinsics K.txt --out surface
    """

    normals: tyro.conf.Positional[Path]
    """Normal map: an 8/16-bit or EXR image, an .npy, or an .npz with normals (docs/formats.md)."""
    out: Path
    """Folder to write; it must be new, empty, or from an earlier integrate."""
    mask: Path | None = None
    """Binary mask image; if not given, every pixel that holds a normal (or the .npz's mask)."""
    frame: Frame = "opengl"
    """Of the normals, where the file does not say it: opengl (x right, y up, z to the viewer),
    directx (y down) or camera (x right, y down, z away)."""
    intrinsics: Path | None = None
    """K.txt for a perspective camera; if not given, orthographic (or the .npz's camera)."""

    def run(self, console: rich.console.Console) -> None:
        """Read, integrate, write."""
        check_output(self.out, OWNED)
        field, camera = self._read()
        holds = np.isfinite(field).all(axis=-1)
        mask = holds
        if self.mask is not None:
            mask = read_mask(self.mask, holds.shape)
            if (mask & ~holds).any():
                raise InvalidInputError(
                    f"{self.mask}: covers {np.count_nonzero(mask & ~holds)} pixel(s) without a "
                    f"normal in {self.normals}; make it smaller."
                )
        if not mask.any():
            raise InvalidInputError(f"{self.normals}: holds no normals.")
        domain = Domain(mask)
        depth = domain.scatter(integrate(camera, domain, domain.gather(field)))
        scene = Reconstruction(mask, camera, depth, outside_nan(field, mask))
        with staged_folder(self.out, OWNED) as stage:
            save_reconstruction(stage / "result.npz", scene)
            write_image(stage / "depth.exr", depth[..., None].astype(np.float32))
            write_ply(stage / "mesh.ply", surface_mesh(scene))
            (stage / "preview").mkdir()
            for name, picture in scene_pictures(scene).items():
                write_image(stage / "preview" / f"{name}.png", picture)
        pieces = "" if domain.num_components == 1 else f" in {domain.num_components} pieces"
        say(console, f"integrated {domain.size} normals{pieces}: {self.out}")

    def _read(self) -> tuple[np.ndarray, Camera]:
        found = load_normals(self.normals, self.frame)
        assert found.normals is not None
        field = unit_normals(found.normals)
        if self.intrinsics is not None:
            return field, camera_from_matrix("perspective", read_matrix(self.intrinsics))
        centre = ((field.shape[1] - 1) / 2, (field.shape[0] - 1) / 2)
        return field, found.camera or Orthographic(centre)

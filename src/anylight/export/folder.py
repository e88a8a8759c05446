"""Everything that a run leaves for other programs, in one folder."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from anylight.io.images import write_image
from anylight.model.reconstruction import Reconstruction
from anylight.model.result import Result, scene_of
from anylight.photometry.environment import panorama
from anylight.pictures import contact_sheet, radiance_picture, scene_pictures
from anylight.threads import side_by_side

from .gltf import write_glb
from .lights import write_lights
from .maps import (
    Convention,
    write_albedo,
    write_confidence,
    write_depth,
    write_normals,
    write_openness,
)
from .obj import write_obj
from .ply import write_ply
from .relit import relit_previews
from .surface import surface_mesh

EXPORTED: tuple[str, ...] = (
    "mesh.glb",
    "mesh.ply",
    "mesh.obj",
    "mesh.mtl",
    "mesh_texture.png",
    "depth.exr",
    "depth.png",
    "normals.png",
    "normals.exr",
    "albedo.png",
    "albedo.exr",
    "confidence.png",
    "openness.png",
    "lighting.json",
    "lights.lp",
    "lights/*.hdr",
    "lights/*.exr",
    "preview/*.png",
)
"""Patterns of all files that `export_scene` may write, relative to the folder."""

_RELIT_SIZE = 1024


def export_scene(
    folder: Path | str,
    scene: Reconstruction | Result,
    names: tuple[str, ...] = (),
    normal_format: Convention = "opengl",
    progress: Callable[[str, float], None] | None = None,
) -> None:
    """Write what is known of a scene into a folder that exists; what is None is left out.

    Args:
        folder: where to.
        scene: a result or a truth.
        names: of the photos, as in `Capture.names`.
        normal_format: frame of the normal maps.
        progress: told which kind of file is written, and the share done.
    """
    writers = scene_writers(Path(folder), scene_of(scene), names, normal_format)
    side_by_side(writers, progress)


def scene_writers(
    folder: Path, scene: Reconstruction, names: tuple[str, ...], normal_format: Convention
) -> dict[str, Callable[[], None]]:
    """What writes each kind of file; arguments as for `export_scene`.

    Files are packed outside the interpreter's lock, so the kinds can be written side by side.
    """
    return {
        "meshes": lambda: _write_meshes(folder, scene),
        "maps": lambda: _write_maps(folder, scene, normal_format),
        "previews": lambda: write_previews(folder, scene),
        "lights": lambda: write_lights(folder, scene, names),
    }


def _write_maps(folder: Path, scene: Reconstruction, normal_format: Convention) -> None:
    write_depth(folder, scene)
    write_normals(folder, scene, normal_format)
    write_albedo(folder, scene)
    write_confidence(folder, scene)
    write_openness(folder, scene)


def _write_meshes(folder: Path, scene: Reconstruction) -> None:
    if scene.depth is None or scene.camera is None:
        return
    mesh = surface_mesh(scene)
    if len(mesh.faces):
        write_glb(folder / "mesh.glb", mesh)
        write_ply(folder / "mesh.ply", mesh)
        write_obj(folder, mesh)


def write_previews(folder: Path, scene: Reconstruction) -> None:
    """Write pictures of everything that is known of a scene into `preview/`."""
    pictures = scene_pictures(scene)
    relit = relit_previews(scene, _RELIT_SIZE)
    pictures |= {f"relit_{name}": picture for name, picture in relit.items()}
    if scene.lighting is not None:
        lights = [
            radiance_picture(np.maximum(light, 0), max(float(np.quantile(light, 0.98)), 1e-12))
            for light in panorama(scene.lighting)
        ]
        pictures |= {f"light_{index:02d}": light for index, light in enumerate(lights)}
        pictures["lights"] = contact_sheet(lights, columns=min(5, len(lights)))
    if pictures:
        (folder / "preview").mkdir(exist_ok=True)
    for name, picture in pictures.items():
        write_image(folder / "preview" / f"{name}.png", picture)

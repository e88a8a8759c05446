"""Photographs by an independent path tracer: shadows, light from one part to another, gloss.

Mitsuba 3 (extra `pathtrace`) sees the same surface through the same camera under the same
environments as our own renderer, and knows nothing else of it. Its world is the camera's frame with
y up and z to the viewer. Pixels are averaged over their area, and over the part that the object
covers.
"""

import ctypes.util
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from anylight.errors import MissingExtraError
from anylight.geometry.camera import Camera, Perspective
from anylight.photometry.environment import Environment

_TO_WORLD = np.array([1.0, -1.0, -1.0])
_SAMPLES = 256
"""Paths per pixel that are traced at once."""
_FEWEST, _MOST = 2, 16
"""How often, at least and at most."""
ACCEPTABLE_NOISE = 0.01
"""Noise that is small enough, relative to the mean."""
_WHOLE = 0.999
"""Share of a pixel that is object from which its noise counts."""
_FINER = 4
"""Texels of a map become so many along every side, because Mitsuba blends neighbouring ones."""
_REFRACTION = 1.5
"""Of the clear coat that gloss is."""
_LLVM = range(21, 18, -1)
"""Versions of LLVM that the fast variant runs with, newest first; 16 aborts on some processors."""


@dataclass(frozen=True, eq=False)
class TracedSurface:
    """Triangles in the camera's frame."""

    vertices: Float[np.ndarray, "v 3"]
    faces: Int[np.ndarray, "f 3"]
    normals: Float[np.ndarray, "v 3"]
    albedo: Float[np.ndarray, "v 3"]


@dataclass(frozen=True, eq=False)
class TracedPhoto:
    """Radiance times π (a white surface under a white sky of one shows π), NaN off the object."""

    radiance: Float[np.ndarray, "H W 3"]
    noise: float
    """Root mean square of the noise over the mean."""


class PathTracer:
    """A scene that is photographed under one environment after the other."""

    def __init__(
        self,
        surface: TracedSurface,
        camera: Camera,
        shape: tuple[int, int],
        bounces: int,
        gloss: float | None,
    ) -> None:
        self._shape = shape
        self._parts = (surface, camera, bounces, gloss)

    def photograph(self, environment: Environment, seed: int) -> TracedPhoto:
        """Trace until the noise is below one percent of the mean, or for long enough."""
        with _mitsuba() as mi:
            scene = self._scene(mi, environment)
            height, width = self._shape
            total, square = np.zeros((2, height, width, 3))
            cover = np.zeros((height, width))
            noise, count = np.inf, 0
            while count < _MOST and not (count >= _FEWEST and noise < ACCEPTABLE_NOISE):
                image = np.array(
                    mi.render(scene, spp=_SAMPLES, seed=seed * _MOST + count), dtype=float
                )
                count += 1
                total += image[..., :3]
                square += image[..., :3] ** 2
                cover += image[..., 3]
                noise = _noise(total, square, cover >= count * _WHOLE, count)
        seen = cover > 0
        radiance = np.full((height, width, 3), np.nan)
        radiance[seen] = np.pi * total[seen] / cover[seen][:, None]
        return TracedPhoto(radiance, noise)

    def _scene(self, mi: Any, environment: Environment) -> Any:
        surface, camera, bounces, gloss = self._parts
        height, width = self._shape
        fine = environment.repeat(_FINER, axis=0).repeat(_FINER, axis=1).astype(np.float32)
        return mi.load_dict(
            {
                "type": "scene",
                "integrator": {
                    "type": "path",
                    "max_depth": bounces + 1,
                    "rr_depth": bounces + 2,
                    "hide_emitters": True,
                },
                "sensor": _sensor(mi, camera, width, height),
                "light": {"type": "envmap", "bitmap": mi.Bitmap(fine)},
                "object": _mesh(mi, surface, gloss),
            }
        )


def _noise(
    total: np.ndarray, square: np.ndarray, whole: Bool[np.ndarray, "H W"], count: int
) -> float:
    """Standard error of the mean of all batches over the mean, where pixels are all object."""
    if count < 2 or not whole.any():
        return np.inf
    variance = np.maximum(square / count - (total / count) ** 2, 0) / (count - 1)
    return float(np.sqrt(variance[whole].mean()) * count / max(total[whole].mean(), 1e-12))


def _sensor(mi: Any, camera: Camera, width: int, height: int) -> dict[str, Any]:
    transform = mi.ScalarTransform4f
    film = {
        "type": "hdrfilm",
        "width": width,
        "height": height,
        "pixel_format": "rgba",
        "component_format": "float32",
        "rfilter": {"type": "box"},
    }
    look = transform().look_at(origin=[0, 0, 0], target=[0, 0, -1], up=[0, 1, 0])
    common = {
        "film": film,
        "near_clip": 1e-3,
        "far_clip": 1e7,
        "sampler": {"type": "multijitter", "sample_count": _SAMPLES},
    }
    if isinstance(camera, Perspective):
        angle = 2 * np.degrees(np.arctan(width / 2 / camera.focal_px[0]))
        return {**common, "type": "perspective", "fov": angle, "fov_axis": "x", "to_world": look}
    wide = transform().scale([width / 2, width / 2, 1])
    return {**common, "type": "orthographic", "to_world": look @ wide}


def _mesh(mi: Any, surface: TracedSurface, gloss: float | None) -> Any:
    paint = {"type": "mesh_attribute", "name": "vertex_paint"}
    bsdf: dict[str, Any] = {"type": "diffuse", "reflectance": paint}
    if gloss is not None:
        bsdf = {"type": "principled", "base_color": paint, "roughness": float(np.sqrt(gloss)),
                "eta": _REFRACTION}  # fmt: skip
    properties = mi.Properties()
    properties["bsdf"] = mi.load_dict({"type": "twosided", "bsdf": bsdf})
    mesh = mi.Mesh(
        "object",
        len(surface.vertices),
        len(surface.faces),
        has_vertex_normals=True,
        props=properties,
    )
    mesh.add_attribute("vertex_paint", 3, surface.albedo.astype(np.float32).ravel())
    parameters = mi.traverse(mesh)
    world = surface.vertices * _TO_WORLD, surface.normals * _TO_WORLD
    parameters["vertex_positions"] = world[0].astype(np.float32).ravel()
    parameters["vertex_normals"] = world[1].astype(np.float32).ravel()
    parameters["faces"] = surface.faces.astype(np.uint32).ravel()
    parameters.update()
    return mesh


@contextmanager
def _mitsuba() -> Iterator[Any]:
    """The tracer in its fastest variant that runs here; the caller's own variant comes back."""
    variant = _variant()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mitsuba  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("--bounces", "pathtrace") from error
    before = mitsuba.variant()
    mitsuba.set_variant(variant)
    try:
        yield mitsuba
    finally:
        if before is not None:
            mitsuba.set_variant(before)


@cache
def _variant() -> str:
    """A graphics card, else LLVM if there is one that is new enough, else scalar.

    An older LLVM would end the whole process, so a library is looked for by its version. Scalar
    needs nothing.
    """
    if all(ctypes.util.find_library(name) for name in ("cuda", "nvoptix")):
        return "cuda_ad_rgb"
    if "DRJIT_LIBLLVM_PATH" in os.environ:
        return "llvm_ad_rgb"
    for version in _LLVM:
        library = ctypes.util.find_library(f"LLVM-{version}")
        if library is not None:
            os.environ["DRJIT_LIBLLVM_PATH"] = library
            return "llvm_ad_rgb"
    return "scalar_rgb"

"""Render a capture and its truth by the exact image formation of the paper's eq. 1.

Nothing here knows the solver: light is integrated over every texel of an environment map,
attached shadows included; harmonics appear only in the truth that is written down.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Real, UInt8

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Perspective
from anylight.geometry.domain import Domain
from anylight.geometry.normals import depth_normals
from anylight.io.mesh import load_mesh
from anylight.model.capture import Capture
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.environment import Environments, irradiance, project

from .albedos import albedo_painter
from .lights import (
    ANY_YAW,
    EMBEDDED_YAW,
    HEIGHT,
    choose_lights,
    embedded_lights,
    load_lights,
)
from .mesh import MeshSurface, smooth_mesh, unit_mesh
from .options import SynthOptions
from .pathtrace import PathTracer, TracedSurface
from .shapes import SHAPE_NAMES, embedded_shape
from .solids import Solid
from .surface import Surface
from .triangulation import triangulate
from .view import View, frame_object
from .visibility import Horizon, cell_directions, to_texels

TRUTH_ORDER = 6
EXPOSURE_QUANTILE = 0.999
_BLOCK = 4096

Tell = Callable[[str, float], None]
"""Called with what is being done and the share of it that is finished."""


@dataclass(frozen=True, eq=False)
class Rendering:
    """A capture with its known answer."""

    capture: Capture
    truth: Reconstruction
    noise: float = 0.0
    """Of the path tracer, relative to the mean of a photo: the largest of all photos."""


def render(options: SynthOptions, progress: Tell | None = None) -> Rendering:
    """Render the capture that the options describe; the same options give the same bytes."""
    say = progress or (lambda _task, _share: None)
    environments = _environments(options)
    say("shape", 0.0)
    surface = load_surface(options)
    width, height = options.width or options.height, options.height
    view = frame_object(surface, width, height, None if options.orthographic else options.focal)
    say("shape", 0.5)
    depth, normals = _geometry(surface, view, width, height, options)
    domain = Domain(np.isfinite(depth))
    if domain.size == 0:
        raise InvalidInputError(f"--shape {options.shape}: no pixel sees the object.")
    say("shape", 1.0)
    scene = _Scene(options, surface, view, domain, depth)
    unexposed = scene.photograph(normals, environments, say)
    white = np.quantile(unexposed.shading, EXPOSURE_QUANTILE, axis=(1, 2))
    if not (white > 0).all():
        raise InvalidInputError(
            f"photo {int(np.argmin(white))} is black: its light does not reach what the camera "
            "sees; use other --lights or another --seed."
        )
    exposure = 1.0 / white
    radiance, noise = unexposed.radiance, 0.0
    if options.bounces:
        radiance, noise = scene.traced(environments, say)
    radiance = radiance * exposure[:, None, None]
    capture = Capture(_quantise(radiance, domain, options), domain.mask, view.camera)
    lighting = project(environments, TRUTH_ORDER) * exposure[:, None, None]
    albedo = domain.scatter(scene.albedo(domain.pixels))
    truth = Reconstruction(domain.mask, view.camera, depth, normals, albedo, lighting)
    return Rendering(capture, truth, noise)


def _environments(options: SynthOptions) -> Environments:
    is_builtin = options.lights == "builtin"
    maps = embedded_lights() if is_builtin else load_lights(Path(options.lights))
    rng = np.random.default_rng([options.seed, 0])
    return choose_lights(maps, options.images, rng, EMBEDDED_YAW if is_builtin else ANY_YAW)


def load_surface(options: SynthOptions) -> Surface:
    """Make an embedded shape or read a mesh, fine enough for the image."""
    if options.shape in SHAPE_NAMES:
        return embedded_shape(options.shape)
    path = Path(options.shape)
    if not path.suffix:
        raise InvalidInputError(
            f"--shape {options.shape}: is neither an embedded shape "
            f"({', '.join(SHAPE_NAMES)}) nor a mesh file."
        )
    mesh, unit = unit_mesh(load_mesh(path))
    half_pixel = 0.5 * float(max(mesh.extents[:2])) / options.height
    return MeshSurface(smooth_mesh(mesh, half_pixel), unit)


def _geometry(
    surface: Surface, view: View, width: int, height: int, options: SynthOptions
) -> tuple[Float[np.ndarray, "H W"], Float[np.ndarray, "H W 3"]]:
    """Depth and the normals that will be shaded, on the pixel grid."""
    rows, columns = np.mgrid[:height, :width]
    pixels = np.stack([columns.ravel(), rows.ravel()], axis=-1).astype(float)
    hits = view.trace(surface, pixels)
    depth = hits.points[:, 2].reshape(height, width)
    if options.protocol == "mesh":
        return depth, hits.normals.reshape(height, width, 3)
    return depth, depth_normals(view.camera, depth, np.isfinite(depth), options.stencil)


@dataclass(frozen=True, eq=False)
class _Unexposed:
    shading: Float[np.ndarray, "M C P"]
    radiance: Float[np.ndarray, "M C P"]


class _Scene:
    """The placed object under the lights of all photos."""

    def __init__(
        self,
        options: SynthOptions,
        surface: Surface,
        view: View,
        domain: Domain,
        depth: Float[np.ndarray, "H W"],
    ) -> None:
        self._options, self._surface, self._view = options, surface, view
        self._domain, self._depth = domain, depth
        self._paint = albedo_painter(options.albedo, options.seed)
        self._size = np.array(domain.mask.shape[::-1], float)

    def albedo(self, pixels: Real[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 3"]:
        """Albedo at pixel positions."""
        s, t = ((pixels + 0.5) / self._size).T
        return self._paint(s, t)

    def photograph(
        self, normals: Float[np.ndarray, "H W 3"], environments: Environments, say: Tell
    ) -> _Unexposed:
        """Shading at the pixel centres, and radiance averaged over each pixel."""
        at_centres = self._domain.gather(normals)
        visible = self._visibility(self._domain.gather(self._depth), at_centres, say)
        u, v = self._domain.pixels.T
        at = self._view.camera.points(u, v, self._domain.gather(self._depth))
        shading = self._shade(at, at_centres, environments, visible, say)
        centre = shading * self.albedo(self._domain.pixels).T
        if self._options.supersample == 1:
            return _Unexposed(shading, centre)
        return _Unexposed(shading, self._supersample(centre, environments, visible, say))

    def traced(
        self, environments: Environments, say: Tell
    ) -> tuple[Float[np.ndarray, "M C P"], float]:
        """Radiance by the path tracer, and the largest noise of a photo."""
        options, camera = self._options, self._view.camera
        tracer = PathTracer(
            self._triangles(), camera, self._domain.mask.shape, options.bounces, options.gloss
        )
        radiance = np.empty((len(environments), 3, self._domain.size))
        noise = 0.0
        for index, environment in enumerate(environments):
            say("paths", index / len(environments))
            photo = tracer.photograph(environment, options.seed * len(environments) + index)
            radiance[index] = self._domain.gather(photo.radiance).T
            noise = max(noise, photo.noise)
        say("paths", 1.0)
        return np.nan_to_num(radiance), noise

    def _triangles(self) -> TracedSurface:
        """The surface in the camera's frame, fine enough for the pixels, with its paint."""
        view, surface = self._view, self._surface
        if isinstance(surface, MeshSurface):
            vertices, faces, normals = surface.triangles()
        else:
            assert isinstance(surface, Solid)
            middle = float(np.nanmedian(self._depth))
            pixel = middle / view.camera.focal_px[0] if isinstance(view.camera, Perspective) else 1
            vertices, faces, normals = triangulate(surface, 0.5 * pixel / view.scale)
        placed = view.to_camera(vertices)
        paint = self.albedo(view.camera.project(placed))
        return TracedSurface(placed, faces, view.turn_to_object(normals), paint)

    def _relative(self, points: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"] | None:
        """Places of points for lamps that are near: from their middle, relative to their radius."""
        distance = self._options.lamp_distance
        if distance is None:
            return None
        samples = self._view.to_camera(self._surface.samples())
        low, high = samples.min(axis=0), samples.max(axis=0)
        return (points - (low + high) / 2) / (distance * float((high - low)[:2].max()))

    def _shade(
        self,
        points: Float[np.ndarray, "n 3"],
        normals: Float[np.ndarray, "n 3"],
        environments: Environments,
        visible: UInt8[np.ndarray, "n b"] | None,
        say: Tell,
    ) -> Float[np.ndarray, "M C n"]:
        num, channels = environments.shape[0], environments.shape[3]
        shading = np.zeros((num, channels, len(normals)))
        single, places = normals.astype(np.float32), self._relative(points)
        for start in range(0, len(normals), _BLOCK):
            block = slice(start, start + _BLOCK)
            seen = None
            if visible is not None:
                seen = to_texels(np.unpackbits(visible[block], axis=1).astype(bool), HEIGHT)
            near = None if places is None else places[block]
            shading[:, :, block] = irradiance(environments, single[block], seen, near)
            say("light", min(1.0, (start + _BLOCK) / len(normals)))
        return shading

    def _supersample(
        self,
        centre: Float[np.ndarray, "M C P"],
        environments: Environments,
        visible: UInt8[np.ndarray, "P b"] | None,
        say: Tell,
    ) -> Float[np.ndarray, "M C P"]:
        """Mean radiance over the samples of each pixel that meet the object.

        Cast shadows are those of the pixel's centre. A sliver that only the centre meets keeps
        the centre's radiance.
        """
        side = self._options.supersample
        offsets = (np.arange(side) + 0.5) / side - 0.5
        total, count = np.zeros_like(centre), np.zeros(self._domain.size)
        for index, (dv, du) in enumerate((a, b) for a in offsets for b in offsets):
            pixels = self._domain.pixels + [du, dv]
            hits = self._view.trace(self._surface, pixels)
            met = np.flatnonzero(hits.is_hit)
            seen = None if visible is None else visible[met]
            sample = self._shade(
                hits.points[met], hits.normals[met], environments, seen, lambda _t, _s: None
            )
            total[:, :, met] += sample * self.albedo(pixels[met]).T
            count[met] += 1
            say("samples", (index + 1) / side**2)
        return np.where(count > 0, total / np.maximum(count, 1), centre)

    def _visibility(
        self, depth: Float[np.ndarray, " P"], normals: Float[np.ndarray, "P 3"], say: Tell
    ) -> UInt8[np.ndarray, "P b"] | None:
        """Cells of the environment that each pixel sees, eight to a byte."""
        if not self._options.cast_shadows or self._options.bounces:
            return None
        directions = cell_directions(HEIGHT)
        visible = np.zeros((self._domain.size, len(directions) // 8), np.uint8)
        say("shadows", 0.0)
        surface, view = self._surface, self._view
        if isinstance(surface, MeshSurface):
            u, v = self._domain.pixels.T
            points = view.to_object(view.camera.points(u, v, depth))
            turned, towards = view.turn_to_object(normals), view.turn_to_object(directions)
        else:
            horizon = Horizon(view.camera, self._depth, self._domain)
        for start in range(0, self._domain.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            if isinstance(surface, MeshSurface):
                blocked = surface.is_blocked(points[block], turned[block], towards)
            else:
                blocked = horizon.is_blocked(block, directions)
            visible[block] = np.packbits(~blocked, axis=1)
            say("shadows", min(1.0, (start + _BLOCK) / self._domain.size))
        return visible


def _quantise(
    radiance: Float[np.ndarray, "M C P"], domain: Domain, options: SynthOptions
) -> np.ndarray:
    """Expose onto 8 or 16 bits: add noise, clip at white, round."""
    dtype = np.uint8 if options.bits == 8 else np.uint16
    top = np.iinfo(dtype).max
    rng = np.random.default_rng([options.seed, 1])
    photos = np.zeros((len(radiance), *domain.mask.shape, radiance.shape[1]), dtype)
    for photo, values in zip(photos, radiance, strict=True):
        noisy = values + options.noise * rng.standard_normal(values.shape)
        photo[domain.mask] = np.round(np.clip(noisy, 0, 1) * top).T
    return photos

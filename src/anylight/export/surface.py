"""The surface behind a depth map as a textured mesh, cut where the depth jumps."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, Int32, UInt8
from scipy import ndimage

from anylight.arrays import AlbedoMap, DepthMap, Mask, NormalMap, PixelIndex
from anylight.geometry.bands import bands, fill, finite_pixels
from anylight.geometry.camera import Camera, Perspective
from anylight.geometry.domain import ABSENT, Domain
from anylight.geometry.jumps import (
    SurfacePoints,
    lengths,
    steps_per_pixel,
    surface_points,
    usual_step,
)
from anylight.model.reconstruction import Reconstruction
from anylight.pictures import radiance_picture
from anylight.threads import chunks, in_parallel

FRAME = "x right, y up, z towards the viewer; add the origin and the camera is at zero"
"""The object frame in words, for the files that hold it."""

_TO_OBJECT = np.array([1.0, -1.0, -1.0])
_GREY = 200
"""Colour of a surface whose albedo is not known."""


@dataclass(frozen=True, eq=False)
class SurfaceMesh:
    """A textured surface, centred, in the object frame: x right, y up, z towards the viewer."""

    vertices: Float32[np.ndarray, "V 3"]
    faces: Int32[np.ndarray, "F 3"]
    """Counter-clockwise seen from the camera."""
    normals: Float32[np.ndarray, "V 3"]
    colours: UInt8[np.ndarray, "V 3"]
    """Albedo, sRGB."""
    uv: Float32[np.ndarray, "V 2"]
    """Origin at the top left of the texture, as in glTF; vertices lie on texel centres."""
    texture: UInt8[np.ndarray, "h w 3"]
    """Albedo, sRGB; filled from the nearest pixel of the object outside the mask."""
    unit: Literal["mm"] | None
    origin: tuple[float, float, float]
    """Add it to the vertices to have the camera at zero."""


def surface_mesh(scene: Reconstruction) -> SurfaceMesh:
    """One vertex per pixel, two triangles between four; open where the depth jumps.

    The mesh is empty if no three pixels hang together.
    """
    if scene.depth is None or scene.camera is None:
        raise ValueError("a mesh needs a depth map and a camera")
    is_pinhole = isinstance(scene.camera, Perspective)
    holds = scene.mask & np.isfinite(scene.depth)
    if is_pinhole:
        holds &= np.where(holds, scene.depth, 0) > 0
    domain = Domain(holds)
    faces = _triangles(
        scene.depth, domain.numbers, *jumps(scene.camera, scene.depth, domain, scene.normals)
    )
    used = np.zeros(domain.size, bool)
    used[faces] = True
    if not used.all():
        faces = (np.cumsum(used, dtype=np.int32) - 1)[faces]
        holds[holds] = used
    points = _Points(scene.camera, scene.depth, holds, 1.0 if is_pinhole else scene.pixel_mm or 1.0)
    origin = points.middle()
    texture, (top, left) = _texture(scene.albedo, scene.mask)
    height, width = texture.shape[:2]
    rows, columns = points.v - top, points.u - left
    across, down = ((np.arange(n) + 0.5).astype(float) / n for n in (width, height))
    return SurfaceMesh(
        vertices=points.all_from(origin),
        faces=faces,
        normals=_vertex_normals(
            points, faces, None if scene.normals is None else scene.normals[holds]
        ),
        colours=texture[rows, columns],
        uv=np.stack([across.astype(np.float32)[columns], down.astype(np.float32)[rows]], -1),
        texture=texture,
        unit=scene.unit if is_pinhole else (None if scene.pixel_mm is None else "mm"),
        origin=(float(origin[0]), float(origin[1]), float(origin[2])),
    )


class _Points:
    """Points of the surface behind pixels, object frame, made a few at a time."""

    def __init__(self, camera: Camera, depth: DepthMap, mask: Mask, scale: float) -> None:
        self.v, self.u = (place.astype(np.int32) for place in np.nonzero(mask))
        self._camera, self._depth, self._scale = camera, depth[mask], scale

    def part(self, part: slice) -> Float[np.ndarray, "n 3"]:
        """Some of them."""
        u, v = self.u[part].astype(float), self.v[part].astype(float)
        return self._camera.points(u, v, self._depth[part]) * (_TO_OBJECT * self._scale)

    def middle(self) -> Float[np.ndarray, "3"]:
        """Of the box around all of them."""
        if not len(self.u):
            return np.zeros(3)

        def bounds(part: slice) -> Float[np.ndarray, "2 3"]:
            across = self.part(part).T
            return np.array([[axis.min() for axis in across], [axis.max() for axis in across]])

        every = np.stack(in_parallel(bounds, chunks(len(self.u))))
        return (every[:, 0].min(axis=0) + every[:, 1].max(axis=0)) / 2

    def all_from(self, origin: Float[np.ndarray, "3"]) -> Float32[np.ndarray, "V 3"]:
        """All of them, as seen from a point."""
        places = np.empty((len(self.u), 3), np.float32)

        def place(part: slice) -> None:
            places[part] = self.part(part) - origin

        in_parallel(place, chunks(len(places)))
        return places


def jumps(
    camera: Camera, depth: DepthMap, domain: Domain, normals: NormalMap | None
) -> tuple[Bool[np.ndarray, "H W-1"], Bool[np.ndarray, "H-1 W"]]:
    """Whether the depth jumps between each pixel and the next one to the right, and below.

    False where a pixel is missing.
    """
    mask, (height, width) = domain.mask, depth.shape
    right, below = np.zeros((height, width - 1), bool), np.zeros((height - 1, width), bool)

    def pairs(
        rows: slice,
    ) -> tuple[SurfacePoints, list[tuple[Bool[np.ndarray, "h w"], PixelIndex, PixelIndex]]]:
        """Points of a band and of the row below it, and who is whose neighbour."""
        reach = slice(rows.start, rows.stop + 1)
        band = Domain(mask[reach])
        pixels = band.pixels + [0.0, rows.start]
        given = None if normals is None else band.gather(normals[reach])
        points = surface_points(camera, pixels, band.gather(depth[reach]), given)
        numbers, found = band.numbers, []
        for first, second in (
            (numbers[: rows.stop - rows.start, :-1], numbers[: rows.stop - rows.start, 1:]),
            (numbers[:-1], numbers[1:]),
        ):
            both = (first != ABSENT) & (second != ABSENT)
            found.append((both, first[both], second[both]))
        return points, found

    def steps(rows: slice) -> Float[np.ndarray, " n"]:
        points, found = pairs(rows)
        return steps_per_pixel(points, [(a, b) for _, a, b in found])

    usual = 0.0
    if normals is None or not finite_pixels(normals)[mask].all():  # else normals tell everything
        usual = usual_step(np.concatenate(in_parallel(steps, bands(mask.shape))))

    def find(rows: slice) -> None:
        points, found = pairs(rows)
        for jump, (both, a, b) in zip((right[rows], below[rows]), found, strict=True):
            jump[both] = points.jumps(a, b, usual)

    in_parallel(find, bands(mask.shape))
    return right, below


def _triangles(
    depth: DepthMap,
    numbers: Int[np.ndarray, "H W"],
    jump_u: Bool[np.ndarray, "H W-1"],
    jump_v: Bool[np.ndarray, "H-1 W"],
) -> Int[np.ndarray, "F 3"]:
    """Triangles between four pixels a b / c d, each at one corner of them.

    Corners a and d share the diagonal bc, corners b and c share ad: the diagonal that allows more
    triangles is taken, else that with the smaller step.
    """
    width = numbers.shape[1]
    kept = np.empty((4, len(numbers) - 1, width - 1), bool)

    def choose(rows: slice) -> None:
        reach = slice(rows.start, rows.stop + 1)
        has, z = numbers[reach] != ABSENT, depth[reach]
        along, down = ~jump_u[reach] & has[:, :-1] & has[:, 1:], ~jump_v[rows] & has[:-1] & has[1:]
        ab, cd, ac, bd = along[:-1], along[1:], down[:, :-1], down[:, 1:]
        at_a, at_b, at_c, at_d = ab & ac, ab & bd, ac & cd, bd & cd
        more = at_a.astype(np.int8) + at_d - at_b - at_c
        with np.errstate(invalid="ignore"):
            is_smaller = np.abs(z[:-1, 1:] - z[1:, :-1]) <= np.abs(z[:-1, :-1] - z[1:, 1:])
        is_bc = (more > 0) | ((more == 0) & is_smaller)
        kept[:, rows] = at_a & is_bc, at_d & is_bc, at_b & ~is_bc, at_c & ~is_bc

    in_parallel(choose, bands(kept.shape[1:]))
    right, below, across = 1, width, width + 1
    corners = ((0, below, right), (right, below, across), (0, across, right), (0, below, across))
    places = [np.flatnonzero(of_kind) for of_kind in kept]
    triangles = np.empty((sum(map(len, places)), 3), numbers.dtype)
    start = 0
    for place, triple in zip(places, corners, strict=True):
        first = place + place // max(width - 1, 1)  # squares have one column less than pixels
        for corner, offset in enumerate(triple):
            triangles[start : start + len(place), corner] = numbers.ravel()[first + offset]
        start += len(place)
    return triangles


def _vertex_normals(
    points: _Points, faces: Int[np.ndarray, "F 3"], given: Float[np.ndarray, "V 3"] | None
) -> Float32[np.ndarray, "V 3"]:
    """Given normals (camera frame) turned into the object frame, else those of the triangles."""
    normals = np.full((len(points.u), 3), np.nan, np.float32)

    def turn(part: slice) -> None:
        assert given is not None
        turned = given[part] * _TO_OBJECT
        length = lengths(turned)[:, None]
        normals[part] = turned / np.where(length > 0, length, np.nan)

    if given is not None:
        in_parallel(turn, chunks(len(normals)))
    missing = np.isnan(normals[:, 0])
    if missing.any():
        every = points.part(slice(None))
        sides = every[faces[:, 1:]] - every[faces[:, :1]]
        areas = np.cross(sides[:, 0], sides[:, 1])
        corners = faces.ravel()
        sums = [np.bincount(corners, np.repeat(area, 3), len(every)) for area in areas.T]
        around = np.stack(sums, axis=-1)[missing]
        normals[missing] = around / lengths(around)[:, None]
    return normals


def _texture(
    albedo: AlbedoMap | None, mask: Mask
) -> tuple[UInt8[np.ndarray, "h w 3"], tuple[int, int]]:
    """Albedo as a screen shows it, cropped to the mask, and its first row and column.

    Its 99.5 % quantile is white, as in the previews.
    """
    if not mask.any():
        return np.full((1, 1, 3), _GREY, np.uint8), (0, 0)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    top, left = int(rows[0]), int(columns[0])
    box = slice(top, int(rows[-1]) + 1), slice(left, int(columns[-1]) + 1)
    known = mask[box]
    if albedo is not None:
        known = known & finite_pixels(albedo[box])
    if albedo is None or not known.any():
        return np.full((*known.shape, 3), _GREY, np.uint8), (top, left)
    inside = albedo[box]
    white = max(float(np.quantile(inside[known], 0.995)), 1e-12)
    texture = np.empty((*known.shape, 3), np.uint8)
    fill(texture, known, lambda rows, held: radiance_picture(inside[rows][held], white))
    rows, columns = ndimage.distance_transform_edt(
        ~known, return_distances=False, return_indices=True
    )
    outside = np.flatnonzero(~known)
    pixels, nearest = texture.reshape(-1, 3), (rows * np.int32(known.shape[1]) + columns).ravel()
    pixels[outside] = pixels[nearest[outside]]
    return texture, (top, left)

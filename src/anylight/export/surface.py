"""The surface behind a depth map as a textured mesh, cut where the depth jumps."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, Int32, UInt8
from scipy import ndimage

from anylight.arrays import AlbedoMap, DepthMap, Mask, NormalMap
from anylight.geometry.camera import Camera, Perspective
from anylight.geometry.domain import ABSENT, Domain
from anylight.geometry.jumps import surface_points, usual_step
from anylight.model.reconstruction import Reconstruction
from anylight.pictures import radiance_picture

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
    jump_u, jump_v = jumps(scene.camera, scene.depth, domain, scene.normals)
    faces = _triangles(scene.depth, domain.numbers, jump_u, jump_v)
    used = np.zeros(domain.size, bool)
    used[faces] = True
    faces = (np.cumsum(used) - 1)[faces].astype(np.int32)

    u, v = domain.pixels[used].T
    points = scene.camera.points(u, v, domain.gather(scene.depth)[used]) * _TO_OBJECT
    if not is_pinhole and scene.pixel_mm is not None:
        points *= scene.pixel_mm
    origin = (points.min(0) + points.max(0)) / 2 if len(points) else np.zeros(3)
    points = points - origin
    texture, (top, left) = _texture(scene.albedo, scene.mask)
    height, width = texture.shape[:2]
    rows, columns = v.astype(int) - top, u.astype(int) - left
    return SurfaceMesh(
        vertices=points.astype(np.float32),
        faces=faces,
        normals=_vertex_normals(
            points, faces, None if scene.normals is None else domain.gather(scene.normals)[used]
        ),
        colours=texture[rows, columns],
        uv=np.stack([(columns + 0.5) / width, (rows + 0.5) / height], -1).astype(np.float32),
        texture=texture,
        unit=scene.unit if is_pinhole else (None if scene.pixel_mm is None else "mm"),
        origin=(float(origin[0]), float(origin[1]), float(origin[2])),
    )


def jumps(
    camera: Camera, depth: DepthMap, domain: Domain, normals: NormalMap | None
) -> tuple[Bool[np.ndarray, "H W-1"], Bool[np.ndarray, "H-1 W"]]:
    """Whether the depth jumps between each pixel and the next one to the right, and below.

    False where a pixel is missing.
    """
    given = None if normals is None else domain.gather(normals)
    points = surface_points(camera, domain.pixels, domain.gather(depth), given)
    height, width = depth.shape
    numbers = domain.numbers
    pairs, places = [], []
    for shape, first, second in (
        ((height, width - 1), numbers[:, :-1], numbers[:, 1:]),
        ((height - 1, width), numbers[:-1], numbers[1:]),
    ):
        both = (first != ABSENT) & (second != ABSENT)
        pairs.append((first[both], second[both]))
        places.append((np.zeros(shape, bool), both))
    usual = usual_step(points, pairs)
    for (found, both), (a, b) in zip(places, pairs, strict=True):
        found[both] = points.jumps(a, b, usual)
    return places[0][0], places[1][0]


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
    a, b, c, d = numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, :-1], numbers[1:, 1:]
    has_a, has_b, has_c, has_d = (corner != ABSENT for corner in (a, b, c, d))
    ab, cd = ~jump_u[:-1] & has_a & has_b, ~jump_u[1:] & has_c & has_d
    ac, bd = ~jump_v[:, :-1] & has_a & has_c, ~jump_v[:, 1:] & has_b & has_d
    at_a, at_b, at_c, at_d = ab & ac, ab & bd, ac & cd, bd & cd
    more = at_a.astype(np.int8) + at_d - at_b - at_c
    with np.errstate(invalid="ignore"):
        step_bc = np.abs(depth[:-1, 1:] - depth[1:, :-1])
        is_bc = (more > 0) | ((more == 0) & (step_bc <= np.abs(depth[:-1, :-1] - depth[1:, 1:])))
    corners = (
        (at_a & is_bc, (a, c, b)),
        (at_d & is_bc, (b, c, d)),
        (at_b & ~is_bc, (a, d, b)),
        (at_c & ~is_bc, (a, c, d)),
    )
    return np.concatenate(
        [np.stack([corner[kept] for corner in triple], -1) for kept, triple in corners]
    )


def _vertex_normals(
    points: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    given: Float[np.ndarray, "V 3"] | None,
) -> Float32[np.ndarray, "V 3"]:
    """Given normals (camera frame) turned into the object frame, else those of the triangles."""
    normals = np.full(points.shape, np.nan) if given is None else given * _TO_OBJECT
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    missing = ~(length[:, 0] > 0)
    normals = normals / np.where(length > 0, length, np.nan)
    if missing.any():
        sides = points[faces[:, 1:]] - points[faces[:, :1]]
        areas = np.cross(sides[:, 0], sides[:, 1])
        corners = faces.ravel()
        sums = [np.bincount(corners, np.repeat(area, 3), len(points)) for area in areas.T]
        around = np.stack(sums, axis=-1)[missing]
        normals[missing] = around / np.linalg.norm(around, axis=1, keepdims=True)
    return normals.astype(np.float32)


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
        known = known & np.isfinite(albedo[box]).all(axis=-1)
    if albedo is None or not known.any():
        return np.full((*known.shape, 3), _GREY, np.uint8), (top, left)
    nearest = ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
    filled = albedo[box][nearest[0], nearest[1]]
    white = float(np.quantile(albedo[box][known], 0.995))
    return radiance_picture(filled, max(white, 1e-12)), (top, left)

"""The surface as a mesh that is small enough to send, cut open where the depth jumps."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8, UInt16

from anylight.arrays import DepthMap, Mask, NormalMap
from anylight.geometry.bands import finite_pixels
from anylight.geometry.camera import Camera, Perspective
from anylight.geometry.jumps import SurfacePoints, steps_per_pixel, surface_points, usual_step

from .window import Window

_FAR = 1.2
"""Depth, in extents of the object, at which a point is left out."""
_CORNERS = (((0, 2, 1), 2), ((1, 2, 3), 4), ((0, 2, 3), 8), ((0, 3, 1), 16))
"""Corners of a cell's triangles (0 1 over 2 3), seen from the front, and their bits in `cells`."""

Numbers = Int[np.ndarray, "h w"]


@dataclass(frozen=True, eq=False)
class Relief:
    """Vertices row by row of a coarse grid; y up, front towards +z."""

    positions: UInt16[np.ndarray, "N 3"]
    """From 0 to 65535 within the bounding box."""
    origin: Float[np.ndarray, " 3"]
    """Lower corner of the bounding box."""
    size: Float[np.ndarray, " 3"]
    """Extent of the bounding box."""
    pixels: UInt16[np.ndarray, "N 2"]
    """Column and row of every vertex within the window."""
    cells: UInt8[np.ndarray, "h w"]
    """Bit 1: holds a vertex; 2, 4, 8, 16: the triangles with its right and lower neighbours."""


def relief(
    camera: Camera, depth: DepthMap, normals: NormalMap, window: Window, vertices: int
) -> Relief | None:
    """Reduce a depth map to a mesh; None where there is not a single triangle.

    Every block of pixels is represented by its pixel next to the middle, so nothing is averaged
    over a jump and the rim stays where it is.
    """
    holds = np.isfinite(window.thin(depth)) & finite_pixels(window.thin(normals))
    holds &= _near_the_rest(camera, window.thin(depth), holds)
    rows, columns, numbers = _representatives(holds, vertices)
    if len(rows) < 3:
        return None
    u, v = columns + float(window.left), rows + float(window.top)
    z = window.thin(depth)[rows, columns].astype(float)
    facing = window.thin(normals)[rows, columns].astype(float)
    points = camera.points(u, v, z)
    cells = _cells(numbers, surface_points(camera, np.stack([u, v], axis=-1), z, facing))
    if not (cells > 1).any():
        return None
    upright = points * [1.0, -1.0, -1.0]
    origin = upright.min(axis=0)
    size = np.maximum(upright.max(axis=0) - origin, 1e-9 * np.abs(upright).max() + 1e-30)
    return Relief(
        np.round((upright - origin) / size * 65535).astype(np.uint16),
        origin,
        size,
        np.stack([columns, rows], axis=-1).astype(np.uint16),
        cells,
    )


def _footprint(camera: Camera, depth: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """Width of a pixel on a surface that faces the camera."""
    return depth / min(camera.focal_px) if isinstance(camera, Perspective) else np.ones_like(depth)


def _near_the_rest(camera: Camera, depth: DepthMap, holds: Mask) -> Mask:
    """Leave out the few points that are so far off that the others would become a dot."""
    inside = depth[holds]
    if not inside.size:
        return holds
    low, middle, high = np.quantile(inside, [0.01, 0.5, 0.99])
    width = max(depth.shape) * float(_footprint(camera, np.abs([middle]))[0])
    return np.abs(np.where(holds, depth, middle) - middle) <= _FAR * max(high - low, width)


def _representatives(
    holds: Mask, vertices: int
) -> tuple[Int[np.ndarray, " N"], Int[np.ndarray, " N"], Numbers]:
    """Rows and columns of the vertices, and their numbers on the coarse grid (−1: none)."""
    rows, columns = np.nonzero(holds)
    stride = max(1, int(np.sqrt(len(rows) / max(vertices, 1))))
    while True:
        height, width = (-(-side // stride) for side in holds.shape)
        occupied = np.zeros((height, width), bool)
        occupied[rows // stride, columns // stride] = True
        if np.count_nonzero(occupied) <= vertices:
            break
        stride += 1
    middle = (stride - 1) / 2
    off = (rows % stride - middle) ** 2 + (columns % stride - middle) ** 2
    order = np.argsort(-off, kind="stable")
    nearest = np.full((height, width), -1)
    nearest[rows[order] // stride, columns[order] // stride] = order
    numbers = np.full((height, width), -1)
    numbers[occupied] = np.arange(np.count_nonzero(occupied))
    chosen = nearest[occupied]
    return rows[chosen], columns[chosen], numbers


def _cells(numbers: Numbers, points: SurfacePoints) -> UInt8[np.ndarray, "h w"]:
    """Which vertices and triangles there are."""
    corners = (numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, :-1], numbers[1:, 1:])
    pixels = points.pixels

    def pair(i: int, j: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        both = (corners[i] >= 0) & (corners[j] >= 0)
        return both, corners[i][both], corners[j][both]

    usual = usual_step(steps_per_pixel(points, [pair(0, 1)[1:], pair(0, 2)[1:]]))

    def joined(i: int, j: int) -> Bool[np.ndarray, "y x"]:
        both, a, b = pair(i, j)
        both[both] = ~points.jumps(a, b, usual)
        return both

    edges = {pair: joined(*pair) for pair in ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))}

    def closed(triangle: tuple[int, int, int]) -> Bool[np.ndarray, "y x"]:
        low, middle, high = sorted(triangle)
        a, b, c = (pixels[corners[corner]] for corner in triangle)
        (bu, bv), (cu, cv) = np.moveaxis(b - a, 2, 0), np.moveaxis(c - a, 2, 0)
        faces_us = bu * cv - bv * cu < 0
        return edges[low, middle] & edges[middle, high] & edges[low, high] & faces_us

    cells = (numbers >= 0).astype(np.uint8)
    here = cells[:-1, :-1]
    for triangle, bit in _CORNERS[:2]:
        here += np.uint8(bit) * closed(triangle)
    empty = here < 2
    for triangle, bit in _CORNERS[2:]:
        here += np.uint8(bit) * (closed(triangle) & empty)
    return cells

"""A solid as triangles: one vertex in every small cell that its surface crosses.

Naive surface nets: of all edges of the cells, those whose ends lie on different sides of the
surface are crossed, and the four cells around a crossed edge make two triangles. Vertices are moved
onto the surface along its gradient.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from .solids import RADIUS, Solid
from .surface import Points

_COARSEST = 32
"""Cells along every axis of the first grid."""
_MOVES = 4
"""Newton steps that bring a vertex onto the surface."""
_DIAGONAL = float(np.sqrt(3))

Cells = Int[np.ndarray, "n 3"]


def triangulate(
    solid: Solid, finest: float
) -> tuple[Points, Int[np.ndarray, "f 3"], Float[np.ndarray, "v 3"]]:
    """Vertices, triangles and vertex normals of a solid, cells no larger than `finest`."""
    cells, side = _crossed_cells(solid, finest)
    vertices, corner_inside = _vertices(solid, cells, side)
    faces = _faces(cells, corner_inside)
    used = np.zeros(len(vertices), bool)
    used[faces] = True
    vertices, faces = vertices[used], (np.cumsum(used) - 1)[faces]
    normals = solid.normals(vertices)
    sides = vertices[faces[:, 1:]] - vertices[faces[:, :1]]
    outward = (np.cross(sides[:, 0], sides[:, 1]) * normals[faces[:, 0]]).sum(axis=1)
    return vertices, np.where(outward[:, None] < 0, faces[:, ::-1], faces), normals


def _crossed_cells(solid: Solid, finest: float) -> tuple[Cells, float]:
    """Cells that the surface may cross: those near it, halved until they are small enough.

    The implicit function never overestimates the distance by more than its slope, which is at most
    about one, so a cell whose middle is further away than its corners holds none of the surface.
    """
    side = 2 * RADIUS / _COARSEST
    grid = np.arange(_COARSEST)
    cells = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    eight = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(-1, 3)
    while True:
        middle = (cells + 0.5) * side - RADIUS
        cells = cells[np.abs(solid.implicit(middle)) <= side * _DIAGONAL]
        if side <= finest:
            return cells, side
        cells = (2 * cells[:, None] + eight).reshape(-1, 3)
        side /= 2


def _vertices(solid: Solid, cells: Cells, side: float) -> tuple[Points, Bool[np.ndarray, "n 8"]]:
    """The middle of every cell moved onto the surface, and which of its corners are inside."""
    corners = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), -1).reshape(-1, 3)
    inside = np.stack(
        [solid.implicit((cells + corner) * side - RADIUS) <= 0 for corner in corners], axis=1
    )
    points = (cells + 0.5) * side - RADIUS
    for _ in range(_MOVES):
        step = 1e-5
        value = solid.implicit(points)
        gradient = np.stack(
            [(solid.implicit(points + step * axis) - value) / step for axis in np.eye(3)], axis=-1
        )
        square = np.maximum((gradient**2).sum(axis=1), 1e-6)
        move = -(value / square)[:, None] * gradient
        size = np.linalg.norm(move, axis=1, keepdims=True)
        points = points + move * np.minimum(1, side / np.maximum(size, 1e-12))
    return points, inside


def _faces(cells: Cells, inside: Bool[np.ndarray, "n 8"]) -> Int[np.ndarray, "f 3"]:
    """Two triangles for every edge that the surface crosses."""
    width = int(cells.max()) + 2
    key = (cells[:, 0] * width + cells[:, 1]) * width + cells[:, 2]
    order = np.argsort(key)
    steps = np.array([width * width, width, 1])
    found = []
    for axis in range(3):
        other = [a for a in range(3) if a != axis]
        # The edge from the cell's lowest corner along this axis: corner 0 to corner 4, 2 or 1.
        crossed = np.flatnonzero(inside[:, 0] != inside[:, (4, 2, 1)[axis]])
        around = []
        is_whole = np.ones(len(crossed), bool)
        for back in ((0, 0), (1, 0), (1, 1), (0, 1)):
            wanted = key[crossed] - back[0] * steps[other[0]] - back[1] * steps[other[1]]
            place = np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)
            number = order[place]
            is_whole &= key[number] == wanted
            around.append(number)
        a, b, c, d = (corner[is_whole] for corner in around)
        found += [np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]
    return np.concatenate(found)

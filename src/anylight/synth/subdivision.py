"""Loop subdivision of any triangle mesh: borders and crowded edges are creases.

(trimesh has one, but it throws vertices at open borders far away and refuses edges with more than
two faces; scans have both.)
"""

import numpy as np
from jaxtyping import Float, Int

Vertices = Float[np.ndarray, "v 3"]
Faces = Int[np.ndarray, "f 3"]


def subdivide(vertices: Vertices, faces: Faces) -> tuple[Vertices, Faces]:
    """Split every triangle in four by Loop's rules.

    Smooth edge: ⅜ of its ends, ⅛ of the two vertices opposite. Crease edge: its middle. Smooth
    vertex of valence k: (1 − kβ) of itself, β of each neighbour. Vertex on a crease: ¾ of itself,
    ⅛ of its two neighbours along the crease; where several creases meet it stays.
    """
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    opposite = np.concatenate([faces[:, 2], faces[:, 0], faces[:, 1]])
    low, high = np.sort(sides, axis=1).astype(np.int64).T
    keys, edge_of_side = np.unique(low * len(vertices) + high, return_inverse=True)
    edges = np.stack(np.divmod(keys, len(vertices)), axis=1)
    is_crease = np.bincount(edge_of_side) != 2

    ends = vertices[edges].sum(axis=1)
    across = _sum_at(edge_of_side, vertices[opposite], len(edges))
    middles = np.where(is_crease[:, None], ends / 2, ends * 3 / 8 + across / 8)

    moved = _move(vertices, edges, is_crease)
    a, b, c = faces.T
    ab, bc, ca = edge_of_side.reshape(3, -1) + len(vertices)
    quarters = np.stack([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]])
    return np.concatenate([moved, middles]), np.moveaxis(quarters, 2, 0).reshape(-1, 3)


def _move(vertices: Vertices, edges: Int[np.ndarray, "e 2"], is_crease: np.ndarray) -> Vertices:
    """New place of the old vertices."""
    size = len(vertices)
    valence = np.bincount(edges.ravel(), minlength=size)
    around = _sum_at(edges.ravel(), vertices[edges[:, ::-1]].reshape(-1, 3), size)
    k = np.maximum(valence, 1)
    beta = (5 / 8 - (3 / 8 + np.cos(2 * np.pi / k) / 4) ** 2) / k
    smooth = (1 - k * beta)[:, None] * vertices + beta[:, None] * around

    crease = edges[is_crease]
    creases = np.bincount(crease.ravel(), minlength=size)
    along = _sum_at(crease.ravel(), vertices[crease[:, ::-1]].reshape(-1, 3), size)
    on_crease = vertices * 3 / 4 + along / 8
    moved = np.where((creases == 2)[:, None], on_crease, vertices)
    return np.where(((creases == 0) & (valence > 0))[:, None], smooth, moved)


def _sum_at(index: np.ndarray, values: Vertices, size: int) -> Vertices:
    return np.stack([np.bincount(index, column, size) for column in values.T], axis=1)

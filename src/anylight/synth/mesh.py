"""Triangle meshes as surfaces: smoothed so that facets do not show, traced by Embree."""

from typing import Any

import numpy as np
import trimesh
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from anylight.errors import MissingExtraError

from .subdivision import subdivide
from .surface import Hits, Points

_MAX_FACES = 1_500_000


def unit_mesh(mesh: trimesh.Trimesh) -> tuple[trimesh.Trimesh, float]:
    """Scale a mesh to a bounding box of diagonal two; also the length of the new unit.

    Faces whose sides disagree about the outside are turned to agree.
    """
    unit = float(np.linalg.norm(mesh.extents)) / 2
    faces = consistent_faces(np.asarray(mesh.faces))
    return trimesh.Trimesh(np.asarray(mesh.vertices) / unit, faces, process=False), unit


def consistent_faces(faces: Int[np.ndarray, "f 3"]) -> Int[np.ndarray, "f 3"]:
    """Turn faces so that neighbours run along their common edge in opposite directions."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    owner = np.tile(np.arange(len(faces)), 3)
    key = np.sort(sides, axis=1)
    order = np.lexsort(key.T)
    edges = key[order]
    new = np.append(True, (edges[1:] != edges[:-1]).any(axis=1))
    first = np.flatnonzero(new)
    pairs = first[np.diff(np.append(first, len(edges))) == 2]
    a, b = order[pairs], order[pairs + 1]
    disagree = sides[a, 0] == sides[b, 0]
    if not disagree.any():
        return faces
    # Node f is face f as it is, node f + n the same face turned: faces that agree are linked as
    # they are, faces that do not crosswise. What one labelling reaches from a face is one side.
    n, f, g = len(faces), owner[a], owner[b]
    start = np.concatenate([f, f + n])
    end = np.concatenate([np.where(disagree, g + n, g), np.where(disagree, g, g + n)])
    graph = sparse.coo_matrix((np.ones(len(start)), (start, end)), (2 * n, 2 * n))
    _, label = connected_components(graph, directed=False)
    turned = label[:n] > label[n:]
    return np.where(turned[:, None], faces[:, ::-1], faces)


def smooth_mesh(mesh: trimesh.Trimesh, facet: float) -> trimesh.Trimesh:
    """Subdivide by Loop's rule until most edges are shorter than `facet`.

    Loop's limit surface has continuous normals, so neither its depth nor its interpolated normals
    show the triangles of the file.
    """
    vertices, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces)
    edge = float(np.median(mesh.edges_unique_length))
    while edge > facet and 4 * len(faces) < _MAX_FACES:
        vertices, faces = subdivide(vertices, faces)
        edge /= 2
    return trimesh.Trimesh(vertices, faces, process=False)


class MeshSurface:
    """A triangle mesh with interpolated vertex normals, brought to unit size."""

    def __init__(self, mesh: trimesh.Trimesh, unit: float = 1.0) -> None:
        self.unit = unit
        try:
            from trimesh.ray.ray_pyembree import RayMeshIntersector  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("rendering a mesh file", "synth") from error
        self._vertices: Float[np.ndarray, "v 3"] = np.asarray(mesh.vertices, float)
        self._faces: Int[np.ndarray, "f 3"] = np.asarray(mesh.faces)
        self._normals: Float[np.ndarray, "v 3"] = np.asarray(mesh.vertex_normals, float)
        self._embree: Any = RayMeshIntersector(mesh, scale_to_box=True)
        self._reach = float(np.linalg.norm(mesh.extents))

    def triangles(self) -> tuple[Points, Int[np.ndarray, "f 3"], Points]:
        """Vertices, triangles and vertex normals."""
        return self._vertices, self._faces, self._normals

    def samples(self) -> Points:
        """All vertices."""
        return self._vertices

    def trace(self, origins: Points, directions: Points) -> Hits:
        """First hits: the triangle by Embree (float32), the point on it in float64."""
        triangle = self._embree.intersects_first(origins, directions)
        hit = triangle >= 0
        corners = self._faces[triangle[hit]]
        a, b, c = (self._vertices[corners[:, k]] for k in range(3))
        d = directions[hit]
        across = np.cross(d, c - a)
        volume = ((b - a) * across).sum(axis=1)
        volume = np.where(np.abs(volume) < 1e-300, 1e-300, volume)
        offset = origins[hit] - a
        side = np.cross(offset, b - a)
        share_b = (offset * across).sum(axis=1) / volume
        share_c = (d * side).sum(axis=1) / volume
        distance = ((c - a) * side).sum(axis=1) / volume
        shares = np.clip(np.stack([1 - share_b - share_c, share_b, share_c], axis=1), 0, 1)
        normals = np.einsum("ns,nsa->na", shares, self._normals[corners])
        # Which side of a face is outside is what the ray sees of it, whatever the file says.
        seen = np.cross(b - a, c - a)
        seen *= -np.sign((seen * d).sum(axis=1, keepdims=True))
        normals *= np.where((normals * seen).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
        points_all = np.full_like(origins, np.nan)
        normals_all = np.full_like(origins, np.nan)
        points_all[hit] = origins[hit] + distance[:, None] * d
        normals_all[hit] = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        return Hits(points_all, normals_all)

    def is_blocked(
        self, points: Points, normals: Points, directions: Float[np.ndarray, "d 3"]
    ) -> Bool[np.ndarray, "n d"]:
        """Whether light from each direction is blocked on its way to each point."""
        lifted = points + 1e-4 * self._reach * normals
        blocked = np.zeros((len(points), len(directions)), bool)
        for index, direction in enumerate(directions):
            facing = np.flatnonzero(normals @ direction > 0)
            rays = np.broadcast_to(direction, (len(facing), 3))
            blocked[facing, index] = self._embree.intersects_any(lifted[facing], rays)
        return blocked

"""Triangle meshes as surfaces: smoothed so that facets do not show, traced by Embree."""

from typing import Any

import numpy as np
import trimesh
from jaxtyping import Bool, Float, Int

from anylight.errors import MissingExtraError

from .subdivision import subdivide
from .surface import Hits, Points

_MAX_FACES = 1_500_000


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
    """A triangle mesh with interpolated vertex normals."""

    def __init__(self, mesh: trimesh.Trimesh) -> None:
        try:
            from trimesh.ray.ray_pyembree import RayMeshIntersector  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("rendering a mesh file", "synth") from error
        self._vertices: Float[np.ndarray, "v 3"] = np.asarray(mesh.vertices, float)
        self._faces: Int[np.ndarray, "f 3"] = np.asarray(mesh.faces)
        self._normals: Float[np.ndarray, "v 3"] = np.asarray(mesh.vertex_normals, float)
        self._embree: Any = RayMeshIntersector(mesh, scale_to_box=True)
        self._reach = float(np.linalg.norm(mesh.extents))

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

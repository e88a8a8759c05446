"""Facets with forward differences, as the published codes have them: only to measure the harm."""

import numpy as np

from anylight.facets.grid import Heights
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import facets
from anylight.linalg.memory import Room
from anylight.linalg.multigrid import Stencil


class ForwardLevel(PyramidLevel):
    """Slopes from the upper left corner to its right and lower neighbours.

    They belong to that corner, half a pixel away from where the camera took the image value.
    """

    def slopes(self, surface: Heights) -> np.ndarray:
        """Slopes of every facet."""
        flat, width = surface.ravel(), surface.shape[1]
        corner = flat[self.here]
        p, q = flat[self.here + 1] - corner, flat[self.here + width] - corner
        return np.stack([p, q]).astype(np.float32)

    def scatter_into(self, gp: np.ndarray, gq: np.ndarray, out: Heights) -> Heights:
        """Adjoint of the slopes, written over `out`."""
        shape, num = self.grid.shape, self.grid.shape[0] * self.grid.shape[1]
        total = np.bincount(self.here + 1, gp, num) + np.bincount(self.here + shape[1], gq, num)
        total -= np.bincount(self.here, gp + gq, num)
        out[:] = total.reshape(shape)
        return out

    def assemble(
        self,
        blocks: np.ndarray,
        edge: np.ndarray,
        dtype: type = np.float64,
        room: Room | None = None,
    ) -> Stencil:
        """Stencil of a quadratic form of the slopes."""
        del room
        nothing = np.zeros((3, self.size))
        held = facets.assemble(nothing, edge, self.here, self.rows, self.grid.shape)
        uu, uv, vv = (block.astype(float) for block in blocks)
        centre, right, down, _, left = (part.ravel() for part in held)
        here, width = self.here, self.grid.shape[1]
        for place, part, value in (
            (here, centre, uu + 2 * uv + vv),
            (here + 1, centre, uu),
            (here + width, centre, vv),
            (here, right, -uu - uv),
            (here, down, -uv - vv),
            (here + 1, left, uv),
        ):
            np.add.at(part, place, value)
        return held.astype(dtype)

    @staticmethod
    def corner_slopes(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slopes of facets whose corners are given."""
        return corners[1] - corners[0], corners[2] - corners[0]

"""Where heights live: at the corners of pixels, so that every pixel has one tilted facet.

The slopes of a facet belong to its pixel's centre, where the camera took the image value. A surface
is an array of heights (log-depth; depth under parallel rays) on the padded grid of corners.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from anylight.arrays import Mask
from anylight.geometry.camera import Camera
from anylight.geometry.domain import Domain
from anylight.kernels import facets, weighing
from anylight.linalg import memory
from anylight.linalg.grid import Grid
from anylight.linalg.multigrid import Stencil

EVERY = slice(None)
"""All pixels."""
Heights = Float[np.ndarray, "_ _"]
"""Log-depth (orthographic: depth) at the corners of the pixels, on their padded grid."""


@dataclass(frozen=True, eq=False)
class FacetGrid:
    """The masked pixels as facets."""

    mask: Mask
    camera: Camera

    @cached_property
    def domain(self) -> Domain:
        """The pixels."""
        return Domain(self.mask)

    @property
    def size(self) -> int:
        """Number of pixels P."""
        return self.domain.size

    @cached_property
    def grid(self) -> Grid:
        """The corners of the pixels."""
        height, width = self.mask.shape
        corners = np.zeros((height + 1, width + 1), bool)
        for row in (0, 1):
            for column in (0, 1):
                corners[row : row + height, column : column + width] |= self.mask
        return Grid(corners)

    @cached_property
    def here(self) -> Int[np.ndarray, " P"]:
        """Flat place of every pixel's upper left corner."""
        columns, rows = self.domain.pixels.T
        top, left, width = int(rows[0]), int(columns.min()), self.grid.shape[1]
        return (rows - (top - 1)) * np.int32(width) + (columns - (left - 1))

    @cached_property
    def rows(self) -> Int[np.ndarray, " n"]:
        """Where rows of corners begin among the pixels (see `facets.rows_of`)."""
        return facets.rows_of(self.here, self.grid.shape)

    @cached_property
    def view(self) -> Float[np.ndarray, "3 P"]:
        """Unit direction of every pixel's ray."""
        rays = self.camera.rays(*self.domain.pixels.T)
        rays /= np.linalg.norm(rays, axis=1, keepdims=True)
        return np.ascontiguousarray(rays.T, np.float32)

    def slopes(self, surface: Heights) -> Float[np.ndarray, "2 P"]:
        """Slopes p and q of every facet."""
        return facets.slopes(surface, self.here)

    def scatter(
        self, gp: Float[np.ndarray, " P"], gq: Float[np.ndarray, " P"], dtype: type = np.float64
    ) -> Heights:
        """Adjoint of the slopes."""
        return self.scatter_into(gp, gq, np.empty(self.grid.shape, dtype))

    def scatter_into(
        self, gp: Float[np.ndarray, " P"], gq: Float[np.ndarray, " P"], out: Heights
    ) -> Heights:
        """Adjoint of the slopes, written over `out`."""
        return facets.scatter(gp, gq, self.here, self.rows, out)

    def assemble(
        self,
        blocks: Float[np.ndarray, "3 P"],
        edge: Float[np.ndarray, " P"],
        dtype: type = np.float64,
        room: memory.Room | None = None,
    ) -> Stencil:
        """Stencil of a quadratic form of the slopes (see `facets.assemble`)."""
        return facets.assemble(blocks, edge, self.here, self.rows, self.grid.shape, dtype, room)

    @staticmethod
    def corner_slopes(
        corners: Float[np.ndarray, "4 m n"],
    ) -> tuple[Float[np.ndarray, "m n"], Float[np.ndarray, "m n"]]:
        """Slopes of facets whose corners (upper left, upper right, lower left, ...) are given."""
        a, b, c, d = corners
        return 0.5 * (b - a + d - c), 0.5 * (c - a + d - b)

    def normals(
        self, p: Float[np.ndarray, " P"], q: Float[np.ndarray, " P"]
    ) -> tuple[Float[np.ndarray, "3 P"], Float[np.ndarray, " P"]]:
        """Unit normals of slopes, and the lengths |ñ|."""
        return facets.normals(p, q, self.camera.numbers, self.domain.pixels)

    def turns(
        self,
        unit: Float[np.ndarray, "3 n"],
        length: Float[np.ndarray, " n"],
        part: slice | Int[np.ndarray, " n"] = EVERY,
    ) -> tuple[Float[np.ndarray, "3 n"], Float[np.ndarray, "3 n"]]:
        """Derivatives of the normals by the slopes; of some pixels or all."""
        return facets.turns(unit, length, self.camera.numbers, self.domain.pixels[part])

    def metric(
        self, unit: Float[np.ndarray, "3 P"], length: Float[np.ndarray, " P"]
    ) -> Float[np.ndarray, "3 P"]:
        """Squared turn of the normal by p, the product of both turns, and by q."""
        return weighing.metric(unit, length, self.camera.numbers, self.domain.pixels)

    def centred(self, surface: Heights) -> Heights:
        """Take the mean off: it is free."""
        return self.moved(surface)

    def moved(self, surface: Heights, change: Heights | None = None) -> Heights:
        """The surface with a change, if any, and its mean taken off."""
        result = memory.copied(surface)
        if change is not None:
            memory.add(change, result)
        facets.lower(result, self.grid.inside, len(self.grid.places))
        return result

    def at_pixels(self, surface: Heights) -> Float[np.ndarray, " P"]:
        """Mean of the four corners: free of the checkerboard, which no slope sees."""
        flat, width = surface.ravel(), self.grid.shape[1]
        here = self.here
        return (flat[here] + flat[here + 1] + flat[here + width] + flat[here + width + 1]) / 4

    def over_pixels(self, height: Float[np.ndarray, " P"]) -> Heights:
        """A surface from heights of the pixels: corners are the mean of those that meet there."""
        total, count = np.zeros((2, self.grid.shape[0] * self.grid.shape[1]))
        width = self.grid.shape[1]
        for step in (0, 1, width, width + 1):
            total += np.bincount(self.here + step, height, len(total))
            count += np.bincount(self.here + step, minlength=len(total))
        return self.centred((total / np.maximum(count, 1)).reshape(self.grid.shape))

    def from_pixels(self, values: Float[np.ndarray, " P"]) -> Heights:
        """Adjoint of `at_pixels`."""
        shape = self.grid.shape
        total = np.zeros(shape[0] * shape[1])
        for step in (0, 1, shape[1], shape[1] + 1):
            total += np.bincount(self.here + step, values / 4, len(total))
        return total.reshape(shape)

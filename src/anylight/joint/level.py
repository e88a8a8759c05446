"""A resolution of the problem: facets over the mask, and what the photos say about each."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from anylight.arrays import Mask
from anylight.geometry.camera import Camera, Orthographic, Perspective
from anylight.geometry.domain import Domain
from anylight.kernels import facets
from anylight.linalg.grid import Grid
from anylight.linalg.multigrid import Stencil

EVERY = slice(None)
"""All pixels."""
CameraNumbers = tuple[float, float, float, float]
Surface = Float[np.ndarray, "_ _"]
"""Log-depth (orthographic: depth) at the corners of the pixels, on their padded grid."""


@dataclass(frozen=True, eq=False)
class Level:
    """The masked pixels at one resolution."""

    mask: Mask
    camera: Camera
    photos: Float[np.ndarray, "P CR"]
    """Eigen-photos of every pixel, channel by channel."""
    num_channels: int
    cover: Float[np.ndarray, " P"]
    """How much a pixel counts: the share of it that is object, and of its samples that are good."""
    known: Float[np.ndarray, " P"] | None = None
    """Heights known from elsewhere, up to a constant."""
    known_weight: Float[np.ndarray, " P"] | None = None
    """How much each counts; zero where nothing is known."""
    known_strength: float = 0.05
    """What one standard deviation from them costs, as a share of the data's energy."""

    def reweighed(self, cover: Float[np.ndarray, " P"]) -> "Level":
        """The same level where pixels count differently."""
        other = replace(self, cover=cover)
        for name in ("domain", "grid", "here", "view"):
            vars(other)[name] = getattr(self, name)
        return other

    @cached_property
    def domain(self) -> Domain:
        """The pixels."""
        return Domain(self.mask)

    @property
    def size(self) -> int:
        """Number of pixels P."""
        return len(self.photos)

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
        rows, columns = np.nonzero(self.mask)
        top, left = rows.min(), columns.min()
        return ((rows - top + 1) * self.grid.shape[1] + columns - left + 1).astype(np.int64)

    @cached_property
    def camera_numbers(self) -> CameraNumbers:
        """(f_u, f_v, u_0, v_0); f = 0 stands for parallel rays."""
        focal = self.camera.focal_px if isinstance(self.camera, Perspective) else (0.0, 0.0)
        return (*focal, *self.camera.centre_px)

    @cached_property
    def view(self) -> Float[np.ndarray, "3 P"]:
        """Unit direction of every pixel's ray."""
        rays = self.camera.rays(*self.domain.pixels.T)
        rays /= np.linalg.norm(rays, axis=1, keepdims=True)
        return np.ascontiguousarray(rays.T, np.float32)

    def slopes(self, surface: Surface) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
        """Slopes of every facet."""
        return facets.slopes(surface, self.here)

    def scatter(
        self, gp: Float[np.ndarray, " P"], gq: Float[np.ndarray, " P"], dtype: type = np.float64
    ) -> Surface:
        """Adjoint of the slopes."""
        return facets.scatter(gp, gq, self.here, self.grid.shape, dtype)

    def assemble(
        self,
        blocks: Float[np.ndarray, "3 P"],
        edge: Float[np.ndarray, " P"],
        dtype: type = np.float64,
    ) -> Stencil:
        """Stencil of a quadratic form of the slopes (see `facets.assemble`)."""
        return facets.assemble(blocks, edge, self.here, self.grid.shape, dtype)

    @staticmethod
    def corner_slopes(
        corners: Float[np.ndarray, "4 m n"],
    ) -> tuple[Float[np.ndarray, "m n"], Float[np.ndarray, "m n"]]:
        """Slopes of facets whose corners (upper left, upper right, lower left, ...) are given."""
        a, b, c, d = corners
        return 0.5 * (b - a + d - c), 0.5 * (c - a + d - b)

    def normals(
        self,
        p: Float[np.ndarray, " n"],
        q: Float[np.ndarray, " n"],
        part: slice | Int[np.ndarray, " n"] = EVERY,
    ) -> tuple[Float[np.ndarray, "3 n"], Float[np.ndarray, " n"]]:
        """Unit normals of slopes, and the lengths |ñ|; of some pixels or all."""
        return facets.normals(p, q, self.camera_numbers, self.domain.pixels[part])

    def turns(
        self,
        unit: Float[np.ndarray, "3 n"],
        length: Float[np.ndarray, " n"],
        part: slice | Int[np.ndarray, " n"] = EVERY,
    ) -> tuple[Float[np.ndarray, "3 n"], Float[np.ndarray, "3 n"]]:
        """Derivatives of the normals by the slopes; of some pixels or all."""
        return facets.turns(unit, length, self.camera_numbers, self.domain.pixels[part])

    def metric(
        self, unit: Float[np.ndarray, "3 P"], length: Float[np.ndarray, " P"]
    ) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
        """Squared turn of the normal by p, the product of both turns, and by q."""
        along_p, along_q = self.turns(unit, length)
        pp, pq, qq = (
            np.einsum("ap,ap->p", a, b)
            for a, b in ((along_p, along_p), (along_p, along_q), (along_q, along_q))
        )
        return pp, pq, qq

    def centred(self, surface: Surface) -> Surface:
        """Take the mean off: it is free."""
        result = surface.copy()
        inside: Bool[np.ndarray, "h w"] = self.grid.inside
        result[inside] -= result[inside].mean()
        return result

    def at_pixels(self, surface: Surface) -> Float[np.ndarray, " P"]:
        """Mean of the four corners: free of the checkerboard, which no slope sees."""
        flat, width = surface.ravel(), self.grid.shape[1]
        here = self.here
        return (flat[here] + flat[here + 1] + flat[here + width] + flat[here + width + 1]) / 4

    def from_pixels(self, values: Float[np.ndarray, " P"]) -> Surface:
        """Adjoint of `at_pixels`."""
        shape = self.grid.shape
        total = np.zeros(shape[0] * shape[1])
        for step in (0, 1, shape[1], shape[1] + 1):
            total += np.bincount(self.here + step, values / 4, len(total))
        return total.reshape(shape)


def _halved_known(
    level: Level, own: Int[np.ndarray, " P"]
) -> tuple[Float[np.ndarray, " B"] | None, Float[np.ndarray, " B"] | None]:
    """Known heights of blocks of pixels; parallel rays measure them in pixels."""
    if level.known is None or level.known_weight is None:
        return None, None
    weight = np.bincount(own, level.known_weight)
    height = np.bincount(own, np.where(level.known_weight > 0, level.known, 0) * level.known_weight)
    scale = 0.5 if isinstance(level.camera, Orthographic) else 1.0
    return scale * height / np.maximum(weight, 1e-12), weight / 4


def block_of(mask: Mask) -> tuple[Int[np.ndarray, " B"], Int[np.ndarray, " P"]]:
    """Flat places of the blocks of two by two that hold pixels, and the number of each pixel's."""
    rows, columns = np.nonzero(mask)
    places, own = np.unique(
        (rows // 2) * ((mask.shape[1] + 1) // 2) + columns // 2, return_inverse=True
    )
    return places, own


def halve(level: Level) -> Level:
    """Average blocks of two by two pixels."""
    height, width = ((n + 1) // 2 for n in level.mask.shape)
    present, own = block_of(level.mask)
    cover = np.bincount(own, level.cover)
    photos = np.empty((len(present), level.photos.shape[1]), np.float32)
    for k in range(photos.shape[1]):
        photos[:, k] = np.bincount(own, level.photos[:, k] * level.cover) / cover
    mask = np.zeros(height * width, bool)
    mask[present] = True
    known, known_weight = _halved_known(level, own)
    return replace(
        level,
        known=known,
        known_weight=known_weight,
        mask=mask.reshape(height, width),
        camera=_halved(level.camera),
        photos=photos,
        cover=(cover / 4).astype(np.float32),
    )


def _halved(camera: Camera) -> Camera:
    u, v = ((c + 0.5) / 2 - 0.5 for c in camera.centre_px)
    if isinstance(camera, Orthographic):
        return replace(camera, centre_px=(u, v))
    fu, fv = (f / 2 for f in camera.focal_px)
    return replace(camera, focal_px=(fu, fv), centre_px=(u, v))


def refine(coarse: Level, fine: Level, surface: Surface) -> Surface:
    """Interpolate a surface: corner (i, j) of the coarse pixels is corner (2i, 2j) of the fine."""
    image = np.zeros((coarse.mask.shape[0] + 1, coarse.mask.shape[1] + 1))
    known = np.zeros_like(image)
    top, left = _first(coarse.mask)
    height, width = (n - 2 for n in coarse.grid.shape)
    box = (slice(top, top + height), slice(left, left + width))
    known[box] = coarse.grid.inside[1:-1, 1:-1]
    image[box] = surface[1:-1, 1:-1] * known[box]
    rows, columns = np.nonzero(fine.grid.inside)
    top, left = _first(fine.mask)
    i, j = rows - 1 + top, columns - 1 + left
    total, count = np.zeros(len(i)), np.zeros(len(i))
    for a in (i // 2, (i + 1) // 2):
        for b in (j // 2, (j + 1) // 2):
            total += image[a, b]
            count += known[a, b]
    result = np.zeros(fine.grid.shape)
    scale = 2.0 if isinstance(fine.camera, Orthographic) else 1.0
    result[rows, columns] = scale * total / np.maximum(count, 1)
    return fine.centred(result)


def _first(mask: Mask) -> tuple[int, int]:
    return int(np.flatnonzero(mask.any(axis=1))[0]), int(np.flatnonzero(mask.any(axis=0))[0])

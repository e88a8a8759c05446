"""What the photos say at a resolution."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from anylight.facets.grid import FacetGrid, Heights
from anylight.facets.resolution import block_of
from anylight.geometry.camera import Perspective
from anylight.kernels.monomials import place_fields
from anylight.photometry.near import relative_places
from anylight.threads import in_parallel

from .packed import PackedPhotos, pack


@dataclass(frozen=True, eq=False)
class PyramidLevel(FacetGrid):
    """The photos of the facets at one resolution."""

    photos: PackedPhotos
    """Eigen-photos of every pixel, channel by channel."""
    num_channels: int
    cover: Float[np.ndarray, " P"]
    """How much a pixel counts: the share of it that is object, and of its samples that are good."""
    closeness: float = 0.0
    """Of the lamps (see `photometry.near`)."""

    def fields(self, surface: Heights) -> Float[np.ndarray, "F P"] | None:
        """What light may change with from pixel to pixel; None under far lamps."""
        if not self.closeness:
            return None
        height = self.at_pixels(surface).astype(float)
        if isinstance(self.camera, Perspective):
            height = np.exp(height - height.mean())
        u, v = self.domain.pixels.T
        return place_fields(relative_places(self.camera.points(u, v, height)))

    def reweighed(self, cover: Float[np.ndarray, " P"]) -> "PyramidLevel":
        """The same level where pixels count differently."""
        other = replace(self, cover=cover)
        for name in ("domain", "grid", "here", "rows"):
            vars(other)[name] = getattr(self, name)
        return other


def _means(level: PyramidLevel, own: Int[np.ndarray, " P"], num: int) -> Float[np.ndarray, "B CR"]:
    """Mean photos of blocks, from the number of every pixel's block, as pixels count."""
    # A pixel for every row, in its block's column; other way round, rows sum up blocks.
    begins = np.arange(len(own) + 1)
    share = level.cover.astype(np.float32)
    total = np.asarray(csr_array((share, own, begins), (len(own), num)).sum(axis=0))
    sums = csr_array((share * level.photos.scale, own, begins), (len(own), num)).T
    numbers, means = level.photos.numbers, np.empty((num, level.photos.num_columns), np.float32)
    each = numbers.shape[1] // level.num_channels

    def average(channel: int) -> None:
        columns = slice(channel * each, (channel + 1) * each)
        means[:, columns] = sums @ numbers[:, columns].astype(np.float32)
        means[:, columns] /= total[:, None]

    in_parallel(average, range(level.num_channels))
    return means


def halve(level: PyramidLevel) -> PyramidLevel:
    """Average blocks of two by two pixels."""
    present, own = block_of(level.mask)
    mask = np.zeros([(n + 1) // 2 for n in level.mask.shape], bool)
    mask.ravel()[present] = True
    return replace(
        level,
        mask=mask,
        camera=level.camera.resized(0.5),
        photos=pack(_means(level, own, len(present))),
        cover=(np.bincount(own, level.cover) / 4).astype(np.float32),
    )

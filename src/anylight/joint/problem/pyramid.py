"""What the photos say at a resolution."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array

from anylight.facets.grid import FacetGrid, Heights
from anylight.facets.resolution import block_of
from anylight.geometry.camera import Perspective
from anylight.kernels.monomials import place_fields
from anylight.photometry.near import relative_places


@dataclass(frozen=True, eq=False)
class PyramidLevel(FacetGrid):
    """The photos of the facets at one resolution."""

    photos: Float[np.ndarray, "P CR"]
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
        for name in ("domain", "grid", "here", "rows", "view"):
            vars(other)[name] = getattr(self, name)
        return other


def halve(level: PyramidLevel) -> PyramidLevel:
    """Average blocks of two by two pixels."""
    height, width = ((n + 1) // 2 for n in level.mask.shape)
    present, own = block_of(level.mask)
    # A pixel for every row, in its block's column; other way round, rows sum up blocks.
    shares = csr_array(
        (level.cover.astype(np.float32), own, np.arange(len(own) + 1)), (len(own), len(present))
    )
    cover = np.bincount(own, level.cover)
    photos = shares.T @ level.photos
    photos /= cover[:, None].astype(np.float32)
    mask = np.zeros(height * width, bool)
    mask[present] = True
    return replace(
        level,
        mask=mask.reshape(height, width),
        camera=level.camera.resized(0.5),
        photos=photos,
        cover=(cover / 4).astype(np.float32),
    )

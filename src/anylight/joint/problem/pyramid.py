"""What the photos say at a resolution."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import FacetGrid, Heights
from anylight.facets.resolution import children_of
from anylight.geometry.camera import Perspective
from anylight.kernels import packing
from anylight.kernels.monomials import place_fields
from anylight.photometry.near import relative_places

from .packed import PackedPhotos


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


def halve(level: PyramidLevel) -> PyramidLevel:
    """Average blocks of two by two pixels, as these count."""
    mask, children = children_of(level.domain)
    photos, num = level.photos, len(children)
    means = PackedPhotos(np.empty((num, photos.num_columns), np.int16), np.empty(num, np.float32))
    cover = np.empty(num, np.float32)
    packing.average(
        children, photos.numbers, photos.scale, level.cover.astype(np.float32), means.numbers,
        means.scale, cover,
    )  # fmt: skip
    return replace(level, mask=mask, camera=level.camera.resized(0.5), photos=means, cover=cover)

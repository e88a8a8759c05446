"""The part of the photos that holds the object, thinned out to what a page can show."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from anylight.arrays import Mask
from anylight.geometry.camera import Camera
from anylight.model.reconstruction import Reconstruction

_MARGIN = 4


@dataclass(frozen=True)
class Window:
    """Rows and columns of the photos' grid, every `stride`-th of them."""

    top: int
    left: int
    height: int
    width: int
    stride: int = 1

    def thin(self, image: Shaped[np.ndarray, "H W *c"]) -> Shaped[np.ndarray, "h w *c"]:
        """Take the window's pixels of an image."""
        rows = slice(self.top, self.top + self.height, self.stride)
        columns = slice(self.left, self.left + self.width, self.stride)
        return image[rows, columns]

    def places(
        self, thin: Bool[np.ndarray, "h w"]
    ) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
        """Rows and columns in the photos of some of the window's pixels."""
        rows, columns = np.nonzero(thin)
        return self.top + self.stride * rows, self.left + self.stride * columns

    def camera(self, camera: Camera) -> Camera:
        """The camera that sees the window's pixels as a whole photo."""
        middle = (self.stride - 1) / 2  # every stride-th pixel is kept, not the mean of a block
        return camera.cropped(self.left - middle, self.top - middle).resized(1 / self.stride)


def object_window(mask: Mask, longest: int | None = None) -> Window:
    """The object with a small margin, so thinned that no side is longer than a length."""
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    top, left = max(int(rows[0]) - _MARGIN, 0), max(int(columns[0]) - _MARGIN, 0)
    bottom = min(int(rows[-1]) + _MARGIN + 1, mask.shape[0])
    right = min(int(columns[-1]) + _MARGIN + 1, mask.shape[1])
    height, width = bottom - top, right - left
    stride = 1 if longest is None else -(-max(height, width) // longest)
    return Window(top, left, height, width, stride)


def thinned(scene: Reconstruction, window: Window) -> Reconstruction:
    """A scene inside a window; what is not finite on the object gets a harmless value."""
    mask = window.thin(scene.mask)
    depth = None if scene.depth is None else window.thin(scene.depth)
    if depth is not None and not np.isfinite(depth[mask]).any():
        depth = None
    return Reconstruction(
        mask=mask,
        camera=None if scene.camera is None else window.camera(scene.camera),
        depth=None if depth is None else _finite(depth, mask, float(np.nanmax(depth[mask]))),
        normals=None
        if scene.normals is None
        else _finite(window.thin(scene.normals), mask, np.array([0.0, 0.0, -1.0])),
        albedo=None if scene.albedo is None else _finite(window.thin(scene.albedo), mask, 0.0),
        lighting=scene.lighting,
        confidence=None
        if scene.confidence is None
        else _finite(window.thin(scene.confidence), mask, 0.0),
        openness=None
        if scene.openness is None
        else _finite(window.thin(scene.openness), mask, 0.0),
    )


def reduced(
    image: Float[np.ndarray, "H W C"], mask: Mask, factor: int
) -> tuple[Float[np.ndarray, "h w C"], Shaped[np.ndarray, "h w"]]:
    """Means of the masked pixels of blocks, and which blocks have any; zero elsewhere."""
    if factor == 1:
        return np.where(mask[..., None], image, 0), mask
    height, width = (-(-side // factor) for side in mask.shape)
    sums, held = np.zeros((height, width, image.shape[2])), np.zeros((height, width), int)
    for row in range(height):
        lines = slice(row * factor, (row + 1) * factor)
        line = np.where(mask[lines, :, None], image[lines], 0).sum(axis=0, dtype=float)
        count = mask[lines].sum(axis=0)
        for column in range(factor):
            part = line[column::factor]
            sums[row, : len(part)] += part
            held[row, : len(part)] += count[column::factor]
    return sums / np.maximum(held, 1)[..., None], held > 0


def _finite(
    image: Float[np.ndarray, "h w *c"], mask: Mask, fill: float | Float[np.ndarray, " 3"]
) -> Float[np.ndarray, "h w *c"]:
    bad = ~np.isfinite(image)
    if image.ndim == 3:
        bad = bad.any(axis=2)
    bad &= mask
    if not bad.any():
        return image
    image = np.array(image)
    image[bad] = fill
    return image

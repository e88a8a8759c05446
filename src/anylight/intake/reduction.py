"""Fewer pixels: blocks averaged, everything cut to the object; the camera follows."""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Shaped

from anylight.arrays import DepthMap, Mask
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera
from anylight.model.capture import Capture

_MARGIN = 2
"""Pixels kept around the object when everything is cut to it."""


def reduced(photos: Shaped[np.ndarray, "M H W C"], factor: int) -> Shaped[np.ndarray, "M h w C"]:
    """Average blocks; 8 bit become 16 bit, and a block with a saturated sample stays saturated."""
    height, width = photos.shape[1] // factor, photos.shape[2] // factor
    if not height or not width:
        raise InvalidInputError(f"--downscale {factor}: the photos are smaller than that.")
    kind = np.float32 if photos.dtype == np.float32 else np.uint16
    small = np.empty((len(photos), height, width, photos.shape[3]), kind)
    for photo, out in zip(photos, small, strict=True):
        blocks = photo[: height * factor, : width * factor].reshape(
            height, factor, width, factor, -1
        )
        mean = blocks.mean(axis=(1, 3), dtype=np.float32)
        if kind == np.float32:
            out[:] = mean
            continue
        top = np.iinfo(photos.dtype).max
        values = np.round(mean * (65535 / top))
        out[:] = np.where((blocks == top).any(axis=(1, 3)), 65535, np.minimum(values, 65534))
    return small


def reduced_mask(mask: Mask, factor: int) -> Bool[np.ndarray, "h w"]:
    """Blocks that are mostly object."""
    height, width = (side // factor for side in mask.shape)
    blocks = mask[: height * factor, : width * factor].reshape(height, factor, width, factor)
    small: Bool[np.ndarray, "h w"] = blocks.mean(axis=(1, 3)) > 0.5
    if not small.any():
        raise InvalidInputError(f"--downscale {factor}: nothing of the mask is left.")
    return small


def reduced_depth(depth: DepthMap, factor: int) -> Float[np.ndarray, "h w"]:
    """Median of the known pixels of every block; a mean would invent surfaces between two."""
    height, width = (side // factor for side in depth.shape)
    blocks = depth[: height * factor, : width * factor].reshape(height, factor, width, factor)
    values = blocks.transpose(0, 2, 1, 3).reshape(height, width, -1)
    values = np.sort(np.where(values > 0, values, np.nan), axis=2)
    middle = np.maximum(np.isfinite(values).sum(axis=2) - 1, 0) // 2
    found: Float[np.ndarray, "h w"] = np.take_along_axis(values, middle[..., None], 2)[..., 0]
    return found


def reduced_camera(camera: Camera, factor: int) -> Camera:
    """The camera of photos whose blocks were averaged."""
    return camera.resized(1 / factor)


def cropped(capture: Capture) -> tuple[Capture, tuple[int, int]]:
    """Cut a capture to its mask, the camera with it; also the column and row of the corner."""
    rows, columns = np.flatnonzero(capture.mask.any(1)), np.flatnonzero(capture.mask.any(0))
    top, left = max(rows[0] - _MARGIN, 0), max(columns[0] - _MARGIN, 0)
    cut = np.s_[top : rows[-1] + _MARGIN + 1, left : columns[-1] + _MARGIN + 1]
    return (
        replace(
            capture,
            photos=np.ascontiguousarray(capture.photos[:, *cut]),
            mask=np.ascontiguousarray(capture.mask[cut]),
            depth=None if capture.depth is None else capture.depth[cut],
            camera=capture.camera.cropped(float(left), float(top)),
        ),
        (int(left), int(top)),
    )

"""The balloon under the slider: small, so that it follows the hand."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy import ndimage

from anylight.arrays import Mask
from anylight.geometry.camera import Camera, Orthographic
from anylight.geometry.domain import Domain
from anylight.geometry.normals import depth_normals
from anylight.initial.balloon import inflate
from anylight.initial.options import BalloonOptions
from anylight.initial.start import USUAL_VOLUME, balloon_start
from anylight.report.relief import Relief, relief
from anylight.report.textures import spread
from anylight.report.window import Window, object_window

from .packing import packed

_SIDE = 96
"""Longest side of the silhouette that is inflated while the hand moves. [pixels]"""
_SHOWN = 200
"""Longest side of the silhouette that is shown: the same balloon with a finer rim. [pixels]"""
_MORE_THAN_ANY = 1.0
STEPS = 32
"""Volumes between none and the largest that are inflated, each once; those between two of them are
interpolated, which differs from inflating them by less than a hundredth of the thickness."""


@dataclass(frozen=True, eq=False)
class Silhouette:
    """A small silhouette that can be inflated quickly."""

    mask: Mask
    """What is inflated."""
    camera: Camera
    largest: float
    """The largest volume that a smooth balloon over it holds."""
    shown: Mask
    """The same at a finer resolution."""
    shown_camera: Camera
    places: Float[np.ndarray, "2 h w"]
    """Row and column among the inflated pixels of every pixel that is shown."""
    flat: Relief
    """Which vertices and triangles are shown."""
    known: dict[int, Float[np.ndarray, "h w"]] = field(default_factory=dict)
    """Depth of the shown pixels by step of the slider."""

    def depth(self, volume: float | None) -> Float[np.ndarray, "h w"]:
        """Depth of the balloon of a volume; None: the usual volume."""
        wanted = USUAL_VOLUME if volume is None else volume
        place = min(max(wanted / self.largest, 0.0), 1.0) * STEPS
        low = min(int(place), STEPS - 1)
        share = np.float32(place - low)
        return (1 - share) * self.inflated(low) + share * self.inflated(low + 1)

    def inflated(self, step: int) -> Float[np.ndarray, "h w"]:
        """Depth of the balloon of a step, from none at 0 to the largest at `STEPS`."""
        if step not in self.known:
            domain = Domain(self.mask)
            options = BalloonOptions(volume=self.largest * step / STEPS)
            small = domain.scatter(balloon_start(self.camera, domain, options).depth)
            self.known[step] = self._finer(small)
        return self.known[step]

    def _finer(self, depth: Float[np.ndarray, "H W"]) -> Float[np.ndarray, "h w"]:
        """Interpolate; beyond the rim of the inflated pixels the nearest of them goes on."""
        rows, columns = ndimage.distance_transform_edt(
            ~self.mask, return_distances=False, return_indices=True
        )
        scale = 1.0
        if isinstance(self.camera, Orthographic):  # depth is in pixels there
            scale = self.shown.shape[0] / self.mask.shape[0]
        fine = ndimage.map_coordinates(depth[rows, columns], self.places, order=1, mode="nearest")
        return np.where(self.shown, scale * fine, np.nan).astype(np.float32)

    def balloon(self, volume: float | None, number: int) -> bytes:
        """The balloon of a volume as the viewer takes it; the number says which question it was."""
        depth, camera = self.depth(volume).astype(float), self.shown_camera
        columns, rows = self.flat.pixels.astype(int).T
        points = camera.points(columns.astype(float), rows.astype(float), depth[rows, columns])
        upright = points * [1.0, -1.0, -1.0]
        origin = upright.min(axis=0)
        size = np.maximum(upright.max(axis=0) - origin, 1e-9)
        normals = depth_normals(camera, depth, self.shown) * [1.0, -1.0, -1.0]
        coded = np.round((np.nan_to_num(normals) + 1) * 127.5).astype(np.uint8)
        height, width = self.shown.shape
        header = {
            "kind": "balloon",
            "number": number,
            "grid": list(self.flat.cells.shape),
            "size": size.tolist(),
            "origin": [0, 0],
            "window": [width, height],
            "span": [width, height],
        }
        arrays = {
            "cells": self.flat.cells,
            "positions": np.round((upright - origin) / size * 65535).astype(np.uint16),
            "pixels": self.flat.pixels,
            "bumps": spread(coded, self.shown),
        }
        return packed(header, arrays)


def silhouette(mask: Mask, camera: Camera) -> Silhouette | None:
    """Reduce a mask to what is inflated while the hand moves; None where it is too thin."""
    window = object_window(mask)
    inside = window.thin(mask)
    seen = camera.cropped(window.left, window.top)
    small, factor = _reduced(inside, _SIDE)
    shown, finer = _reduced(inside, _SHOWN)
    height, width = shown.shape
    fine_camera = seen.resized(1 / finer)
    plane = np.where(shown, 0.0 if isinstance(seen, Orthographic) else 1.0, np.nan)
    facing = np.broadcast_to([0.0, 0.0, -1.0], (height, width, 3))
    flat = relief(fine_camera, plane, facing, Window(0, 0, height, width), shown.size)
    if flat is None:
        return None
    places = (np.mgrid[:height, :width] + 0.5) * (finer / factor) - 0.5
    full = inflate(Domain(small), _MORE_THAN_ANY)
    largest = max(float(full.volume.max()), 1e-3)
    return Silhouette(small, seen.resized(1 / factor), largest, shown, fine_camera, places, flat)


def _reduced(mask: Mask, longest: int) -> tuple[Mask, int]:
    """Blocks that are mostly object, and their side."""
    factor = -(-max(mask.shape) // longest)
    padded = np.pad(mask, [(0, -side % factor) for side in mask.shape])
    height, width = (side // factor for side in padded.shape)
    share = padded.reshape(height, factor, width, factor).mean(axis=(1, 3))
    small: Mask = share >= min(0.5, float(share.max()))
    return small, factor

"""The balloon under the slider: small, so that it follows the hand."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

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
_MORE_THAN_ANY = 1.0
STEPS = 200
"""Volumes that the slider knows between none and the largest; each is computed once."""


@dataclass(frozen=True, eq=False)
class Silhouette:
    """A small silhouette that can be inflated quickly."""

    mask: Mask
    camera: Camera
    largest: float
    """The largest volume that a smooth balloon over it holds."""
    flat: Relief
    """Which vertices and triangles it has; their places are those of a plane."""
    known: dict[int, Float[np.ndarray, "H W"]] = field(default_factory=dict)
    """Depth by step of the slider."""

    def depth(self, volume: float | None) -> Float[np.ndarray, "H W"]:
        """Depth of the balloon of a volume, to the nearest step; None: the usual volume."""
        wanted = USUAL_VOLUME if volume is None else volume
        step = round(min(max(wanted / self.largest, 0.0), 1.0) * STEPS)
        if step not in self.known:
            domain = Domain(self.mask)
            options = BalloonOptions(volume=self.largest * step / STEPS)
            self.known[step] = domain.scatter(balloon_start(self.camera, domain, options).depth)
        return self.known[step]

    def balloon(self, volume: float | None, number: int) -> bytes:
        """The balloon of a volume as the viewer takes it; the number says which question it was."""
        depth = self.depth(volume)
        columns, rows = self.flat.pixels.astype(int).T
        points = self.camera.points(columns.astype(float), rows.astype(float), depth[rows, columns])
        upright = points * [1.0, -1.0, -1.0]
        origin = upright.min(axis=0)
        size = np.maximum(upright.max(axis=0) - origin, 1e-9)
        normals = depth_normals(self.camera, depth, self.mask) * [1.0, -1.0, -1.0]
        coded = np.round((np.nan_to_num(normals) + 1) * 127.5).astype(np.uint8)
        height, width = self.mask.shape
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
            "bumps": spread(coded, self.mask),
        }
        return packed(header, arrays)


def silhouette(mask: Mask, camera: Camera) -> Silhouette | None:
    """Reduce a mask to what is inflated while the hand moves; None where it is too thin."""
    window = object_window(mask)
    factor = -(-max(window.height, window.width) // _SIDE)
    inside = window.thin(mask)
    blocks = np.pad(inside, [(0, -side % factor) for side in inside.shape])
    height, width = (side // factor for side in blocks.shape)
    share = blocks.reshape(height, factor, width, factor).mean(axis=(1, 3))
    small: Mask = share >= min(0.5, float(share.max()))
    seen = camera.cropped(window.left, window.top).resized(1 / factor)
    plane = np.where(small, 0.0 if isinstance(seen, Orthographic) else 1.0, np.nan)
    facing = np.broadcast_to([0.0, 0.0, -1.0], (height, width, 3))
    flat = relief(seen, plane, facing, Window(0, 0, height, width), small.size)
    if flat is None:
        return None
    full = inflate(Domain(small), _MORE_THAN_ANY)
    return Silhouette(small, seen, max(float(full.volume.max()), 1e-3), flat)

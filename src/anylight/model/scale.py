"""Real size: a depth whose scale is free, brought to millimetres."""

import re
from dataclasses import replace

import msgspec
import numpy as np

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic

from .capture import Capture
from .reconstruction import Reconstruction

_NEAR = 1
"""Depth at a point is the median over so many pixels on each side."""


class ScaleOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How large the object is; without any of these its scale is free."""

    scale_points: str | None = None
    """Two points of the photo and the distance between them: "x1,y1,x2,y2,mm"."""

    def __post_init__(self) -> None:
        if self.scale_points is not None:
            self.points()

    def points(self) -> tuple[float, float, float, float, float]:
        """The five numbers of `scale_points`."""
        assert self.scale_points is not None
        words = [word for word in re.split(r"[\s,;]+", self.scale_points.strip()) if word]
        try:
            x1, y1, x2, y2, size = (float(word) for word in words)
            if not np.isfinite([x1, y1, x2, y2, size]).all():
                raise ValueError(self.scale_points)
        except ValueError as error:
            raise InvalidInputError(
                f'--scale-points "{self.scale_points}": write five numbers, "x1,y1,x2,y2,mm".'
            ) from error
        if not size > 0 or (x1, y1) == (x2, y2):
            raise InvalidInputError(
                f'--scale-points "{self.scale_points}": the points must differ and the distance be '
                "positive."
            )
        return x1, y1, x2, y2, size


def check_scale(
    options: ScaleOptions,
    capture: Capture,
    corner: tuple[int, int] = (0, 0),
    downscale: int = 1,
    distance: float | None = None,
) -> None:
    """Refuse before any work what could not be brought to scale after it."""
    flat = Reconstruction(np.array(capture.mask), capture.camera, np.ones(capture.mask.shape))
    to_scale(flat, options, corner, downscale, distance)


def to_scale(
    scene: Reconstruction,
    options: ScaleOptions,
    corner: tuple[int, int] = (0, 0),
    downscale: int = 1,
    distance: float | None = None,
) -> Reconstruction:
    """Bring a scene to millimetres.

    Args:
        scene: whose scale is free.
        options: what is known.
        corner: first column and row that were kept of the photos, after reducing them.
        downscale: by how much the photos were reduced.
        distance: from the camera to the middle of the object, in mm; points count more.
    """
    if distance is None and options.scale_points is None:
        return scene
    if scene.depth is None or scene.camera is None:
        raise InvalidInputError("there is no depth to bring to scale.")
    if isinstance(scene.camera, Orthographic):
        return _orthographic(scene, options, downscale)
    if options.scale_points is None and distance is not None:
        middle = float(np.median(scene.depth[scene.mask]))
        return replace(scene, depth=scene.depth * (distance / middle), unit="mm")
    x1, y1, x2, y2, size = options.points()
    ends = [_point(scene, x, y, corner, downscale) for x, y in ((x1, y1), (x2, y2))]
    length = float(np.linalg.norm(ends[0] - ends[1]))
    return replace(scene, depth=scene.depth * (size / max(length, 1e-12)), unit="mm")


def _orthographic(scene: Reconstruction, options: ScaleOptions, downscale: int) -> Reconstruction:
    """Parallel rays have no distance; a length across the image gives the size of a pixel."""
    if options.scale_points is None:
        raise InvalidInputError(
            "--distance says nothing about parallel rays; give --scale-points instead."
        )
    x1, y1, x2, y2, size = options.points()
    return replace(scene, pixel_mm=float(size / (np.hypot(x2 - x1, y2 - y1) / downscale)))


def _point(
    scene: Reconstruction, x: float, y: float, corner: tuple[int, int], downscale: int
) -> np.ndarray:
    assert scene.depth is not None
    assert scene.camera is not None
    u, v = ((a + 0.5) / downscale - 0.5 - b for a, b in zip((x, y), corner, strict=True))
    row, column = round(v), round(u)
    window = np.s_[
        max(row - _NEAR, 0) : max(row + _NEAR + 1, 0),
        max(column - _NEAR, 0) : max(column + _NEAR + 1, 0),
    ]
    near = scene.depth[window][scene.mask[window]]
    if not near.size:
        raise InvalidInputError(
            f"--scale-points: ({x:g}, {y:g}) is not on the object; name two points inside the "
            "mask, in pixels from the upper left corner of the photos."
        )
    return scene.camera.points(np.array(u), np.array(v), np.array(float(np.median(near))))

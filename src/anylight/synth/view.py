"""The camera in front of an object: where pixels look, and how the object fills the frame."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Real

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera, Orthographic, Perspective

from .surface import Hits, Points, Surface

FILL = 0.92
"""Share of the tighter side of the image that the object takes."""
_MAX_ROUNDS, _PRECISION = 200, 1e-6
_FLIP = np.array([1.0, -1.0, -1.0])
"""Object frame (y up, z to the viewer) to camera frame (y down, z forward), and back."""


@dataclass(frozen=True, eq=False)
class View:
    """Camera frame = scale · flipped object frame + shift."""

    camera: Camera
    scale: float
    shift: Float[np.ndarray, " 3"]

    def to_camera(self, points: Points) -> Points:
        """Move points from the object frame to the camera frame."""
        return self.scale * points * _FLIP + self.shift

    def to_object(self, points: Points) -> Points:
        """Move points from the camera frame to the object frame."""
        return (points - self.shift) / self.scale * _FLIP

    def turn_to_object(self, vectors: Points) -> Points:
        """Turn directions from the camera frame to the object frame (or back)."""
        return vectors * _FLIP

    def trace(self, surface: Surface, pixels: Real[np.ndarray, "n 2"]) -> Hits:
        """First surface points behind pixels and their normals, in the camera frame.

        Interpolated normals may lean away from a ray at the silhouette; they are brought to just
        facing the camera.
        """
        u, v = pixels[:, 0], pixels[:, 1]
        rays = self.camera.rays(u, v)
        rays /= np.linalg.norm(rays, axis=1, keepdims=True)
        origins = self.camera.points(u, v, np.zeros(len(pixels)))
        hits = surface.trace(self.to_object(origins), self.turn_to_object(rays))
        normals = hits.normals * _FLIP
        facing = (normals * rays).sum(axis=1, keepdims=True)
        normals = normals - np.maximum(facing + 1e-3, 0) * rays
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return Hits(self.to_camera(hits.points), normals)


def frame_object(surface: Surface, width: int, height: int, focal: float | None) -> View:
    """Place the camera so that the object is centred and fills 92 % of the tighter side.

    Args:
        surface: the object.
        width: image width in pixels.
        height: image height in pixels.
        focal: focal length in image heights; None for an orthographic camera.
    """
    centre = ((width - 1) / 2, (height - 1) / 2)
    room = FILL * np.array([width, height])
    points = surface.samples() * _FLIP
    low, high = points.min(axis=0), points.max(axis=0)
    if focal is None:
        scale = float((room / (high - low)[:2]).min())
        shift = -scale * (low + high) / 2
        shift[2] = scale * (high[2] - 2 * low[2])
        return View(Orthographic(centre), scale, shift)
    camera = Perspective((focal * height, focal * height), centre)
    shift = -(low + high) / 2
    nearest = -low[2]
    distance = nearest + focal * float((high - low)[:2].max())
    for _ in range(_MAX_ROUNDS):
        shift[2] = distance
        seen = camera.project(points + shift)
        low_px, high_px = seen.min(axis=0), seen.max(axis=0)
        ratio = float(((high_px - low_px) / room).max())
        off_centre = (low_px + high_px) / 2 - centre
        if abs(ratio - 1) < _PRECISION and np.abs(off_centre).max() < _PRECISION:
            break
        shift[:2] -= off_centre * distance / camera.focal_px
        distance = nearest + max(distance * ratio - nearest, 0.5 * (distance - nearest))
        if distance - nearest < 0.05 * float((high - low).max()):
            raise InvalidInputError(
                f"--focal {focal:g} is so short that the camera would touch the object; "
                "choose a longer one (1.3 is a normal lens)."
            )
    return View(camera, surface.unit, surface.unit * shift)

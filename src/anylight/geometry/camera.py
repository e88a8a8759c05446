"""Perspective and orthographic cameras, pixel centres at integers.

Camera frame: x right, y down, z forward. A pixel is (u, v) = (column, row).
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Real
from numpy.typing import ArrayLike

from anylight.arrays import Vectors
from anylight.errors import InvalidInputError

PixelCoordinate: TypeAlias = Real[np.ndarray, "*n"]
CameraNumbers: TypeAlias = tuple[float, float, float, float]
"""(f_u, f_v, u_0, v_0) for compiled loops; f = 0 stands for parallel rays."""


@dataclass(frozen=True)
class Perspective:
    """A pinhole: the point of depth z behind pixel (u, v) is z·(ũ/f_u, ṽ/f_v, 1)."""

    focal_px: tuple[float, float]
    """Focal lengths f_u, f_v in pixels."""
    centre_px: tuple[float, float]
    """Principal point u_0, v_0 in pixels."""

    def __post_init__(self) -> None:
        if not (np.isfinite([*self.focal_px, *self.centre_px]).all() and min(self.focal_px) > 0):
            raise InvalidInputError(
                f"a camera needs finite numbers and positive focal lengths, not {self.focal_px}."
            )

    @classmethod
    def from_K(cls, matrix: ArrayLike) -> "Perspective":  # noqa: N802
        """The camera of a 3×3 matrix of intrinsics K, pixel centres at integers."""
        (fu, _, u0), (_, fv, v0), _ = _checked_numbers(matrix).tolist()
        return cls((fu, fv), (u0, v0))

    @property
    def numbers(self) -> CameraNumbers:
        """As compiled loops want it."""
        return (*self.focal_px, *self.centre_px)

    def resized(self, scale: float) -> "Perspective":
        """The camera of photos that were scaled; blocks of pixels become one."""
        fu, fv = (f * scale for f in self.focal_px)
        return Perspective((fu, fv), _resized(self.centre_px, scale))

    def cropped(self, left: float, top: float) -> "Perspective":
        """The camera of photos that lost so many columns and rows at their upper left."""
        u0, v0 = self.centre_px
        return replace(self, centre_px=(u0 - left, v0 - top))

    @property
    def matrix(self) -> Float[np.ndarray, "3 3"]:
        """The intrinsics K."""
        (fu, fv), (u0, v0) = self.focal_px, self.centre_px
        return np.array([[fu, 0.0, u0], [0.0, fv, v0], [0.0, 0.0, 1.0]])

    def rays(self, u: PixelCoordinate, v: PixelCoordinate) -> Vectors:
        """Viewing rays of unit depth."""
        (fu, fv), (u0, v0) = self.focal_px, self.centre_px
        return np.stack([(u - u0) / fu, (v - v0) / fv, np.ones_like(u)], axis=-1)

    def points(self, u: PixelCoordinate, v: PixelCoordinate, depth: PixelCoordinate) -> Vectors:
        """Surface points behind pixels."""
        return self.rays(u, v) * depth[..., None]

    def project(self, points: Vectors) -> Float[np.ndarray, "*n 2"]:
        """Pixels (u, v) of points in front of the camera."""
        return points[..., :2] / points[..., 2:] * self.focal_px + self.centre_px

    def slopes(
        self, depth: PixelCoordinate, gradient: Float[np.ndarray, "*n 2"]
    ) -> Float[np.ndarray, "*n 2"]:
        """Slopes (p, q) = ∇ log z of a depth and its gradient per pixel."""
        return gradient / depth[..., None]


@dataclass(frozen=True)
class Orthographic:
    """Parallel rays: depth is measured in pixels, and its origin is free."""

    centre_px: tuple[float, float]
    """Pixel at x = y = 0."""

    @property
    def numbers(self) -> CameraNumbers:
        """As compiled loops want it."""
        return (0.0, 0.0, *self.centre_px)

    def resized(self, scale: float) -> "Orthographic":
        """The camera of photos that were scaled; blocks of pixels become one."""
        return Orthographic(_resized(self.centre_px, scale))

    def cropped(self, left: float, top: float) -> "Orthographic":
        """The camera of photos that lost so many columns and rows at their upper left."""
        u0, v0 = self.centre_px
        return Orthographic((u0 - left, v0 - top))

    @property
    def matrix(self) -> Float[np.ndarray, "3 3"]:
        """Unit pixels and the centre, in the layout of K."""
        u0, v0 = self.centre_px
        return np.array([[1.0, 0.0, u0], [0.0, 1.0, v0], [0.0, 0.0, 1.0]])

    def rays(self, u: PixelCoordinate, v: PixelCoordinate) -> Vectors:
        """Viewing rays of unit depth, all alike."""
        zero = np.zeros(np.broadcast_shapes(u.shape, v.shape))
        return np.stack([zero, zero, zero + 1.0], axis=-1)

    def points(self, u: PixelCoordinate, v: PixelCoordinate, depth: PixelCoordinate) -> Vectors:
        """Surface points behind pixels, in pixels."""
        u0, v0 = self.centre_px
        return np.stack([u - u0, v - v0, depth], axis=-1)

    def project(self, points: Vectors) -> Float[np.ndarray, "*n 2"]:
        """Pixels (u, v) of points."""
        return points[..., :2] + self.centre_px

    def slopes(
        self, depth: PixelCoordinate, gradient: Float[np.ndarray, "*n 2"]
    ) -> Float[np.ndarray, "*n 2"]:
        """Slopes (p, q) = ∇z, whatever the depth."""
        del depth
        return gradient


Camera: TypeAlias = Perspective | Orthographic


def _resized(centre_px: tuple[float, float], scale: float) -> tuple[float, float]:
    """Pixel centres are at integers, so corners are at halves."""
    u0, v0 = ((c + 0.5) * scale - 0.5 for c in centre_px)
    return u0, v0


MATRIX_LAYOUT = "[f_u 0 u_0; 0 f_v v_0; 0 0 1]"


def _checked_numbers(matrix: ArrayLike) -> Float[np.ndarray, "3 3"]:
    """A matrix of intrinsics from whatever was given for it."""
    try:
        return checked_matrix(np.asarray(matrix, dtype=float))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"K must be a 3×3 matrix of numbers {MATRIX_LAYOUT}.") from error
    except InvalidInputError as error:
        raise InvalidInputError(f"K {error}") from error


def checked_matrix(matrix: np.ndarray) -> Float[np.ndarray, "3 3"]:
    """Make sure that a matrix is one of intrinsics."""
    if matrix.shape != (3, 3):
        shape = "×".join(map(str, matrix.shape))
        raise InvalidInputError(f"has {shape} numbers; write the 3×3 matrix {MATRIX_LAYOUT}.")
    focal = np.diag(matrix)[:2]
    if not np.isfinite(matrix).all() or (focal <= 0).any():
        raise InvalidInputError(
            f"is singular or has focal lengths that are not positive ({focal}); "
            "write f_u and f_v in pixels on the diagonal."
        )
    off = np.abs([matrix[0, 1], matrix[1, 0]]).max()
    if off > 1e-6 * focal.max() or not np.allclose(matrix[2], [0, 0, 1], rtol=0, atol=1e-6):
        raise InvalidInputError(
            "has skew or a last row other than 0 0 1; undistort the photos and write "
            f"{MATRIX_LAYOUT}."
        )
    return matrix.astype(float)


def camera_from_matrix(kind: str, matrix: Float[np.ndarray, "3 3"]) -> Camera:
    """Build a camera of a kind ("perspective", "orthographic") from its 3×3 matrix."""
    centre = (float(matrix[0, 2]), float(matrix[1, 2]))
    if kind == "orthographic":
        return Orthographic(centre)
    if kind == "perspective":
        return Perspective((float(matrix[0, 0]), float(matrix[1, 1])), centre)
    raise InvalidInputError(f'camera must be "perspective" or "orthographic", not "{kind}".')


def kind_of(camera: Camera) -> str:
    """Name a camera's kind as files spell it."""
    return "orthographic" if isinstance(camera, Orthographic) else "perspective"

r"""The rotation that makes normals those of a surface, up to hill or hollow.

A linear start (`integrability`), then a robust fit of the curl over the rotations. Frame as in
`integrability` for the start; the fit works in the camera frame, so that it serves both cameras.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Real
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from anylight.geometry.camera import Camera, Perspective
from anylight.geometry.domain import Domain

from .branches import MIRROR
from .integrability import TO_CAMERA, Variation, cofactors, first_two_columns, variation

_SIGMA_PX = 1.0
_MARGIN_PX = 3
_MOST_PIXELS = 20_000
_FLOOR = 0.05
_MAX_EVALUATIONS = 100
_SEED = 2018


@dataclass(frozen=True, eq=False)
class Orientation:
    """An orthogonal matrix: normals are field @ matrixᵀ."""

    matrix: Float[np.ndarray, "3 3"]
    cost: float
    """Robust curl cost per pixel."""


@dataclass(frozen=True, eq=False)
class Start:
    """The linear solution, camera frame."""

    matrix: Float[np.ndarray, "3 3"]
    singular_values: tuple[float, float]
    """Of the two rows found; nearly equal when the field is that of a surface."""


def linear_start(field: Variation) -> Start:
    """Nearest orthogonal matrix to the one the cofactors give; most normals face the camera."""
    solution, _ = cofactors(field)
    rows = first_two_columns(solution).T
    left, values, right = np.linalg.svd(rows, full_matrices=False)
    pair = left @ right
    matrix = np.vstack([pair, np.cross(pair[0], pair[1])]) * TO_CAMERA[:, None]
    if (field.value @ matrix[2]).mean() > 0:
        matrix[2] = -matrix[2]
    return Start(matrix, (float(values[0]), float(values[1])))


def curl(
    camera: Camera, pixels: Real[np.ndarray, "Q 2"], field: Variation
) -> Float[np.ndarray, " Q"]:
    """How far normals (camera frame, slopes along x and y down) are from a surface's, damped.

    Derivatives of the field are taken as given; along_y points down here.
    """
    n, by_u, by_v = field.value, field.along_x, field.along_y
    if isinstance(camera, Perspective):
        fu, fv = camera.focal_px
        rays = camera.rays(*pixels.T)
        w, w_u, w_v = ((f * rays).sum(axis=1) for f in (n, by_u, by_v))
        w_u, w_v = w_u + n[:, 0] / fu, w_v + n[:, 1] / fv
        ratio = np.sqrt(fv / fu)
    else:
        w, w_u, w_v = n[:, 2], by_u[:, 2], by_v[:, 2]
        ratio = 1.0
    turning = ratio * (by_v[:, 0] * w - n[:, 0] * w_v) - (by_u[:, 1] * w - n[:, 1] * w_u) / ratio
    return turning / (w**2 + _FLOOR)


def turned(field: Variation, matrix: Float[np.ndarray, "3 3"]) -> Variation:
    """The field in another frame."""
    return Variation(
        field.pixels, field.value @ matrix.T, field.along_x @ matrix.T, field.along_y @ matrix.T
    )


def refined(
    camera: Camera,
    pixels: Real[np.ndarray, "Q 2"],
    field: Variation,
    start: Float[np.ndarray, "3 3"],
) -> Orientation:
    """Least robust curl (soft L1) over the rotations near a start."""

    def residual(turn: Float[np.ndarray, " 3"]) -> Float[np.ndarray, " Q"]:
        return curl(camera, pixels, turned(field, Rotation.from_rotvec(turn).as_matrix() @ start))

    scale = max(float(np.median(np.abs(residual(np.zeros(3))))), 1e-12)
    fit = least_squares(
        residual, np.zeros(3), loss="soft_l1", f_scale=scale, max_nfev=_MAX_EVALUATIONS
    )
    matrix = Rotation.from_rotvec(fit.x).as_matrix() @ start
    if (field.value @ matrix[2]).mean() > 0:
        matrix = -matrix
    return Orientation(matrix, float(fit.cost / max(len(field.pixels), 1)))


def branches(
    camera: Camera, domain: Domain, normals: Float[np.ndarray, "P 3"]
) -> tuple[Start, Orientation, Orientation]:
    """The linear start and both branches after the fit."""
    upwards = variation(
        domain, normals, sigma_px=_SIGMA_PX, margin_px=_MARGIN_PX, smooth_value=True
    )
    start = linear_start(upwards)
    sample = np.arange(len(upwards.pixels))
    if len(sample) > _MOST_PIXELS:
        rng = np.random.default_rng(_SEED)
        sample = np.sort(rng.choice(sample, _MOST_PIXELS, replace=False))
    field = Variation(
        upwards.pixels[sample],
        upwards.value[sample],
        upwards.along_x[sample],
        -upwards.along_y[sample],
    )
    pixels = domain.pixels[field.pixels]
    one = refined(camera, pixels, field, start.matrix)
    mirrored = MIRROR[:, None] * one.matrix
    if isinstance(camera, Perspective):  # the mirror is a symmetry of parallel rays only
        return start, one, refined(camera, pixels, field, mirrored)
    return start, one, Orientation(mirrored, one.cost)

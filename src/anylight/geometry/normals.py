r"""Normals of a depth map, and their derivative by the slopes.

With slopes $(p, q)$ (of log-depth in perspective, of depth orthographically) the tilted normal is
linear in them, $\tilde n = A (p, q, 1)^\top$ with

    perspective   A = [[f_u, 0, 0], [0, f_v, 0], [−ũ, −ṽ, −1]]
    orthographic  A = diag(1, 1, −1)

and $n = \tilde n / |\tilde n|$ (paper, eq. for n[z] divided by z).
"""

from typing import Literal

import numpy as np
from jaxtyping import Float, Real

from anylight.arrays import DepthMap, Mask, NormalMap

from .camera import Camera, Perspective
from .differences import Difference, central, forward, forward_or_backward
from .domain import Domain

OPENGL_TO_CAMERA = np.array([1.0, -1.0, -1.0])
"""x right, y up, z to the viewer to x right, y down, z forward, and back."""

Stencil = Literal["central", "forward", "neumann"]
Slopes = Float[np.ndarray, "P 2"]
Pixels = Real[np.ndarray, "P 2"]


def slope_matrix(camera: Camera, pixels: Pixels) -> Float[np.ndarray, "P 3 3"]:
    """The matrix A of every pixel."""
    matrix = np.zeros((len(pixels), 3, 3))
    if isinstance(camera, Perspective):
        matrix[:, 0, 0], matrix[:, 1, 1] = camera.focal_px
        matrix[:, 2, :2] = np.asarray(camera.centre_px) - pixels
    else:
        matrix[:, 0, 0] = matrix[:, 1, 1] = 1.0
    matrix[:, 2, 2] = -1.0
    return matrix


def tilted_normals(camera: Camera, pixels: Pixels, slopes: Slopes) -> Float[np.ndarray, "P 3"]:
    """Normals before normalisation, ñ = A (p, q, 1)ᵀ."""
    matrix = slope_matrix(camera, pixels)
    return np.einsum("jab,jb->ja", matrix[:, :, :2], slopes) + matrix[:, :, 2]


def normals_from_slopes(camera: Camera, pixels: Pixels, slopes: Slopes) -> Float[np.ndarray, "P 3"]:
    """Unit normals, facing the camera (n·ray < 0) for any slopes."""
    tilted = tilted_normals(camera, pixels, slopes)
    return tilted / np.linalg.norm(tilted, axis=1, keepdims=True)


def d_normal_d_slope(camera: Camera, pixels: Pixels, slopes: Slopes) -> Float[np.ndarray, "P 3 2"]:
    r"""Exact Jacobian of the unit normal, $(I - n n^\top) A_{:,1:2} / |\tilde n|$."""
    matrix = slope_matrix(camera, pixels)[:, :, :2]
    tilted = tilted_normals(camera, pixels, slopes)
    length = np.linalg.norm(tilted, axis=1)[:, None]
    normal = tilted / length
    along = np.einsum("ja,jab->jb", normal, matrix)
    return (matrix - normal[:, :, None] * along[:, None, :]) / length[:, :, None]


def slopes_from_normals(
    camera: Camera, pixels: Pixels, normals: Float[np.ndarray, "P 3"]
) -> Slopes:
    """Invert `normals_from_slopes`; infinite where the normal is perpendicular to the ray.

    (paper, eq. for the gradient of the log-perspective depth)
    """
    rays = camera.rays(pixels[:, 0], pixels[:, 1])
    focal = camera.focal_px if isinstance(camera, Perspective) else (1.0, 1.0)
    facing = (normals * rays).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return -normals[:, :2] / np.asarray(focal) / facing


def _normals(
    camera: Camera, depth: DepthMap, domain: Domain, along_u: Difference, along_v: Difference
) -> NormalMap:
    z = domain.gather(depth)
    gradient = np.stack([along_u.apply(z), along_v.apply(z)], axis=-1)
    slopes = camera.slopes(z, gradient)
    return domain.scatter(normals_from_slopes(camera, domain.pixels, slopes))


def depth_normals(
    camera: Camera, depth: DepthMap, mask: Mask, stencil: Stencil = "central"
) -> NormalMap:
    """Normals by finite differences of a depth map.

    Stencils: "central" (one-sided at the rim), "forward" (backward where the next pixel is
    missing), "neumann" (forward, zero slope where the next pixel is missing).
    """
    make = {"central": central, "forward": forward_or_backward, "neumann": forward}[stencil]
    domain = Domain(mask)
    return _normals(camera, depth, domain, make(domain, "u"), make(domain, "v"))


def angles_deg(
    a: Float[np.ndarray, "*n 3"], b: Float[np.ndarray, "*n 3"]
) -> Float[np.ndarray, "*n"]:
    """Angle between vectors, accurate also when it is tiny."""
    sine = np.linalg.norm(np.cross(a, b), axis=-1)
    return np.rad2deg(np.arctan2(sine, (a * b).sum(axis=-1)))

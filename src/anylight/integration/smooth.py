r"""Normals to depth: least squares over all pairs of neighbours, with a free boundary.

$\min \sum (D\zeta - \bar p)^2$ over horizontal and vertical pairs, $\bar p$ the mean slope of the
two pixels: the symmetric scheme of Quéau, Durou and Aujol (survey, smooth case). In perspective
$\zeta$ is log-depth; every component of the mask has a free constant, chosen so that its mean depth
is one (orthographic: zero).
"""

import numpy as np
from jaxtyping import Float, Real

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera, Orthographic
from anylight.geometry.differences import central
from anylight.geometry.domain import Domain
from anylight.geometry.normals import normals_from_slopes, slopes_from_normals
from anylight.kernels.pixel_differences import assemble, neighbours, scatter
from anylight.linalg.grid import Grid
from anylight.linalg.multigrid import Multigrid
from anylight.linalg.pcg import pcg

MAX_SLANT_DEG = 85.0
"""Normals that lean further from the viewing ray are brought back to this, azimuth kept.
[degrees]"""
_RTOL = 1e-7
"""When conjugate gradients stop: far below what anything else costs. (guard)"""
_PIN = 1e-9
"""What holds the free constant of the heights. (guard)"""
_BLOCK = 65536
"""Pixels that are turned together. (memory)"""
_MOST = 0.5
"""Share of normals that face away from which their frame must be wrong. (guard)"""


def integrate_slopes(domain: Domain, slopes: Float[np.ndarray, "P 2"]) -> Float[np.ndarray, " P"]:
    """Heights whose slopes are nearest to the given ones; zero mean on every component."""
    grid = Grid(domain.mask)
    near = neighbours(grid.inside, backward=False)
    wanted = np.zeros((3, domain.size), np.float32)
    p, q = (grid.spread(slopes[:, axis]).ravel() for axis in range(2))
    wanted[1] = (p[near.here] + p[near.along_u]) / 2
    wanted[2] = (q[near.here] + q[near.along_v]) / 2
    form = np.zeros((6, domain.size), np.float32)
    form[3] = form[5] = 1.0
    operator = assemble(form, near, grid.shape)
    del form
    operator.centre[grid.inside] += _PIN
    source = scatter(wanted, near, grid.shape)
    del wanted, p, q
    solution = pcg(operator, source, Multigrid(operator), _RTOL, 200).solution
    return _centred(domain, grid.collect(solution))


def _centred(domain: Domain, values: Float[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
    if domain.num_components == 1:
        return values - values.mean()
    counts = np.bincount(domain.components)
    return values - (np.bincount(domain.components, values) / counts)[domain.components]


def clamp_slant(
    camera: Camera,
    pixels: Real[np.ndarray, "P 2"],
    normals: Float[np.ndarray, "P 3"],
    most_deg: float | None = None,
) -> Float[np.ndarray, "P 3"]:
    """Turn normals that are nearly perpendicular to their ray, or behind it, towards the camera."""
    rays = camera.rays(*pixels.T)
    towards = -rays / np.linalg.norm(rays, axis=1, keepdims=True)
    cosine = (normals * towards).sum(axis=1, keepdims=True)
    across = normals - cosine * towards
    size = np.linalg.norm(across, axis=1, keepdims=True)
    limit = np.deg2rad(MAX_SLANT_DEG if most_deg is None else most_deg)
    bent = np.cos(limit) * towards + np.sin(limit) * across / np.maximum(size, 1e-12)
    return np.where(cosine < np.cos(limit), bent, normals)


def check_frame(camera: Camera, domain: Domain, normals: Float[np.ndarray, "P 3"]) -> None:
    """Refuse normals that nobody could see."""
    rays = camera.rays(*domain.pixels.T)
    if ((normals * rays).sum(axis=1) > 0).mean() > _MOST:
        raise InvalidInputError(
            "most normals face away from the camera: their frame is not the one stated "
            '(x right, y up, z to the viewer is "opengl"; x right, y down, z forward is "camera").'
        )


def integrate_normals(
    camera: Camera, domain: Domain, normals: Float[np.ndarray, "P 3"]
) -> Float[np.ndarray, " P"]:
    """Depth of a field of unit normals, up to one scale (orthographic: shift) per component."""
    check_frame(camera, domain, normals)
    slopes = np.empty((domain.size, 2))
    for start in range(0, domain.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        pixels = domain.pixels[block]
        facing = clamp_slant(camera, pixels, normals[block])
        slopes[block] = slopes_from_normals(camera, pixels, facing)
    return depth_of(camera, domain, integrate_slopes(domain, slopes))


def depth_of(
    camera: Camera, domain: Domain, heights: Float[np.ndarray, " P"]
) -> Float[np.ndarray, " P"]:
    """Depth from log-depth, with mean one on every component (orthographic: mean zero)."""
    heights = _centred(domain, heights)
    if isinstance(camera, Orthographic):
        return heights
    depth = np.exp(heights)
    if domain.num_components == 1:
        return depth / depth.mean()
    counts = np.bincount(domain.components)
    return depth / (np.bincount(domain.components, depth) / counts)[domain.components]


def height_normals(domain: Domain, height: Float[np.ndarray, " P"]) -> Float[np.ndarray, "P 3"]:
    """Normals of an orthographic height map (towards the camera), central differences."""
    slopes = np.stack([-central(domain, axis).apply(height) for axis in ("u", "v")], axis=-1)
    return normals_from_slopes(Orthographic((0.0, 0.0)), domain.pixels, slopes)

"""A surface of facets: heights at the corners of pixels, one tilted facet per pixel.

The slopes of a pixel follow from its four corners, so they belong to the pixel's centre, where the
camera took the image value. `here` is the flat place of a pixel's upper left corner on the padded
grid of corners, `width` the number of that grid's columns.
"""

import math

import numpy as np
from jaxtyping import Float, Int

from anylight.compiler import numba
from anylight.linalg.multigrid import Stencil
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}


@loop(_OPTIONS, over="here", grain=4096)
def _slopes(begin, end, z, here, width, p, q):
    for j in range(begin, end):
        k = here[j]
        a, b, c, d = z[k], z[k + 1], z[k + width], z[k + width + 1]
        p[j] = 0.5 * ((b - a) + (d - c))
        q[j] = 0.5 * ((c - a) + (d - b))


def slopes(
    z: Float[np.ndarray, "h w"], here: Int[np.ndarray, " P"]
) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
    """Slopes (p, q) of every facet, per pixel."""
    p, q = np.empty((2, len(here)), np.float32)
    _slopes(z.ravel(), here, z.shape[1], p, q)
    return p, q


@numba.njit(**_OPTIONS)
def _scatter(gp, gq, here, width, out):
    for j in range(len(here)):
        k = here[j]
        along, across = 0.5 * (gp[j] + gq[j]), 0.5 * (gp[j] - gq[j])
        out[k] -= along
        out[k + 1] += across
        out[k + width] -= across
        out[k + width + 1] += along


def scatter(
    gp: Float[np.ndarray, " P"],
    gq: Float[np.ndarray, " P"],
    here: Int[np.ndarray, " P"],
    shape: tuple[int, int],
    dtype: type = np.float64,
) -> Float[np.ndarray, "h w"]:
    """Adjoint of `slopes`."""
    out: np.ndarray = np.zeros(shape[0] * shape[1], dtype)
    _scatter(gp, gq, here, shape[1], out)
    return out.reshape(shape)


@numba.njit(**_OPTIONS)
def _hold(z, share, cover, here, width, out):
    for j in range(len(here)):
        k = here[j]
        right, below, across = k + 1, k + width, k + width + 1
        edge = share * cover[j]
        top, bottom = edge * (z[right] - z[k]), edge * (z[across] - z[below])
        left, end = edge * (z[below] - z[k]), edge * (z[across] - z[right])
        out[k] -= top + left
        out[right] += top - end
        out[below] += left - bottom
        out[across] += bottom + end


def hold(
    z: Float[np.ndarray, "h w"],
    edge: float,
    cover: Float[np.ndarray, " P"],
    here: Int[np.ndarray, " P"],
    out: Float[np.ndarray, "h w"],
) -> None:
    """Add half the gradient of Σ_j edge · cover_j / 2 · (squared differences along four edges)."""
    _hold(z.reshape(-1), edge / 2, cover, here, z.shape[1], out.reshape(-1))


@numba.njit(**_OPTIONS)
def _assemble(uu, uv, vv, edge, here, width, d, e, s, se, sw):
    for j in range(len(here)):
        k = here[j]
        same, other = 0.25 * (uu[j] + vv[j]) + 0.5 * uv[j], 0.25 * (uu[j] + vv[j]) - 0.5 * uv[j]
        turn, hold = 0.25 * (uu[j] - vv[j]), 0.5 * edge[j]
        d[k] += same + 2.0 * hold
        d[k + width + 1] += same + 2.0 * hold
        d[k + 1] += other + 2.0 * hold
        d[k + width] += other + 2.0 * hold
        e[k] -= turn + hold
        e[k + width] -= turn + hold
        s[k] += turn - hold
        s[k + 1] += turn - hold
        se[k] -= same
        sw[k + 1] -= other


def assemble(
    blocks: Float[np.ndarray, "3 P"],
    edge: Float[np.ndarray, " P"],
    here: Int[np.ndarray, " P"],
    shape: tuple[int, int],
    dtype: type = np.float64,
) -> Stencil:
    """Stencil of Σ_j (p, q) B (p, q)ᵀ + edge/2 · (squared differences along the four edges).

    Args:
        blocks: uu, uv, vv of every pixel's symmetric B.
        edge: what holds the checkerboard, which no slope sees.
        here: places of the facets.
        shape: of the grid of corners.
        dtype: of the coefficients.
    """
    parts: np.ndarray = np.zeros((5, shape[0] * shape[1]), dtype)
    _assemble(*blocks, edge, here, shape[1], *parts)
    return Stencil(*parts.reshape(5, *shape))


@loop(_OPTIONS, over="p", grain=4096)
def _normals(begin, end, p, q, camera, pixels, unit, length):
    fu, fv, u0, v0 = camera
    for j in range(begin, end):
        if fu > 0.0:
            x, y = fu * p[j], fv * q[j]
            z = -1.0 - (pixels[j, 0] - u0) * p[j] - (pixels[j, 1] - v0) * q[j]
        else:
            x, y, z = p[j], q[j], -1.0
        size = math.sqrt(x * x + y * y + z * z)
        length[j] = size
        unit[0, j], unit[1, j], unit[2, j] = x / size, y / size, z / size


def normals(
    p: Float[np.ndarray, " P"],
    q: Float[np.ndarray, " P"],
    camera: tuple[float, float, float, float],
    pixels: Float[np.ndarray, "P 2"],
) -> tuple[Float[np.ndarray, "3 P"], Float[np.ndarray, " P"]]:
    """Unit normals of slopes and the lengths |ñ|; camera = (f_u, f_v, u_0, v_0), 0: parallel."""
    unit, length = np.empty((3, len(p)), np.float32), np.empty(len(p), np.float32)
    _normals(p, q, camera, pixels, unit, length)
    return unit, length


@loop(_OPTIONS, over="length", grain=4096)
def _turns(begin, end, unit, length, camera, pixels, along_p, along_q):
    fu, fv, u0, v0 = camera
    for j in range(begin, end):
        x, y, z = unit[0, j], unit[1, j], unit[2, j]
        if fu > 0.0:
            px, pz = fu, -(pixels[j, 0] - u0)
            qy, qz = fv, -(pixels[j, 1] - v0)
        else:
            px, pz, qy, qz = 1.0, 0.0, 1.0, 0.0
        on = x * px + z * pz
        along_p[0, j] = (px - x * on) / length[j]
        along_p[1, j] = -y * on / length[j]
        along_p[2, j] = (pz - z * on) / length[j]
        on = y * qy + z * qz
        along_q[0, j] = -x * on / length[j]
        along_q[1, j] = (qy - y * on) / length[j]
        along_q[2, j] = (qz - z * on) / length[j]


def turns(
    unit: Float[np.ndarray, "3 P"],
    length: Float[np.ndarray, " P"],
    camera: tuple[float, float, float, float],
    pixels: Float[np.ndarray, "P 2"],
) -> tuple[Float[np.ndarray, "3 P"], Float[np.ndarray, "3 P"]]:
    """Exact derivative of the unit normals by p and by q."""
    along_p, along_q = np.empty_like(unit), np.empty_like(unit)
    _turns(unit, length, camera, pixels, along_p, along_q)
    return along_p, along_q

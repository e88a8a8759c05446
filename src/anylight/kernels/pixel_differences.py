"""Depth on the padded grid: its normals, and the stencils of quadratic forms in its differences.

Each pixel has one difference per axis: to the next pixel where it exists (sign +1), else to the
previous one (sign −1), else none (sign 0). `Neighbours` holds the flat places and signs.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from anylight.compiler import numba
from anylight.linalg.multigrid import Stencil
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}


class Neighbours(NamedTuple):
    """Flat places of every pixel, its u-neighbour and its v-neighbour, and the signs."""

    here: Int[np.ndarray, " P"]
    along_u: Int[np.ndarray, " P"]
    along_v: Int[np.ndarray, " P"]
    sign_u: Float[np.ndarray, " P"]
    sign_v: Float[np.ndarray, " P"]


def neighbours(inside: np.ndarray, backward: bool) -> Neighbours:
    """Find the differences of a mask on its padded grid.

    Args:
        inside: the mask with its margin.
        backward: fall back to the previous pixel where the next is missing.
    """
    here = np.flatnonzero(inside).astype(np.int32)
    flat = inside.ravel()
    found = []
    for step in (1, inside.shape[1]):
        sign = flat[here + step].astype(np.float32)
        if backward:
            sign -= ~flat[here + step] & flat[here - step]
        found.append((here + sign.astype(np.int32) * np.int32(step), sign))
    (along_u, sign_u), (along_v, sign_v) = found
    return Neighbours(here, along_u, along_v, sign_u, sign_v)


@loop(_OPTIONS, over="near", grain=4096)
def normals(begin, end, z, near, camera, pixels, unit, length):
    """Unit normals and lengths |ñ| of a depth; camera = (f_u, f_v, u_0, v_0), f_u = 0: parallel."""
    here, along_u, along_v, sign_u, sign_v = near
    fu, fv, u0, v0 = camera
    for j in range(begin, end):
        depth = z[here[j]]
        p = sign_u[j] * (z[along_u[j]] - depth)
        q = sign_v[j] * (z[along_v[j]] - depth)
        if fu > 0.0:
            x, y = fu * p, fv * q
            w = -depth - (pixels[j, 0] - u0) * p - (pixels[j, 1] - v0) * q
        else:
            x, y, w = p, q, -1.0
        size = math.sqrt(x * x + y * y + w * w)
        length[j] = size
        unit[0, j], unit[1, j], unit[2, j] = x / size, y / size, w / size


@loop(_OPTIONS, over="length", grain=4096)
def pull_back(begin, end, blocks, source, length, camera, pixels, form, gradient):
    """Normal space to (z, z_u, z_v): form = Jᵀ G J (zz, zu, zv, uu, uv, vv), gradient = Jᵀ g.

    J is the derivative of ñ / θ with θ = |ñ| held fixed, as published.
    """
    fu, fv, u0, v0 = camera
    for j in range(begin, end):
        xx, xy, xz = blocks[0, j], blocks[1, j], blocks[2, j]
        yy, yz, zz = blocks[3, j], blocks[4, j], blocks[5, j]
        gx, gy, gz = source[0, j], source[1, j], source[2, j]
        inverse = 1.0 / length[j]
        square = inverse * inverse
        if fu > 0.0:
            a, b = pixels[j, 0] - u0, pixels[j, 1] - v0
            form[0, j] = square * zz
            form[1, j] = square * (a * zz - fu * xz)
            form[2, j] = square * (b * zz - fv * yz)
            form[3, j] = square * (fu * fu * xx - 2.0 * fu * a * xz + a * a * zz)
            form[4, j] = square * (fu * fv * xy - fu * b * xz - fv * a * yz + a * b * zz)
            form[5, j] = square * (fv * fv * yy - 2.0 * fv * b * yz + b * b * zz)
            gradient[0, j] = -inverse * gz
            gradient[1, j] = inverse * (fu * gx - a * gz)
            gradient[2, j] = inverse * (fv * gy - b * gz)
        else:
            form[0, j] = form[1, j] = form[2, j] = 0.0
            form[3, j], form[4, j], form[5, j] = square * xx, square * xy, square * yy
            gradient[0, j], gradient[1, j], gradient[2, j] = 0.0, inverse * gx, inverse * gy


@numba.njit(**_OPTIONS)
def _assemble(form, near, d, e, s, se, sw):
    here, along_u, along_v, sign_u, sign_v = near
    for j in range(len(here)):
        a, b, c, su, sv = here[j], along_u[j], along_v[j], sign_u[j], sign_v[j]
        zz, zu, zv = form[0, j], form[1, j], form[2, j]
        uu, uv, vv = form[3, j], form[4, j], form[5, j]
        zu, zv, uu, vv, uv = su * zu, sv * zv, su * su * uu, sv * sv * vv, su * sv * uv
        d[a] += zz - 2.0 * (zu + zv - uv) + uu + vv
        if su != 0.0:
            d[b] += uu
            e[a if su > 0.0 else b] += zu - uu - uv
        if sv != 0.0:
            d[c] += vv
            s[a if sv > 0.0 else c] += zv - vv - uv
        if su > 0.0 and sv > 0.0:
            sw[b] += uv
        elif su > 0.0 and sv < 0.0:
            se[c] += uv
        elif su < 0.0 and sv > 0.0:
            se[b] += uv
        elif su < 0.0 and sv < 0.0:
            sw[c] += uv


def assemble(
    form: Float[np.ndarray, "6 P"],
    near: Neighbours,
    shape: tuple[int, int],
    dtype: type = np.float64,
) -> Stencil:
    """Stencil of Σ_j of the quadratic forms in (x, D_u x, D_v x): Dᵀ B D, D = [1; D_u; D_v]."""
    parts: np.ndarray = np.zeros((5, shape[0] * shape[1]), dtype)
    _assemble(form, near, *parts)
    return Stencil(*parts.reshape(5, *shape))


@numba.njit(**_OPTIONS)
def _scatter(gradient, near, out):
    here, along_u, along_v, sign_u, sign_v = near
    for j in range(len(here)):
        gu, gv = sign_u[j] * gradient[1, j], sign_v[j] * gradient[2, j]
        out[here[j]] += gradient[0, j] - gu - gv
        out[along_u[j]] += gu
        out[along_v[j]] += gv


def scatter(
    gradient: Float[np.ndarray, "3 P"], near: Neighbours, shape: tuple[int, int]
) -> Float[np.ndarray, "h w"]:
    """Adjoint of [1; D_u; D_v]."""
    out = np.zeros(shape[0] * shape[1])
    _scatter(gradient, near, out)
    return out.reshape(shape)


@loop(_OPTIONS, over="near", grain=4096)
def slope_sizes(begin, end, x, near, out):
    """|∇x| of every pixel."""
    here, along_u, along_v, sign_u, sign_v = near
    for j in range(begin, end):
        value = x[here[j]]
        p = sign_u[j] * (x[along_u[j]] - value)
        q = sign_v[j] * (x[along_v[j]] - value)
        out[j] = math.sqrt(p * p + q * q)

"""A surface of facets: heights at the corners of pixels, one tilted facet per pixel.

The slopes of a pixel follow from its four corners, so they belong to the pixel's centre, where the
camera took the image value. `here` is the flat place of a pixel's upper left corner on the padded
grid of corners, `width` the number of that grid's columns.
"""

import math

import numpy as np
from jaxtyping import Bool, Float, Int, Real

from anylight.compiler import numba
from anylight.linalg import memory
from anylight.linalg.multigrid import Stencil
from anylight.threads import HEAVY_ROWS, ROWS, loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}


@numba.njit(inline="always", **_OPTIONS)
def _run_end(here, first, stop):
    """Number behind the last facet that follows the first one side by side.

    What runs over such facets has no places to look up, and becomes vector code.
    """
    gap = here[first] - first
    if here[stop - 1] - stop + 1 == gap:
        return stop
    inside, outside = first, stop
    while outside - inside > 1:
        middle = (inside + outside) // 2
        if here[middle] - middle == gap:
            inside = middle
        else:
            outside = middle
    return outside


@loop(_OPTIONS, over="here", grain=4096)
def _slopes(begin, end, z, here, width, p, q):
    half, first = z.dtype.type(0.5), begin
    while first < end:
        last = _run_end(here, first, end)
        upper, lower = z[here[first] :], z[here[first] + width :]
        along_u, along_v = p[first:last], q[first:last]
        for n in range(last - first):
            along_u[n] = half * ((upper[n + 1] - upper[n]) + (lower[n + 1] - lower[n]))
        for n in range(last - first):
            along_v[n] = half * ((lower[n] - upper[n]) + (lower[n + 1] - upper[n + 1]))
        first = last


def slopes(z: Float[np.ndarray, "h w"], here: Int[np.ndarray, " P"]) -> Float[np.ndarray, "2 P"]:
    """Slopes (p, q) of every facet, per pixel."""
    found = np.empty((2, len(here)), np.float32)
    _slopes(z.ravel(), here, z.shape[1], *found)
    return found


def rows_of(here: Int[np.ndarray, " P"], shape: tuple[int, int]) -> Int[np.ndarray, " h"]:
    """Number of the first facet of every row of corners, and of those that follow the last."""
    return np.searchsorted(here, np.arange(shape[0] + 1) * shape[1])


# Facets reach corners of two rows. Each row is gathered by itself, first from the facets above it,
# then from those below: so rows may be shared among threads. Seen from a row both are alike, but
# for the sign of the slope along v.


@loop(_OPTIONS, over="out", margin=1, grain=HEAVY_ROWS)
def _scatter(begin, end, gp, gq, here, rows, out):
    width, half = out.shape[1], out.dtype.type(0.5)
    for i in range(begin, end):
        row = out[i]
        for k in range(width):
            row[k] = 0
        for below in range(2):
            sign = half if below else -half
            first, stop = rows[i - 1 + below], rows[i + below]
            while first < stop:
                last = _run_end(here, first, stop)
                left = row[here[first] - (i - 1 + below) * width :]
                along_p, along_q = gp[first:last], gq[first:last]
                for n in range(last - first):
                    left[n] -= half * along_p[n] + sign * along_q[n]
                for n in range(last - first):
                    left[n + 1] += half * along_p[n] - sign * along_q[n]
                first = last


def scatter(
    gp: Float[np.ndarray, " P"],
    gq: Float[np.ndarray, " P"],
    here: Int[np.ndarray, " P"],
    rows: Int[np.ndarray, " n"],
    out: Float[np.ndarray, "h w"],
) -> Float[np.ndarray, "h w"]:
    """Adjoint of `slopes`, written over `out`; rows as `rows_of` tells."""
    out[0] = out[-1] = 0
    gp, gq = (np.ascontiguousarray(part, out.dtype) for part in (gp, gq))
    _scatter(gp, gq, here, rows, out)
    return out


@loop(_OPTIONS, over="out", margin=1, grain=HEAVY_ROWS)
def _hold(begin, end, z, share, cover, here, rows, out):
    width = out.shape[1]
    for i in range(begin, end):
        for below in range(2):
            first, stop = rows[i - 1 + below], rows[i + below]
            while first < stop:
                last = _run_end(here, first, stop)
                k = here[first] - (i - 1 + below) * width
                left, own, other = out[i, k:], z[i, k:], z[i - 1 + 2 * below, k:]
                weight = cover[first:last]
                for n in range(last - first):
                    edge = share * weight[n]
                    left[n] += edge * (own[n] - other[n]) - edge * (own[n + 1] - own[n])
                for n in range(last - first):
                    edge = share * weight[n]
                    turn = edge * (own[n + 1] - own[n])
                    left[n + 1] += edge * (own[n + 1] - other[n + 1]) + turn
                first = last


def hold(
    z: Float[np.ndarray, "h w"],
    edge: float,
    cover: Float[np.ndarray, " P"],
    here: Int[np.ndarray, " P"],
    rows: Int[np.ndarray, " n"],
    out: Float[np.ndarray, "h w"],
) -> None:
    """Add half the gradient of Σ_j edge · cover_j / 2 · (squared differences along four edges)."""
    _hold(z, z.dtype.type(edge / 2), cover, here, rows, out)


@loop(_OPTIONS, over="out", margin=1, grain=HEAVY_ROWS)
def _form(begin, end, z, uu, uv, vv, share, here, rows, out):
    width, half = out.shape[1], z.dtype.type(0.5)
    for i in range(begin, end):
        row = out[i]
        for k in range(width):
            row[k] = 0
        for below in range(2):
            sign = half if below else -half
            first, stop = rows[i - 1 + below], rows[i + below]
            while first < stop:
                last = _run_end(here, first, stop)
                k = here[first] - (i - 1 + below) * width
                left, own, other = out[i, k:], z[i, k:], z[i - 1 + 2 * below, k:]
                a, b, c = uu[first:last], uv[first:last], vv[first:last]
                for n in range(last - first):
                    here_off, next_off = own[n] - other[n], own[n + 1] - other[n + 1]
                    turn = own[n + 1] - own[n]
                    p = half * (turn + (other[n + 1] - other[n]))
                    q = -sign * (here_off + next_off)
                    gp, gq = a[n] * p + b[n] * q, b[n] * p + c[n] * q
                    left[n] += share * (here_off - turn) - half * gp - sign * gq
                for n in range(last - first):
                    here_off, next_off = own[n] - other[n], own[n + 1] - other[n + 1]
                    turn = own[n + 1] - own[n]
                    p = half * (turn + (other[n + 1] - other[n]))
                    q = -sign * (here_off + next_off)
                    gp, gq = a[n] * p + b[n] * q, b[n] * p + c[n] * q
                    left[n + 1] += share * (next_off + turn) + half * gp - sign * gq
                first = last


def form(
    z: Float[np.ndarray, "h w"],
    blocks: Float[np.ndarray, "3 P"],
    edge: float,
    here: Int[np.ndarray, " P"],
    rows: Int[np.ndarray, " n"],
    out: Float[np.ndarray, "h w"],
) -> None:
    """Multiply by the stencil of `assemble`, all edges held alike, without it; fills `out`."""
    out[0] = out[-1] = 0
    _form(z, *blocks, z.dtype.type(edge / 2), here, rows, out)


@loop(_OPTIONS, over="z", grain=ROWS)
def _sums(begin, end, z, inside, partial):
    for i in range(begin, end):
        row, here, total = z[i], inside[i], 0.0
        for k in range(len(row)):
            total += row[k] if here[k] else 0.0
        partial[i] = total


@loop(_OPTIONS, over="z", grain=ROWS)
def _lower(begin, end, amount, inside, z):
    for i in range(begin, end):
        row, here = z[i], inside[i]
        for k in range(len(row)):
            row[k] -= amount if here[k] else 0.0


def lower(z: Float[np.ndarray, "h w"], inside: Bool[np.ndarray, "h w"], num: int) -> None:
    """Take the mean off all corners that are inside, of which there are so many; in place."""
    partial = np.empty(len(z))
    _sums(z, inside, partial)
    _lower(float(partial.sum()) / num, inside, z)


@loop(_OPTIONS, over="d", margin=1, grain=HEAVY_ROWS)
def _assemble(begin, end, uu, uv, vv, edge, here, rows, d, e, s, se, sw):
    width, none = d.shape[1], d.dtype.type(0)
    for i in range(begin, end):
        for k in range(width):
            d[i, k] = e[i, k] = s[i, k] = se[i, k] = sw[i, k] = none
        for j in range(rows[i - 1], rows[i]):
            k = here[j] - (i - 1) * width
            mean, hold = 0.25 * (uu[j] + vv[j]), 0.5 * edge[j]
            same, other = mean + 0.5 * uv[j], mean - 0.5 * uv[j]
            d[i, k] += other + 2.0 * hold
            d[i, k + 1] += same + 2.0 * hold
            e[i, k] -= 0.25 * (uu[j] - vv[j]) + hold
        for j in range(rows[i], rows[i + 1]):
            k = here[j] - i * width
            mean, hold = 0.25 * (uu[j] + vv[j]), 0.5 * edge[j]
            same, other = mean + 0.5 * uv[j], mean - 0.5 * uv[j]
            turn = 0.25 * (uu[j] - vv[j])
            d[i, k] += same + 2.0 * hold
            d[i, k + 1] += other + 2.0 * hold
            e[i, k] -= turn + hold
            s[i, k] += turn - hold
            s[i, k + 1] += turn - hold
            se[i, k] -= same
            sw[i, k + 1] -= other


def assemble(
    blocks: Float[np.ndarray, "3 P"],
    edge: Float[np.ndarray, " P"],
    here: Int[np.ndarray, " P"],
    rows: Int[np.ndarray, " n"],
    shape: tuple[int, int],
    dtype: type = np.float64,
    room: memory.Room | None = None,
) -> Stencil:
    """Stencil of Σ_j (p, q) B (p, q)ᵀ + edge/2 · (squared differences along the four edges).

    Args:
        blocks: uu, uv, vv of every pixel's symmetric B.
        edge: what holds the checkerboard, which no slope sees.
        here: places of the facets.
        rows: where rows of corners begin among them (see `rows_of`).
        shape: of the grid of corners.
        dtype: of the coefficients.
        room: where memory comes from.
    """
    parts = memory.framed((5, *shape), dtype, room=room)
    _assemble(*blocks, edge, here, rows, *parts)
    return Stencil(*parts)


@numba.njit(inline="always", **_OPTIONS)
def tilts(camera, pixels, j):
    """What a pixel's slopes do to its tilted normal: x and z by p, y and z by q."""
    fu, fv, u0, v0 = camera
    px, pz, qy, qz = 1.0, 0.0, 1.0, 0.0
    if fu > 0.0:
        px, pz, qy, qz = fu, u0 - pixels[j, 0], fv, v0 - pixels[j, 1]
    return px, pz, qy, qz


@numba.njit(inline="always", **_OPTIONS)
def fill_normal(px, pz, qy, qz, p, q, j, unit, length):
    """Unit normal of a facet, and the length |ñ|."""
    x, y, z = px * p, qy * q, pz * p + qz * q - 1.0
    size = math.sqrt(x * x + y * y + z * z)
    length[j] = size
    unit[0, j], unit[1, j], unit[2, j] = x / size, y / size, z / size


@numba.njit(inline="always", **_OPTIONS)
def fill_turns(px, pz, qy, qz, unit, length, j, along_p, along_q):
    """Derivative of a unit normal by p and by q."""
    x, y, z = unit[0, j], unit[1, j], unit[2, j]
    on = x * px + z * pz
    along_p[0, j] = (px - x * on) / length[j]
    along_p[1, j] = -y * on / length[j]
    along_p[2, j] = (pz - z * on) / length[j]
    on = y * qy + z * qz
    along_q[0, j] = -x * on / length[j]
    along_q[1, j] = (qy - y * on) / length[j]
    along_q[2, j] = (qz - z * on) / length[j]


@loop(_OPTIONS, over="p", grain=4096)
def _normals(begin, end, p, q, camera, pixels, unit, length):
    for j in range(begin, end):
        px, pz, qy, qz = tilts(camera, pixels, j)
        fill_normal(px, pz, qy, qz, p[j], q[j], j, unit, length)


def normals(
    p: Float[np.ndarray, " P"],
    q: Float[np.ndarray, " P"],
    camera: tuple[float, float, float, float],
    pixels: Real[np.ndarray, "P 2"],
) -> tuple[Float[np.ndarray, "3 P"], Float[np.ndarray, " P"]]:
    """Unit normals of slopes and the lengths |ñ|; camera = (f_u, f_v, u_0, v_0), 0: parallel."""
    unit, length = np.empty((3, len(p)), np.float32), np.empty(len(p), np.float32)
    p, q = (np.ascontiguousarray(part, np.float32) for part in (p, q))
    _normals(p, q, camera, pixels, unit, length)
    return unit, length


@loop(_OPTIONS, over="length", grain=4096)
def _turns(begin, end, unit, length, camera, pixels, along_p, along_q):
    for j in range(begin, end):
        px, pz, qy, qz = tilts(camera, pixels, j)
        fill_turns(px, pz, qy, qz, unit, length, j, along_p, along_q)


def turns(
    unit: Float[np.ndarray, "3 P"],
    length: Float[np.ndarray, " P"],
    camera: tuple[float, float, float, float],
    pixels: Real[np.ndarray, "P 2"],
) -> tuple[Float[np.ndarray, "3 P"], Float[np.ndarray, "3 P"]]:
    """Exact derivative of the unit normals by p and by q."""
    along_p, along_q = np.empty_like(unit), np.empty_like(unit)
    _turns(unit, length, camera, pixels, along_p, along_q)
    return along_p, along_q

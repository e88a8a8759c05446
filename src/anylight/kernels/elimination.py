r"""Residuals with the albedo eliminated, and their derivatives, in one pass over the pixels.

At a pixel and channel the photos form a vector J, the shading a vector S; the best albedo is
ρ = S·J / S·S and leaves the residual r = ρ S − J, perpendicular to S. Changes of slopes and light
act through their part perpendicular to S (Kaufman's form of variable projection):
$\delta r = \rho\,P_\perp\,(\delta S)$.

Every pass works tile by tile: monomials of the normals, shading as a matrix product, the pixels'
own sums, and another product that gathers what the light gets. A tile's arrays are (photos of all
channels, TILE), so that pixels lie side by side.
"""

from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from anylight.compiler import numba
from anylight.threads import loop

from .facets import fill_turns, tilts
from .monomials import (
    TILE,
    WORK,
    fill_tile,
    fill_tile_with_slopes,
    load_tile,
    num_tiles,
    spread_tile,
)

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_SHARED = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Of functions that two loops call: compiled once. Those of one loop are compiled as part of it."""
_TINY = 1e-20
_TILES = 8
"""Tiles of a pass, at most: its sums over pixels are in float32."""
_PASSES = 128
"""Passes that threads can share, at least, where there are as many tiles."""
PASS = _TILES * TILE
"""Pixels of a pass, at most."""


@cache
def passes(num: int) -> Int[np.ndarray, "n 2"]:
    """First tile of every pass over so many pixels, and the one behind its last."""
    tiles = num_tiles(num)
    begins = np.arange(0, tiles, min(max(tiles // _PASSES, 1), _TILES))
    return np.stack([begins, np.append(begins[1:], tiles)], axis=1)


def num_passes(num: int) -> int:
    """How many passes so many pixels take."""
    return len(passes(num))


@numba.njit(inline="always", **_OPTIONS)
def _clear(out):
    for k in range(len(out)):
        for j in range(out.shape[1]):
            out[k, j] = 0


@numba.njit(inline="always", **_OPTIONS)
def _copy(given, out):
    for k in range(len(out)):
        for j in range(out.shape[1]):
            out[k, j] = given[k, j]


@numba.njit(inline="always", **_OPTIONS)
def _add(given, out):
    for k in range(len(out)):
        for j in range(out.shape[1]):
            out[k, j] += given[k, j]


@numba.njit(inline="always", **_OPTIONS)
def _load_photo(numbers, scale, k, first, size, out):
    """One photo of a tile: whole numbers (P, photos) times every pixel's scale."""
    for j in range(size):
        out[j] = np.float32(numbers[first + j, k]) * scale[first + j]


@numba.njit(**_SHARED)
def fit_tile(shading, numbers, scale, channels, first, size, work, albedo, misfit):
    """Best albedo and squared residual of a tile under shading (photos, TILE)."""
    each = len(shading) // channels
    ss, si, total, shot = work[0], work[1], work[2], work[3]
    for j in range(TILE):
        total[j] = shot[j] = 0
    for c in range(channels):
        for j in range(TILE):
            ss[j], si[j] = _TINY, 0
        for k in range(c * each, (c + 1) * each):
            s = shading[k]
            _load_photo(numbers, scale, k, first, size, shot)
            for j in range(TILE):
                seen = s[j]
                ss[j] += seen * seen
                si[j] += seen * shot[j]
        for j in range(TILE):
            si[j] = max(si[j] / ss[j], np.float32(0))
        for j in range(size):
            albedo[first + j, c] = si[j]
        for k in range(c * each, (c + 1) * each):
            s = shading[k]
            _load_photo(numbers, scale, k, first, size, shot)
            for j in range(TILE):
                r = si[j] * s[j] - shot[j]
                total[j] += r * r
    for j in range(size):
        misfit[first + j] = total[j]


@numba.njit(**_SHARED)
def shade_tile(exponents, unit, along, fields, places, light, first, size, work, terms, shades):
    """Monomials (3, K, TILE) and shading (3, photos, TILE) of a tile: values, by p, by q.

    Normals (3, TILE) and how slopes turn them (2, 3, TILE) are the tile's own, places all pixels'.
    """
    fill_tile_with_slopes(exponents, unit, along[0], along[1], 0, size, work, terms)
    for k in range(3):
        own = terms[k]
        spread_tile(fields, places, first, size, own)
        np.dot(light, own, shades[k])


@numba.njit(**_SHARED)
def linearise_tile(
    numbers, scale, shades, weight, channels, albedo, first, size, work, blocks, slope, source
):
    """Blocks and gradient of a tile in the slopes; w ρ r, which the light's is made of."""
    each = shades.shape[1] // channels
    uu, uv, vv, gu, gv = work[0], work[1], work[2], work[3], work[4]
    ss, sa, sb, aa, ab, bb = work[5], work[6], work[7], work[8], work[9], work[10]
    ar, br, rho, shot, heavy = work[11], work[12], work[13], work[14], work[15]
    load_tile(weight, first, size, heavy)
    for j in range(TILE):
        uu[j] = uv[j] = vv[j] = gu[j] = gv[j] = rho[j] = shot[j] = 0
    for c in range(channels):
        for j in range(TILE):
            ss[j] = _TINY
            sa[j] = sb[j] = aa[j] = ab[j] = bb[j] = ar[j] = br[j] = 0
        for j in range(size):
            rho[j] = albedo[first + j, c]
        for k in range(c * each, (c + 1) * each):
            s, a, b, out = shades[0, k], shades[1, k], shades[2, k], source[k]
            _load_photo(numbers, scale, k, first, size, shot)
            for j in range(TILE):
                sj, aj, bj, paint = s[j], a[j], b[j], rho[j]
                ss[j] += sj * sj
                sa[j] += sj * aj
                sb[j] += sj * bj
                aa[j] += aj * aj
                ab[j] += aj * bj
                bb[j] += bj * bj
                r = paint * sj - shot[j]
                ar[j] += aj * r
                br[j] += bj * r
                out[j] = heavy[j] * paint * r
        for j in range(TILE):
            paint, on_a, on_b = rho[j], sa[j], sb[j]
            square, share = paint * paint, np.float32(1) / ss[j]
            uu[j] += square * (aa[j] - on_a * on_a * share)
            uv[j] += square * (ab[j] - on_a * on_b * share)
            vv[j] += square * (bb[j] - on_b * on_b * share)
            gu[j] += paint * ar[j]
            gv[j] += paint * br[j]
    for k in range(5):
        row, out = work[k], blocks[k] if k < 3 else slope[k - 3]
        for j in range(size):
            out[first + j] = heavy[j] * row[j]


@numba.njit(inline="always", **_OPTIONS)
def _product_tile(shades, change, weight, channels, albedo, p, q, first, size, work, slope):
    """Turn a change of shading by light into w ρ δr, in place; fill the gradient in the slopes."""
    each = shades.shape[1] // channels
    gu, gv, pj, qj, heavy = work[0], work[1], work[2], work[3], work[4]
    ss, st, rho = work[5], work[6], work[7]
    for k in range(2, 5):
        given = p if k == 2 else q if k == 3 else weight
        load_tile(given, first, size, work[k])
    for j in range(TILE):
        gu[j] = gv[j] = rho[j] = 0
    for c in range(channels):
        for j in range(TILE):
            ss[j], st[j] = _TINY, 0
        for j in range(size):
            rho[j] = albedo[first + j, c]
        for k in range(c * each, (c + 1) * each):
            s, a, b, y = shades[0, k], shades[1, k], shades[2, k], change[k]
            for j in range(TILE):
                seen, moved = s[j], y[j] + pj[j] * a[j] + qj[j] * b[j]
                y[j] = moved
                ss[j] += seen * seen
                st[j] += seen * moved
        for j in range(TILE):
            st[j] /= ss[j]
            rho[j] *= heavy[j] * rho[j]
        for k in range(c * each, (c + 1) * each):
            s, a, b, y = shades[0, k], shades[1, k], shades[2, k], change[k]
            for j in range(TILE):
                moved = rho[j] * (y[j] - st[j] * s[j])
                y[j] = moved
                gu[j] += a[j] * moved
                gv[j] += b[j] * moved
    for j in range(size):
        slope[0, first + j] = gu[j]
        slope[1, first + j] = gv[j]


@loop(_OPTIONS, over="numbers", step=TILE, grain=1)
def residuals(
    begin, end, exponents, unit, fields, places, light, numbers, scale, channels, albedo, misfit
):
    """Best albedo (P, C), not negative, and squared residual (P) of every pixel.

    Light is that of the monomials, (photos of all channels, K); photos are whole numbers (P, photos
    of all channels) times every pixel's scale.
    """
    work = np.empty((WORK, TILE), np.float32)
    terms = np.empty((len(exponents), TILE), np.float32)
    shading = np.empty((len(light), TILE), np.float32)
    for t in range(begin, end):
        first = t * TILE
        size = min(TILE, len(numbers) - first)
        fill_tile(exponents, unit, first, size, work, terms)
        spread_tile(fields, places, first, size, terms)
        np.dot(light, terms, shading)
        fit_tile(shading, numbers, scale, channels, first, size, work, albedo, misfit)


@numba.njit(inline="always", **_OPTIONS)
def _turn_tile(unit, length, camera, pixels, first, size, own, turned, along):
    """Normals of a tile, and how both slopes turn them."""
    for j in range(size):
        i = first + j
        own[j] = length[i]
        for k in range(3):
            turned[k, j] = unit[k, i]
        px, pz, qy, qz = tilts(camera, pixels, i)
        fill_turns(px, pz, qy, qz, turned, own, j, along[0], along[1])


@loop(_OPTIONS, over="every", grain=1)
def _passes(
    begin, end, every, exponents, unit, length, camera, pixels, fields, places, light, numbers,
    scale, weight, channels, albedo, change, p, q, blocks, slope, gathered, kept_terms,
    kept_shades, linearises,
):  # fmt: skip
    """What `linearise` and `normal_product` do: most of it is the same, and is compiled once."""
    size_k = len(exponents)
    filled = np.empty((3, size_k, TILE), np.float32)
    own = np.empty((3, len(light), TILE), np.float32)
    moved = np.empty((len(light), TILE), np.float32)
    work = np.empty((WORK, TILE), np.float32)
    turned, along = np.empty((3, TILE), np.float32), np.empty((2, 3, TILE), np.float32)
    part = np.empty((size_k, len(light)), np.float32)
    for n in range(begin, end):
        if len(gathered):
            _clear(gathered[n])
        for t in range(every[n, 0], every[n, 1]):
            first = t * TILE
            size = min(TILE, len(albedo) - first)
            shades = kept_shades[t] if len(kept_shades) else own
            terms = filled[0]
            if linearises or not len(kept_terms):
                _turn_tile(unit, length, camera, pixels, first, size, work[0], turned, along)
                shade_tile(
                    exponents, turned, along, fields, places, light, first, size, work, filled,
                    shades,
                )  # fmt: skip
            else:
                terms = kept_terms[t]
            if linearises:
                if len(kept_terms):
                    _copy(terms, kept_terms[t])
                linearise_tile(
                    numbers, scale, shades, weight, channels, albedo, first, size, work, blocks,
                    slope, moved,
                )  # fmt: skip
            else:
                np.dot(change, terms, moved)
                _product_tile(
                    shades, moved, weight, channels, albedo, p, q, first, size, work, slope
                )
            if len(gathered):
                np.dot(terms, moved.T, part)
                _add(part, gathered[n])


def linearise(*args: Any) -> None:
    """Blocks uu, uv, vv (3, P) and gradient (2, P) in the slopes; w ρ r gathered for the light.

    What is gathered is (passes, K, photos), or nothing if that is empty. Monomials (tiles, K, TILE)
    and shades (tiles, 3, photos, TILE) are kept unless these are empty.

    Args:
        args: exponents, unit, length, camera, pixels, fields, places, light, numbers, scale,
            weight, channels, albedo, blocks, slope, gathered, kept_terms, kept_shades.
    """
    *at, weight, channels, albedo, blocks, slope, gathered, kept_terms, kept_shades = args
    light = at[7]  # stands in for changes, which there are none of
    _passes(
        passes(len(albedo)), *at, weight, channels, albedo, light, weight, weight, blocks, slope,
        gathered, kept_terms, kept_shades, True,
    )  # fmt: skip


def normal_product(*args: Any) -> None:
    """Jᵀ W J applied to changes of slopes (p, q) and of the monomials' light (photos, K).

    Gives the gradient (2, P) in the slopes and, gathered pass by pass, that in the light. Monomials
    and shades that `linearise` did not keep are computed again.

    Args:
        args: exponents, unit, length, camera, pixels, fields, places, light, numbers, scale,
            weight, channels, albedo, kept_terms, kept_shades, change, p, q, slope, gathered. The
            gradient may be written over p and q.
    """
    *at, weight, channels, albedo, kept_terms, kept_shades, change, p, q, slope, gathered = args
    _passes(
        passes(len(albedo)), *at, weight, channels, albedo, change, p, q, slope, slope, gathered,
        kept_terms, kept_shades, False,
    )  # fmt: skip


@loop(_OPTIONS, over="out", grain=8)
def _summed(begin, end, gathered, out):
    for k in range(begin, end):
        row = out[k]
        for c in range(len(row)):
            row[c] = 0
        for n in range(len(gathered)):
            own = gathered[n, k]
            for c in range(len(row)):
                row[c] += own[c]


def summed(gathered: Float[np.ndarray, "n K c"]) -> Float[np.ndarray, "K c"]:
    """The sum over all passes, in float64."""
    out = np.empty(gathered.shape[1:])
    _summed(gathered, out)
    return out

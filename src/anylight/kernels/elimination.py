r"""Residuals with the albedo eliminated, and their derivatives, in one pass over the pixels.

At a pixel and channel the photos form a vector J, the shading a vector S; the best albedo is
ρ = S·J / S·S and leaves the residual r = ρ S − J, perpendicular to S. Changes of slopes and light
act through their part perpendicular to S (Kaufman's form of variable projection):
$\delta r = \rho\,P_\perp\,(\delta S)$.

Every pass works tile by tile: monomials of the normals, shading as a matrix product, the pixels'
own sums, and another product that gathers what the light gets. A tile's arrays are (photos of all
channels, TILE), so that pixels lie side by side.
"""

import numpy as np
from jaxtyping import Float

from anylight.compiler import numba
from anylight.threads import loop

from .monomials import TILE, fill_tile, fill_tile_with_slopes, spread_tile

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_TINY = 1e-20
_TILES = 8
"""Tiles of a pass, whose sums over pixels are in float32."""
PASS = _TILES * TILE
"""Pixels of a pass."""


def num_passes(num: int) -> int:
    """How many passes so many pixels take."""
    return -(-num // PASS)


def padded(num: int) -> int:
    """How many tiles the passes over so many pixels have."""
    return num_passes(num) * _TILES


@loop(_OPTIONS, over="photos", step=PASS, grain=1)
def residuals(begin, end, exponents, unit, fields, places, light, photos, channels, albedo, misfit):
    """Best albedo (P, C), not negative, and squared residual (P) of every pixel.

    Light is that of the monomials, (photos of all channels, K).
    """
    each = len(light) // channels
    terms = np.empty((len(exponents), TILE), np.float32)
    shading = np.empty((len(light), TILE), np.float32)
    shot = np.empty((each, TILE), np.float32)
    ss, si, total = (
        np.empty(TILE, np.float32),
        np.empty(TILE, np.float32),
        np.empty(TILE, np.float32),
    )
    for t in range(begin * _TILES, end * _TILES):
        first = t * TILE
        size = min(TILE, len(photos) - first)
        if size <= 0:
            break
        fill_tile(exponents, unit, first, size, terms)
        spread_tile(fields, places, first, size, terms)
        np.dot(light, terms, shading)
        total[:] = 0
        for c in range(channels):
            ss[:] = _TINY
            si[:] = 0
            for k in range(each):
                s, i = shading[c * each + k], shot[k]
                for j in range(size):
                    i[j] = photos[first + j, c * each + k]
                for j in range(size):
                    ss[j] += s[j] * s[j]
                    si[j] += s[j] * i[j]
            for j in range(size):
                si[j] = max(si[j] / ss[j], np.float32(0))
            for j in range(size):
                albedo[first + j, c] = si[j]
            for k in range(each):
                s, i = shading[c * each + k], shot[k]
                for j in range(size):
                    r = si[j] * s[j] - i[j]
                    total[j] += r * r
        for j in range(size):
            misfit[first + j] = total[j]


@numba.njit(**_OPTIONS)
def _copy(given, out):
    for k in range(len(out)):
        for j in range(out.shape[1]):
            out[k, j] = given[k, j]


@numba.njit(**_OPTIONS)
def _add(given, out):
    for k in range(len(out)):
        for j in range(out.shape[1]):
            out[k, j] += given[k, j]


@numba.njit(**_OPTIONS)
def _shade(exponents, unit, along_p, along_q, fields, places, light, first, size, terms, shades):
    """Monomials (3, K, TILE) and shading (3, photos, TILE) of a tile: values, by p, by q."""
    fill_tile_with_slopes(exponents, unit, along_p, along_q, first, size, terms)
    for k in range(3):
        spread_tile(fields, places, first, size, terms[k])
        np.dot(light, terms[k], shades[k])


@numba.njit(**_OPTIONS)
def _linearise_tile(photos, shades, weight, channels, albedo, first, size, blocks, slope, source):
    each = shades.shape[1] // channels
    zero = np.zeros(TILE, np.float32)
    uu, uv, vv, gu, gv = zero.copy(), zero.copy(), zero.copy(), zero.copy(), zero.copy()
    for c in range(channels):
        ss, sa, sb = zero + np.float32(_TINY), zero.copy(), zero.copy()
        aa, ab, bb = zero.copy(), zero.copy(), zero.copy()
        ar, br, rho, shot, strength = np.zeros((5, TILE), np.float32)
        for j in range(size):
            rho[j] = albedo[first + j, c]
        for j in range(size):
            strength[j] = weight[first + j] * rho[j]
        for k in range(c * each, (c + 1) * each):
            s, a, b, out = shades[0, k], shades[1, k], shades[2, k], source[k]
            for j in range(size):
                shot[j] = photos[first + j, k]
            for j in range(size):
                ss[j] += s[j] * s[j]
                sa[j] += s[j] * a[j]
                sb[j] += s[j] * b[j]
                aa[j] += a[j] * a[j]
                ab[j] += a[j] * b[j]
                bb[j] += b[j] * b[j]
                r = rho[j] * s[j] - shot[j]
                ar[j] += a[j] * r
                br[j] += b[j] * r
                out[j] = strength[j] * r
            out[size:] = 0
        for j in range(size):
            square = rho[j] * rho[j]
            uu[j] += square * (aa[j] - sa[j] * sa[j] / ss[j])
            uv[j] += square * (ab[j] - sa[j] * sb[j] / ss[j])
            vv[j] += square * (bb[j] - sb[j] * sb[j] / ss[j])
            gu[j] += rho[j] * ar[j]
            gv[j] += rho[j] * br[j]
    for j in range(size):
        w = weight[first + j]
        blocks[0, first + j] = w * uu[j]
        blocks[1, first + j] = w * uv[j]
        blocks[2, first + j] = w * vv[j]
        slope[0, first + j] = w * gu[j]
        slope[1, first + j] = w * gv[j]


@loop(_OPTIONS, over="photos", step=PASS, grain=1)
def linearise(
    begin, end, exponents, unit, along_p, along_q, fields, places, light, photos, weight, channels,
    albedo, blocks, slope, gathered, kept_terms, kept_shades,
):  # fmt: skip
    """Blocks uu, uv, vv (3, P) and gradient (2, P) in the slopes; w ρ r gathered for the light.

    What is gathered is (passes, K, photos), or nothing if that is empty. Monomials (tiles, K, TILE)
    and shades (tiles, 3, photos, TILE) are kept unless these are empty.
    """
    size_k = len(exponents)
    terms = np.empty((3, size_k, TILE), np.float32)
    own = np.empty((3, len(light), TILE), np.float32)
    source = np.empty((len(light), TILE), np.float32)
    part = np.empty((size_k, len(light)), np.float32)
    for t in range(begin * _TILES, end * _TILES):
        first = t * TILE
        size = min(TILE, len(photos) - first)
        if len(gathered) and t % _TILES == 0:
            gathered[t // _TILES] = 0
        if size <= 0:
            break
        shades = kept_shades[t] if len(kept_shades) else own
        _shade(exponents, unit, along_p, along_q, fields, places, light, first, size, terms, shades)
        if len(kept_terms):
            _copy(terms[0], kept_terms[t])
        _linearise_tile(
            photos, shades, weight, channels, albedo, first, size, blocks, slope, source
        )
        if len(gathered):
            np.dot(terms[0], source.T, part)
            _add(part, gathered[t // _TILES])


@numba.njit(**_OPTIONS)
def _product_tile(shades, change, weight, channels, albedo, p, q, first, size, slope):
    """Turn a change of shading by light into w ρ δr, in place; fill the gradient in the slopes."""
    each = shades.shape[1] // channels
    zero = np.zeros(TILE, np.float32)
    gu, gv, pj, qj = zero.copy(), zero.copy(), zero.copy(), zero.copy()
    for j in range(size):
        pj[j] = p[first + j]
        qj[j] = q[first + j]
    for c in range(channels):
        ss, st, strength = zero + np.float32(_TINY), zero.copy(), zero.copy()
        for k in range(c * each, (c + 1) * each):
            s, a, b, y = shades[0, k], shades[1, k], shades[2, k], change[k]
            for j in range(size):
                moved = y[j] + pj[j] * a[j] + qj[j] * b[j]
                y[j] = moved
                ss[j] += s[j] * s[j]
                st[j] += s[j] * moved
        for j in range(size):
            rho = albedo[first + j, c]
            st[j] /= ss[j]
            strength[j] = weight[first + j] * rho * rho
        for k in range(c * each, (c + 1) * each):
            s, a, b, y = shades[0, k], shades[1, k], shades[2, k], change[k]
            for j in range(size):
                moved = strength[j] * (y[j] - st[j] * s[j])
                y[j] = moved
                gu[j] += a[j] * moved
                gv[j] += b[j] * moved
            y[size:] = 0
    for j in range(size):
        slope[0, first + j] = gu[j]
        slope[1, first + j] = gv[j]


@loop(_OPTIONS, over="p", step=PASS, grain=1)
def normal_product(
    begin, end, exponents, unit, along_p, along_q, fields, places, light, weight, channels, albedo,
    kept_terms, kept_shades, change, p, q, slope, gathered,
):  # fmt: skip
    """Jᵀ W J applied to changes of slopes (p, q) and of the monomials' light (photos, K).

    Gives the gradient (2, P) in the slopes and, gathered pass by pass, that in the light. Monomials
    and shades that `linearise` did not keep are computed again.
    """
    size_k = len(exponents)
    filled = np.empty((3, size_k, TILE), np.float32)
    own = np.empty((3, len(change), TILE), np.float32)
    moved = np.empty((len(change), TILE), np.float32)
    part = np.empty((size_k, len(change)), np.float32)
    for t in range(begin * _TILES, end * _TILES):
        first = t * TILE
        size = min(TILE, len(p) - first)
        if t % _TILES == 0:
            gathered[t // _TILES] = 0
        if size <= 0:
            break
        if len(kept_terms):
            terms, shades = kept_terms[t], kept_shades[t]
        else:
            terms, shades = filled[0], own
            _shade(
                exponents, unit, along_p, along_q, fields, places, light, first, size, filled, own
            )
        np.dot(change, terms, moved)
        _product_tile(shades, moved, weight, channels, albedo, p, q, first, size, slope)
        np.dot(terms, moved.T, part)
        _add(part, gathered[t // _TILES])


def summed(gathered: Float[np.ndarray, "n K c"]) -> Float[np.ndarray, "K c"]:
    """The sum over all passes."""
    return np.asarray(gathered.sum(axis=0, dtype=np.float64))

"""The kernels compiled for the processor: tiles of pixels, one stream over the photos per call.

Arithmetic is float32, sums over pixels are float64. Tiles and partial sums do not depend on the
number of threads, so neither does any result. Weights and Jacobians exist only in registers.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from anylight.compiler import numba
from anylight.kernels.order_two import pixel
from anylight.kernels.order_two.basis import MONOMIALS, NUM_FIRST, polynomial, products
from anylight.kernels.order_two.protocol import AlbedoSystem, DepthSystem, LightingSystem, Snapshot
from anylight.threads import loop

TILE = 256
_CHUNKS = 64
"""Partial sums of the lighting pass."""
_OPTIONS = {"fastmath": True, "error_model": "numpy", "boundscheck": False}
_PASS = {"cache": True, **_OPTIONS}

shade = numba.njit(inline="always", **_OPTIONS)(pixel.shade)
shade_slope = numba.njit(inline="always", **_OPTIONS)(pixel.shade_slope)
shade_from_slope = numba.njit(inline="always", **_OPTIONS)(pixel.shade_from_slope)
cauchy_weight = numba.njit(inline="always", **_OPTIONS)(pixel.cauchy_weight)


@loop(_PASS, over="photos", grain=4)
def _energy(begin, end, photos, scale, n, rho, a, inverse_square, total):
    """Σ log(1 + r²/λ²): one logarithm per pixel and 32 observations, of their product."""
    num = photos.shape[1]
    channels = rho.shape[0]
    one = np.float32(1)
    work = np.empty((2, TILE))
    log, product = work[0], work[1]
    for t in range(begin, end):
        for p in range(TILE):
            log[p], product[p] = 0.0, 1.0
        x, y, z = n[0, t], n[1, t], n[2, t]
        for k in range(num):
            r_c, stored = rho[k % channels, t], photos[t, k]
            for p in range(TILE):
                r = r_c[p] * shade(a, k, x[p], y[p], z[p]) - scale * np.float32(stored[p])
                product[p] *= one + r * r * inverse_square
            if k % 32 == 31 or k == num - 1:
                for p in range(TILE):
                    log[p] += np.log(product[p])
                    product[p] = 1.0
        for p in range(TILE):
            total[t] += log[p]


@loop(_PASS, over="photos", grain=4)
def _albedo(begin, end, photos, scale, n, rho, a, inverse_square, diagonal, source):
    num = photos.shape[1]
    channels = rho.shape[0]
    one = np.float32(1)
    for t in range(begin, end):
        x, y, z = n[0, t], n[1, t], n[2, t]
        for c in range(channels):
            r_c, square, mixed = rho[c, t], diagonal[c, t], source[c, t]
            for p in range(TILE):
                square[p] = mixed[p] = 0
            for k in range(c, num, channels):
                stored = photos[t, k]
                for p in range(TILE):
                    s = shade(a, k, x[p], y[p], z[p])
                    value = scale * np.float32(stored[p])
                    r = r_c[p] * s - value
                    w = s * cauchy_weight(r, inverse_square, one)
                    square[p] += w * s
                    mixed[p] += w * value


@loop(_PASS, over="photos", grain=4)
def _depth(begin, end, photos, scale, n, rho, a, inverse_square, blocks, source):
    num = photos.shape[1]
    channels = rho.shape[0]
    one, half = np.float32(1), np.float32(0.5)
    sums = np.empty((9, TILE), np.float32)
    for t in range(begin, end):
        for k in range(9):
            for p in range(TILE):
                sums[k, p] = 0
        x, y, z = n[0, t], n[1, t], n[2, t]
        for k in range(num):
            r_c, stored = rho[k % channels, t], photos[t, k]
            a0, a1, a2, a3 = a[k, 0], a[k, 1], a[k, 2], a[k, 3]
            a4, a5, a6, a7, a8 = a[k, 4], a[k, 5], a[k, 6], a[k, 7], a[k, 8]
            for p in range(TILE):
                gx, gy, gz = shade_slope(a1, a2, a3, a4, a5, a6, a7, a8, x[p], y[p], z[p])
                s = shade_from_slope(a0, a1, a2, a3, gx, gy, gz, x[p], y[p], z[p], half)
                r = r_c[p] * s - scale * np.float32(stored[p])
                q = r_c[p] * cauchy_weight(r, inverse_square, one)
                wr = q * r
                q *= r_c[p]
                qx, qy, qz = q * gx, q * gy, q * gz
                sums[0, p] += qx * gx
                sums[1, p] += qx * gy
                sums[2, p] += qx * gz
                sums[3, p] += qy * gy
                sums[4, p] += qy * gz
                sums[5, p] += qz * gz
                sums[6, p] += wr * gx
                sums[7, p] += wr * gy
                sums[8, p] += wr * gz
        for k in range(9):
            own, out = sums[k], blocks[k, t] if k < 6 else source[k - 6, t]
            for p in range(TILE):
                out[p] = own[p]


@numba.njit(inline="always", **_OPTIONS)
def _accumulate(table, first, weight, second, into_first, into_second, at):
    """Add five moments of two observations at once."""
    zero = np.float32(0)
    s0, s1, s2, s3, s4 = zero, zero, zero, zero, zero
    u0, u1, u2, u3, u4 = zero, zero, zero, zero, zero
    m0, m1, m2, m3, m4 = (
        table[first],
        table[first + 1],
        table[first + 2],
        table[first + 3],
        table[first + 4],
    )
    for p in range(TILE):
        v, w, a, b, c, d, e = weight[p], second[p], m0[p], m1[p], m2[p], m3[p], m4[p]
        s0 += v * a
        s1 += v * b
        s2 += v * c
        s3 += v * d
        s4 += v * e
        u0 += w * a
        u1 += w * b
        u2 += w * c
        u3 += w * d
        u4 += w * e
    into_first[at] += s0
    into_first[at + 1] += s1
    into_first[at + 2] += s2
    into_first[at + 3] += s3
    into_first[at + 4] += s4
    into_second[at] += u0
    into_second[at + 1] += u1
    into_second[at + 2] += u2
    into_second[at + 3] += u3
    into_second[at + 4] += u4


@loop(_PASS, over="moments", grain=1)
def _moments(begin, end, photos, scale, n, rho, a, inverse_square, exponents, moments):
    """Moments Σ w ρ² m of 25 monomials and Σ w ρ I m of ten, for every observation.

    Products of harmonics of order two are polynomials of degree four: 25 moments replace 45.
    """
    tiles, num = photos.shape[0], photos.shape[1]
    channels = rho.shape[0]
    one = np.float32(1)
    table = np.empty((25, TILE), np.float32)
    weights = np.empty((4, TILE), np.float32)
    for chunk in range(begin, end):
        for t in range(chunk * tiles // _CHUNKS, (chunk + 1) * tiles // _CHUNKS):
            x, y, z = n[0, t], n[1, t], n[2, t]
            for m in range(25):
                row = table[m]
                for p in range(TILE):
                    row[p] = one
                for _ in range(exponents[m, 0]):
                    for p in range(TILE):
                        row[p] *= x[p]
                for _ in range(exponents[m, 1]):
                    for p in range(TILE):
                        row[p] *= y[p]
                for _ in range(exponents[m, 2]):
                    for p in range(TILE):
                        row[p] *= z[p]
            for k in range(0, num, 2):
                for side in range(2):
                    o = k + side
                    square, mixed = weights[side], weights[2 + side]
                    if o < num:
                        r_c, stored = rho[o % channels, t], photos[t, o]
                        for p in range(TILE):
                            value = scale * np.float32(stored[p])
                            r = r_c[p] * shade(a, o, x[p], y[p], z[p]) - value
                            q = r_c[p] * cauchy_weight(r, inverse_square, one)
                            square[p] = q * r_c[p]
                            mixed[p] = q * value
                    else:
                        for p in range(TILE):
                            square[p] = mixed[p] = 0
                ma, mb = moments[chunk, k], moments[chunk, k + 1]
                for at in range(0, 35, 5):
                    first, pair = (at, 0) if at < 25 else (at - 25, 2)
                    _accumulate(table, first, weights[pair], weights[pair + 1], ma, mb, at)


class Packed(NamedTuple):
    """Photos tile by tile: (tiles, M·C, TILE), zero past the last pixel."""

    tiles: np.ndarray
    num_pixels: int


class CpuKernels:
    """numba on all cores."""

    def __init__(self) -> None:
        self._exponents = np.array(MONOMIALS)

    def pack(self, photos: Iterable[np.ndarray], num: int) -> Packed:
        """Lay out photos tile by tile; each is dropped as soon as it is copied.

        Photos of 8 bit are laid out as 16 bit: the passes take no longer, and are compiled once.
        """
        packed, size = np.zeros((0, 0, TILE), np.uint8), 0
        for index, photo in enumerate(photos):
            channels, size = photo.shape
            tiles = -(-size // TILE)
            if index == 0:
                dtype = np.promote_types(photo.dtype, np.uint16)
                packed = np.zeros((tiles, num * channels, TILE), dtype)
            whole = size // TILE
            rows = slice(index * channels, (index + 1) * channels)
            body = photo[:, : whole * TILE].reshape(channels, whole, TILE)
            packed[:whole, rows] = np.moveaxis(body, 0, 1)
            if whole < tiles:
                packed[whole, rows, : size - whole * TILE] = photo[:, whole * TILE :]
        return Packed(packed, size)

    def photometric_energy(self, snapshot: Snapshot) -> float:
        """Σ λ² log(1 + r²/λ²)."""
        total = np.zeros(len(snapshot.photos.tiles))
        _energy(*self._arguments(snapshot), total)
        return float(snapshot.cauchy_scale**2 * total.sum())

    def albedo_system(self, snapshot: Snapshot) -> AlbedoSystem:
        """Σ w s², Σ w s I over photos."""
        tiles = len(snapshot.photos.tiles)
        diagonal = np.empty((snapshot.albedo.shape[0], tiles, TILE), np.float32)
        source = np.empty_like(diagonal)
        _albedo(*self._arguments(snapshot), diagonal, source)
        size = snapshot.photos.num_pixels
        return AlbedoSystem(_untile(diagonal, size), _untile(source, size))

    def lighting_system(self, snapshot: Snapshot) -> LightingSystem:
        """Σ w ρ² h hᵀ, Σ w ρ I h over pixels."""
        num, channels, _ = snapshot.lighting.shape
        chunks = np.zeros((_CHUNKS, num * channels + 1, 35))
        _moments(*self._arguments(snapshot), self._exponents, chunks)
        moments = chunks.sum(axis=0)[:-1].reshape(num, channels, 35)
        square, single = products()
        gram = np.einsum("abm,icm->icab", square, moments[:, :, :25])
        source = np.einsum("am,icm->ica", single, moments[:, :, 25 : 25 + NUM_FIRST])
        return LightingSystem(gram, source)

    def depth_system(self, snapshot: Snapshot) -> DepthSystem:
        """Σ w ρ² g gᵀ, Σ w ρ r g over photos and channels."""
        tiles = len(snapshot.photos.tiles)
        blocks = np.empty((6, tiles, TILE), np.float32)
        source = np.empty((3, tiles, TILE), np.float32)
        _depth(*self._arguments(snapshot), blocks, source)
        size = snapshot.photos.num_pixels
        return DepthSystem(_untile(blocks, size), _untile(source, size))

    def _arguments(self, snapshot: Snapshot) -> tuple[object, ...]:
        coefficients = polynomial(snapshot.lighting).reshape(-1, 9).astype(np.float32)
        return (
            snapshot.photos.tiles,
            np.float32(snapshot.scale),
            _tile(snapshot.normals),
            _tile(snapshot.albedo),
            coefficients,
            np.float32(1 / snapshot.cauchy_scale**2),
        )


def _tile(values: np.ndarray) -> np.ndarray:
    """(A, P) to (A, tiles, TILE) in float32, zero past the last pixel."""
    size = values.shape[1]
    tiles = -(-size // TILE)
    padded = np.empty((values.shape[0], tiles * TILE), np.float32)
    padded[:, :size] = values
    padded[:, size:] = 0
    return padded.reshape(-1, tiles, TILE)


def _untile(values: np.ndarray, size: int) -> np.ndarray:
    """(A, tiles, TILE) to (A, P)."""
    return values.reshape(values.shape[0], -1)[:, :size]

"""Harmonics as polynomials that are cheap to evaluate for many normals at once.

On the sphere the even harmonics up to an even degree d are the homogeneous polynomials of degree d
(x² + y² + z² = 1 makes up for lower ones), so an order's functions are x, y, z and all x^a y^b z^c
with a + b + c = d. `Basis.matrix` turns these monomials into the orthonormal harmonics.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float, Int

from anylight.photometry.harmonics import harmonics, num_harmonics
from anylight.threads import numba

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_TOP = 7
_TILE = 256


@dataclass(frozen=True, eq=False)
class Basis:
    """The monomials of an order."""

    order: int
    exponents: Int[np.ndarray, "K 3"]
    matrix: Float[np.ndarray, "K K"]
    """harmonics = matrix · monomials."""

    @property
    def size(self) -> int:
        """Number K of functions."""
        return len(self.exponents)


@cache
def basis(order: int) -> Basis:
    """Monomials and their matrix, found by fitting the harmonics on random directions."""
    even = order if order % 2 == 0 else 0
    linear = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    powers = [(a, b, even - a - b) for a in range(even + 1) for b in range(even + 1 - a)]
    exponents = np.array(linear + powers if order else powers)
    points = np.random.default_rng(0).standard_normal((40 * len(exponents), 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    table = np.prod(points[:, None, :] ** exponents, axis=2)
    matrix = np.linalg.lstsq(table, harmonics(points, order), rcond=None)[0].T
    assert len(exponents) == num_harmonics(order)
    return Basis(order, exponents, matrix)


@numba.njit(parallel=True, **_OPTIONS)
def evaluate(exponents, unit, out):
    """Monomials (K, P) of unit normals (3, P), in float32."""
    num = unit.shape[1]
    for t in numba.prange((num + _TILE - 1) // _TILE):
        begin = t * _TILE
        size = min(_TILE, num - begin)
        powers = np.ones((3, _TOP, _TILE), np.float32)
        for axis in range(3):
            values = unit[axis, begin : begin + size]
            for k in range(1, _TOP):
                into, before = powers[axis, k], powers[axis, k - 1]
                for j in range(size):
                    into[j] = before[j] * np.float32(values[j])
        for k in range(len(exponents)):
            x, y = powers[0, exponents[k, 0]], powers[1, exponents[k, 1]]
            z, row = powers[2, exponents[k, 2]], out[k, begin : begin + size]
            for j in range(size):
                row[j] = x[j] * y[j] * z[j]


@numba.njit(parallel=True, **_OPTIONS)
def evaluate_with_slopes(exponents, unit, along_p, along_q, out, out_p, out_q):
    """Monomials (K, P) and their derivatives along two changes (3, P) of the normal."""
    num = unit.shape[1]
    for t in numba.prange((num + _TILE - 1) // _TILE):
        begin = t * _TILE
        size = min(_TILE, num - begin)
        powers = np.ones((3, _TOP, _TILE), np.float32)
        turns = np.empty((6, _TILE), np.float32)
        for axis in range(3):
            values = unit[axis, begin : begin + size]
            for k in range(1, _TOP):
                into, before = powers[axis, k], powers[axis, k - 1]
                for j in range(size):
                    into[j] = before[j] * np.float32(values[j])
            first, second = turns[axis], turns[3 + axis]
            p, q = along_p[axis, begin : begin + size], along_q[axis, begin : begin + size]
            for j in range(size):
                first[j] = np.float32(p[j])
                second[j] = np.float32(q[j])
        px, py, pz, qx, qy, qz = turns
        for k in range(len(exponents)):
            a, b, c = exponents[k, 0], exponents[k, 1], exponents[k, 2]
            x, y, z = powers[0, a], powers[1, b], powers[2, c]
            dx, dy, dz = (
                powers[0, max(a - 1, 0)],
                powers[1, max(b - 1, 0)],
                powers[2, max(c - 1, 0)],
            )
            fa, fb, fc = np.float32(a), np.float32(b), np.float32(c)
            row = out[k, begin : begin + size]
            row_p, row_q = out_p[k, begin : begin + size], out_q[k, begin : begin + size]
            for j in range(size):
                yz = y[j] * z[j]
                gx = fa * dx[j] * yz
                gy = fb * dy[j] * x[j] * z[j]
                gz = fc * dz[j] * x[j] * y[j]
                row[j] = x[j] * yz
                row_p[j] = gx * px[j] + gy * py[j] + gz * pz[j]
                row_q[j] = gx * qx[j] + gy * qy[j] + gz * qz[j]

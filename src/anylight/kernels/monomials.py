"""Harmonics as polynomials that are cheap to evaluate for many normals at once.

On the sphere the even harmonics up to an even degree d are the homogeneous polynomials of degree d
(x² + y² + z² = 1 makes up for lower ones), so an order's functions are x, y, z and all x^a y^b z^c
with a + b + c = d. `Basis.matrix` turns these monomials into the orthonormal harmonics.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float, Int

from anylight.compiler import numba
from anylight.photometry.harmonics import harmonics, num_harmonics
from anylight.photometry.near import near_response
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_TOP = 9
TILE = 1024
"""Pixels whose monomials lie together, so that matrix products run on all threads."""
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Basis:
    """The monomials of an order."""

    order: int
    exponents: Int[np.ndarray, "K 3"]
    matrix: Float[np.ndarray, "K k"]
    """harmonics = matrix · monomials."""
    fields: Int[np.ndarray, " k"] | None = None
    """By which function of the place (see `place_fields`) a monomial is multiplied; 0: by none.
    None where light is the same everywhere."""

    @property
    def size(self) -> int:
        """Number of monomials."""
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


_FIELD_ORDERS = (4, 4, 4, 2, 2, 2, 2, 2, 2)
"""Order up to which light changes with x, y, z and their products."""
_REACH = (0.5, 0.5, 0.35)
"""Half sizes of the box, in object sizes, in which the change is right."""


def place_fields(places: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "9 n"]:
    """Functions of the place that light may change with: x, y, z and their products."""
    x, y, z = np.clip(places, -1, 1).T
    return np.stack([x, y, z, x * x, x * y, x * z, y * y, y * z, z * z]).astype(np.float32)


@cache
def near_basis(order: int, closeness: float) -> Basis:
    """Monomials of normals and places whose sums are `near_response`, found by fitting it."""
    parts = [basis(order), *(basis(min(own, order)) for own in _FIELD_ORDERS)]
    exponents = np.concatenate([part.exponents for part in parts])
    fields = np.concatenate([np.full(part.size, k) for k, part in enumerate(parts)])
    rng, num = np.random.default_rng(0), 12 * len(exponents)
    points = rng.standard_normal((num, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    places = rng.uniform(-1, 1, (num, 3)) * _REACH
    values = np.concatenate([np.ones((1, num)), place_fields(places)])
    table = np.prod(points[:, None, :] ** exponents, axis=2) * values[fields].T
    wanted = near_response(points, places, order, closeness)
    matrix = np.linalg.lstsq(table, wanted, rcond=1e-9)[0].T
    return Basis(order, exponents, np.ascontiguousarray(matrix), fields)


def num_tiles(num: int) -> int:
    """How many tiles hold so many pixels."""
    return -(-num // TILE)


def flat(tiles: Float[np.ndarray, "g K t"], num: int) -> Float[np.ndarray, "K n"]:
    """Tiles laid side by side."""
    return np.concatenate(list(tiles), axis=1)[:, :num]


@numba.njit(inline="always", **_OPTIONS)
def _fill_powers(values, begin, size, powers):
    for k in range(1, _TOP):
        into, before = powers[k], powers[k - 1]
        for j in range(size):
            into[j] = before[j] * np.float32(values[begin + j])


@loop(_OPTIONS, over="out", grain=1)
def evaluate(begin, end, exponents, unit, out):
    """Monomials of unit normals (3, P), in tiles (G, K, TILE) of float32; zero beyond the last."""
    num = unit.shape[1]
    for t in range(begin, end):
        powers = np.ones((3, _TOP, _BLOCK), np.float32)
        for start in range(0, TILE, _BLOCK):
            begin = t * TILE + start
            size = max(0, min(_BLOCK, num - begin))
            for axis in range(3):
                _fill_powers(unit[axis], begin, size, powers[axis])
            for k in range(len(exponents)):
                x, y = powers[0, exponents[k, 0]], powers[1, exponents[k, 1]]
                z, row = powers[2, exponents[k, 2]], out[t, k, start : start + _BLOCK]
                for j in range(size):
                    row[j] = x[j] * y[j] * z[j]
                row[size:] = 0


@loop(_OPTIONS, over="out", grain=1)
def evaluate_with_slopes(begin, end, exponents, unit, along_p, along_q, out, out_p, out_q):
    """Monomials and their derivatives along two changes (3, P) of the normal, in tiles."""
    num = unit.shape[1]
    for t in range(begin, end):
        powers = np.ones((3, _TOP, _BLOCK), np.float32)
        turns = np.empty((6, _BLOCK), np.float32)
        for start in range(0, TILE, _BLOCK):
            begin = t * TILE + start
            size = max(0, min(_BLOCK, num - begin))
            for axis in range(3):
                _fill_powers(unit[axis], begin, size, powers[axis])
                for j in range(size):
                    turns[axis, j] = np.float32(along_p[axis, begin + j])
                    turns[3 + axis, j] = np.float32(along_q[axis, begin + j])
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
                row = out[t, k, start : start + _BLOCK]
                row_p = out_p[t, k, start : start + _BLOCK]
                row_q = out_q[t, k, start : start + _BLOCK]
                for j in range(size):
                    yz = y[j] * z[j]
                    gx = fa * dx[j] * yz
                    gy = fb * dy[j] * x[j] * z[j]
                    gz = fc * dz[j] * x[j] * y[j]
                    row[j] = x[j] * yz
                    row_p[j] = gx * px[j] + gy * py[j] + gz * pz[j]
                    row_q[j] = gx * qx[j] + gy * qy[j] + gz * qz[j]
                row[size:] = 0
                row_p[size:] = 0
                row_q[size:] = 0


@loop(_OPTIONS, over="tiles", grain=1)
def spread(begin, end, fields, places, tiles):
    """Multiply monomials (G, K, TILE) by their functions of the place (9, P), in place."""
    num = places.shape[1]
    for t in range(begin, end):
        size = max(0, min(TILE, num - t * TILE))
        for k in range(len(fields)):
            if fields[k] > 0:
                row, field = tiles[t, k], places[fields[k] - 1]
                for j in range(size):
                    row[j] *= field[t * TILE + j]


@loop(_OPTIONS, over="tiles", grain=1)
def shade(begin, end, tiles, coefficients, out):
    """Sum up the monomials: out (G · TILE, c) = tilesᵀ · coefficients (K, c)."""
    for t in range(begin, end):
        np.dot(tiles[t].T, coefficients, out[t * TILE : (t + 1) * TILE])


@loop(_OPTIONS, over="tiles", grain=1)
def _gather(begin, end, tiles, source, out):
    for t in range(begin, end):
        np.dot(tiles[t], source[t * TILE : (t + 1) * TILE], out[t])


def gather(
    tiles: Float[np.ndarray, "g K t"], source: Float[np.ndarray, "n c"]
) -> Float[np.ndarray, "K c"]:
    """Sum over all pixels of monomials times source, which is zero beyond the last pixel."""
    out = np.empty((len(tiles), tiles.shape[1], source.shape[1]), np.float32)
    _gather(tiles, source, out)
    return np.asarray(out.sum(axis=0, dtype=np.float64))


def near_terms(
    unit: Float[np.ndarray, "3 n"], fields: Float[np.ndarray, "9 n"], order: int, closeness: float
) -> Float[np.ndarray, "n A"]:
    """The functions of `near_basis` at some pixels: what the solver takes for `near_response`."""
    own = near_basis(order, closeness)
    tiles = np.empty((num_tiles(unit.shape[1]), own.size, TILE), np.float32)
    evaluate(own.exponents, np.ascontiguousarray(unit, np.float32), tiles)
    spread(own.fields, np.ascontiguousarray(fields), tiles)
    return flat(tiles, unit.shape[1]).T @ own.matrix.T

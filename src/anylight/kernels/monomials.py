"""Harmonics as polynomials that are cheap to evaluate for many normals at once.

On the sphere the even harmonics up to an even degree d are the homogeneous polynomials of degree d
(x² + y² + z² = 1 makes up for lower ones), so an order's functions are x, y, z and all x^a y^b z^c
with a + b + c = d. `Basis.matrix` turns these monomials into the orthonormal harmonics.
"""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from jaxtyping import Float, Int

from anylight.compiler import numba
from anylight.photometry.harmonics import degrees, harmonics, num_harmonics
from anylight.photometry.near import light_at
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_TOP = 9
TILE = 256
"""Pixels that are computed together: all that belongs to them stays in a core's own cache."""
_TURN = 3 * _TOP
WORK = _TURN + 6
"""Rows of memory that filling a tile takes: powers of three coordinates, two changes of them."""


@dataclass(frozen=True, eq=False)
class Basis:
    """The monomials of an order."""

    order: int
    exponents: Int[np.ndarray, "K 3"]
    matrix: Float[np.ndarray, "K k"]
    """harmonics = matrix · monomials."""
    fields: Int[np.ndarray, " k"] = field(default_factory=lambda: np.empty(0, np.int64))
    """By which function of the place (see `place_fields`) a monomial is multiplied; 0: by none.
    Empty where light is the same everywhere."""

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


_FIELD_DEGREE = 3
"""Light may change with products of so many coordinates of the place."""
_REACH = (0.5, 0.5, 0.35)
"""Half sizes of the box, in object sizes, in which the change is right."""
_NODES = 4
"""Places per axis of that box at which it is computed."""


def _field_powers() -> list[tuple[int, int, int]]:
    """Exponents of the functions of the place."""
    return [
        (a, b, degree - a - b)
        for degree in range(1, _FIELD_DEGREE + 1)
        for a in range(degree, -1, -1)
        for b in range(degree - a, -1, -1)
    ]


def place_fields(places: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "F n"]:
    """Functions of the place that light may change with: x, y, z, products of two and of three."""
    x, y, z = np.clip(places, -1, 1).T
    return np.stack([x**a * y**b * z**c for a, b, c in _field_powers()]).astype(np.float32)


@cache
def near_basis(order: int, closeness: float) -> Basis:
    """Monomials of normals and places whose sums are `near_response`.

    The light at the places of a grid is `light_at`; polynomials of the place are fitted to it. The
    more coordinates of the place are multiplied, the lower the harmonics that change with them.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = np.stack(np.meshgrid(nodes, nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 3)
    places *= _REACH
    weight = np.sqrt(np.einsum("i,j,k->ijk", weights, weights, weights)).reshape(-1, 1)
    powers = [(0, 0, 0), *_field_powers()]
    table = weight * np.prod(places[:, None, :] ** np.array(powers), axis=2)
    orders = np.array([min(order, max(order + 2 - 2 * sum(own), 2)) for own in powers])
    wanted = weight[:, :, None] * light_at(places, order, closeness)
    light = np.zeros((len(powers), *wanted.shape[1:]))
    first = 0
    for degree in degrees(order):
        last, used = first + 2 * degree + 1, orders >= degree
        right = wanted[:, first:last].reshape(len(places), -1)
        found = np.linalg.lstsq(table[:, used], right, rcond=None)[0]
        light[used, first:last] = found.reshape(-1, last - first, wanted.shape[2])
        first = last
    parts = [basis(int(own)) for own in orders]
    exponents = np.concatenate([part.exponents for part in parts])
    fields = np.concatenate([np.full(part.size, k) for k, part in enumerate(parts)])
    matrix = [own[: part.size].T @ part.matrix for own, part in zip(light, parts, strict=True)]
    return Basis(order, exponents, np.ascontiguousarray(np.concatenate(matrix, axis=1)), fields)


def num_tiles(num: int) -> int:
    """How many tiles hold so many pixels."""
    return -(-num // TILE)


EVERYWHERE = np.empty((0, 0), np.float32)
"""No functions of the place: light is the same everywhere."""


def flat(tiles: Float[np.ndarray, "g K t"], num: int) -> Float[np.ndarray, "K n"]:
    """Tiles laid side by side."""
    return np.concatenate(list(tiles), axis=1)[:, :num]


# What follows is compiled as part of the loops that call it: by itself it would be compiled once
# more for nobody; but for `fill_tile`, which serves several loops and is compiled once for all.
# Loops over single numbers compile faster than assignments to slices.


@numba.njit(inline="always", **_OPTIONS)
def load_tile(values, first, size, out):
    """Numbers of `size` pixels from `first` on, and zeros up to a whole tile."""
    for j in range(size):
        out[j] = values[first + j]
    for j in range(size, TILE):
        out[j] = 0


@numba.njit(inline="always", **_OPTIONS)
def _fill_powers(size, work):
    """Powers of three coordinates, whose first are there; all are zero beyond the last pixel."""
    for axis in range(3):
        into, own = work[axis * _TOP], work[axis * _TOP + 1]
        for j in range(TILE):
            into[j] = 1 if j < size else 0
        for k in range(2, _TOP):
            into, before = work[axis * _TOP + k], work[axis * _TOP + k - 1]
            for j in range(TILE):
                into[j] = before[j] * own[j]


@numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)
def fill_tile(exponents, unit, first, size, work, out):
    """Monomials (K, TILE) of `size` pixels from `first` on; zero beyond them.

    Unit normals are (3, P) and float32; `work` is (WORK, TILE).
    """
    for axis in range(3):
        load_tile(unit[axis], first, size, work[axis * _TOP + 1])
    _fill_powers(size, work)
    for k in range(len(exponents)):
        x, y = work[exponents[k, 0]], work[_TOP + exponents[k, 1]]
        z, row = work[2 * _TOP + exponents[k, 2]], out[k]
        for j in range(TILE):
            row[j] = x[j] * y[j] * z[j]


@numba.njit(inline="always", **_OPTIONS)
def fill_tile_with_slopes(exponents, unit, along_p, along_q, first, size, work, out):
    """Monomials (3, K, TILE) and their derivatives along two changes (3, P) of the normal."""
    for k in range(9):
        axis = k % 3
        given = unit[axis] if k < 3 else along_p[axis] if k < 6 else along_q[axis]
        load_tile(given, first, size, work[axis * _TOP + 1 if k < 3 else _TURN - 3 + k])
    _fill_powers(size, work)
    px, py, pz = work[_TURN], work[_TURN + 1], work[_TURN + 2]
    qx, qy, qz = work[_TURN + 3], work[_TURN + 4], work[_TURN + 5]
    for k in range(len(exponents)):
        a, b, c = exponents[k, 0], exponents[k, 1], exponents[k, 2]
        x, y, z = work[a], work[_TOP + b], work[2 * _TOP + c]
        dx = work[a - 1 if a > 0 else 0]
        dy = work[_TOP + (b - 1 if b > 0 else 0)]
        dz = work[2 * _TOP + (c - 1 if c > 0 else 0)]
        fa, fb, fc = np.float32(a), np.float32(b), np.float32(c)
        row, row_p, row_q = out[0, k], out[1, k], out[2, k]
        for j in range(TILE):
            xj, yj, zj = x[j], y[j], z[j]
            gx = fa * dx[j] * (yj * zj)
            gy = fb * dy[j] * xj * zj
            gz = fc * dz[j] * xj * yj
            row[j] = xj * (yj * zj)
            row_p[j] = gx * px[j] + gy * py[j] + gz * pz[j]
            row_q[j] = gx * qx[j] + gy * qy[j] + gz * qz[j]


@numba.njit(inline="always", **_OPTIONS)
def spread_tile(fields, places, first, size, out):
    """Multiply monomials (K, TILE) by their functions of the place (F, P), in place."""
    for k in range(len(fields)):
        if fields[k] > 0:
            row, field = out[k], places[fields[k] - 1]
            for j in range(size):
                row[j] *= field[first + j]


@loop(_OPTIONS, over="out", grain=4)
def evaluate(begin, end, exponents, unit, fields, places, out):
    """Monomials of unit normals (3, P), in tiles (G, K, TILE) of float32; zero beyond the last."""
    work = np.empty((WORK, TILE), np.float32)
    for t in range(begin, end):
        first, tile = t * TILE, out[t]
        size = max(0, min(TILE, unit.shape[1] - first))
        fill_tile(exponents, unit, first, size, work, tile)
        spread_tile(fields, places, first, size, tile)


@loop(_OPTIONS, over="out", axis=1, step=TILE, grain=4)
def _combine(begin, end, exponents, unit, amounts, out):
    work, terms = np.empty((WORK, TILE), np.float32), np.empty((len(exponents), TILE), np.float32)
    found = np.empty((len(amounts), TILE), np.float32)
    for t in range(begin, end):
        first = t * TILE
        size = min(TILE, unit.shape[1] - first)
        fill_tile(exponents, unit, first, size, work, terms)
        np.dot(amounts, terms, found)
        for k in range(len(amounts)):
            for j in range(size):
                out[k, first + j] = found[k, j]


def combine(
    amounts: Float[np.ndarray, "c k"], unit: Float[np.ndarray, "3 n"], order: int
) -> Float[np.ndarray, "c n"]:
    """Sums of so much of every harmonic of an order, at unit normals."""
    own, out = basis(order), np.empty((len(amounts), unit.shape[1]), np.float32)
    unit = np.ascontiguousarray(unit, np.float32)
    _combine(own.exponents, unit, np.ascontiguousarray(amounts @ own.matrix, np.float32), out)
    return out


def near_terms(
    unit: Float[np.ndarray, "3 n"], fields: Float[np.ndarray, "F n"], order: int, closeness: float
) -> Float[np.ndarray, "n A"]:
    """The functions of `near_basis` at some pixels: what the solver takes for `near_response`."""
    own = near_basis(order, closeness)
    tiles = np.empty((num_tiles(unit.shape[1]), own.size, TILE), np.float32)
    unit, fields = (np.ascontiguousarray(part, np.float32) for part in (unit, fields))
    evaluate(own.exponents, unit, own.fields, fields, tiles)
    return flat(tiles, unit.shape[1]).T @ own.matrix.T

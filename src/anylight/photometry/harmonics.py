r"""Real spherical harmonics of the half-cosine kernel, and their derivative.

The half-cosine $\max(\omega\cdot n, 0)$ has no odd degree above one, so an order L uses the
degrees 0, 1, 2, 4, 6, 8 up to L: 1, 4, 9, 18, 31 or 48 functions. They are orthonormal on the
sphere, ordered by degree l, then by m = −l … l, without the Condon-Shortley sign:
Y_1 = √(3/4π)·(y, z, x).

Off the sphere each function is its solid harmonic $r^l Y_{lm}$, a polynomial in (x, y, z);
derivatives are those of that polynomial.
"""

import math
from collections.abc import Iterable
from functools import cache

import numpy as np
from jaxtyping import Bool, Float

from anylight.arrays import Vectors

DEGREES = (0, 1, 2, 4, 6, 8)
"""Degrees that the half-cosine lets through; also the orders on offer."""


@cache
def degrees(order: int) -> tuple[int, ...]:
    """Degrees used at an order."""
    if order not in DEGREES:
        raise ValueError(f"order must be one of {DEGREES}, not {order}")
    return tuple(degree for degree in DEGREES if degree <= order)


@cache
def num_harmonics(order: int) -> int:
    """Number K of functions at an order: 1, 4, 9, 18, 31, 48."""
    return sum(2 * degree + 1 for degree in degrees(order))


def order_of(num: int) -> int:
    """Order whose number of harmonics is K."""
    for order in DEGREES:
        if num_harmonics(order) == num:
            return order
    raise ValueError(f"{num} is not a number of harmonics; 1, 4, 9, 18, 31 and 48 are")


def half_cosine(degree: int) -> float:
    r"""Coefficient $k_l$ by which the half-cosine scales degree l (Funk-Hecke)."""
    if degree == 1:
        return 2 * math.pi / 3
    if degree % 2:
        return 0.0
    sign = -1 if (degree // 2) % 2 == 0 else 1
    binomial = math.comb(degree, degree // 2) / 2**degree
    return sign * 2 * math.pi * binomial / ((degree + 2) * (degree - 1))


def half_cosines(order: int) -> Float[np.ndarray, " K"]:
    """k_l of every harmonic of an order."""
    return np.array([half_cosine(degree) for degree in degrees(order) for _ in _orders(degree)])


def _orders(degree: int) -> range:
    return range(-degree, degree + 1)


@cache
def norm(degree: int, m: int) -> float:
    """What makes a harmonic of length one on the sphere."""
    ratio = math.factorial(degree - abs(m)) / math.factorial(degree + abs(m))
    return math.sqrt((2 * degree + 1) / (4 * math.pi) * ratio * (2 if m else 1))


def _solid_legendre(
    z: np.ndarray, square: np.ndarray, top: int
) -> dict[tuple[int, int], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """r^(l−m) P_lm(z/r) / sin^m as polynomials of z and s = r²: value, d/dz, d/ds."""
    zero = np.zeros_like(z)
    table = {}
    for m in range(top + 1):
        diagonal = zero + float(math.prod(range(1, 2 * m, 2)))
        table[m, m] = (diagonal, zero, zero)
        if m < top:
            table[m + 1, m] = ((2 * m + 1) * z * diagonal, (2 * m + 1) * diagonal, zero)
        for degree in range(m + 2, top + 1):
            a, b = (2 * degree - 1) / (degree - m), (degree + m - 1) / (degree - m)
            (f, fz, fs), (g, gz, gs) = table[degree - 1, m], table[degree - 2, m]
            table[degree, m] = (
                a * z * f - b * square * g,
                a * (f + z * fz) - b * square * gz,
                a * z * fs - b * (g + square * gs),
            )
    return table


def _legendre(z: np.ndarray, square: np.ndarray, top: int) -> dict[tuple[int, int], np.ndarray]:
    """The values of `_solid_legendre`."""
    table = {}
    for m in range(top + 1):
        table[m, m] = np.full_like(z, float(math.prod(range(1, 2 * m, 2))))
        if m < top:
            table[m + 1, m] = (2 * m + 1) * z * table[m, m]
        for degree in range(m + 2, top + 1):
            a, b = (2 * degree - 1) / (degree - m), (degree + m - 1) / (degree - m)
            table[degree, m] = a * z * table[degree - 1, m] - b * square * table[degree - 2, m]
    return table


def _azimuthal(x: np.ndarray, y: np.ndarray, top: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Real and imaginary part of (x + iy)^m."""
    powers = [(np.ones_like(x), np.zeros_like(x))]
    for _ in range(top):
        re, im = powers[-1]
        powers.append((x * re - y * im, x * im + y * re))
    return powers


def harmonics(normals: Vectors, order: int) -> Float[np.ndarray, "*n K"]:
    """Values of the harmonics of an order at normals."""
    return _values(normals, order, degrees(order))


def all_harmonics(directions: Vectors, order: int) -> Float[np.ndarray, "*n A"]:
    """Values of the harmonics of all degrees up to an order, those without any shading too."""
    return _values(directions, order, range(order + 1))


def some_harmonics(
    directions: Float[np.ndarray, "3 n"], wanted: tuple[int, ...]
) -> Float[np.ndarray, "A n"]:
    """Values of the harmonics of some degrees, in the precision of the directions."""
    return np.stack(_rows(directions, max(wanted), wanted))


def is_shading(order: int) -> Bool[np.ndarray, " A"]:
    """Which of `all_harmonics` are `harmonics`."""
    return np.array([d in degrees(order) for d in range(order + 1) for _ in _orders(d)])


def _values(points: Vectors, order: int, wanted: Iterable[int]) -> Float[np.ndarray, "*n k"]:
    return np.stack(_rows(np.moveaxis(points, -1, 0), order, wanted), axis=-1)


def _rows(
    points: Float[np.ndarray, "3 ..."], order: int, wanted: Iterable[int]
) -> list[np.ndarray]:
    x, y, z = points
    legendre = _legendre(z, x * x + y * y + z * z, order)
    power = _azimuthal(x, y, order)
    return [
        norm(degree, m) * legendre[degree, abs(m)] * power[abs(m)][0 if m >= 0 else 1]
        for degree in wanted
        for m in _orders(degree)
    ]


def d_harmonics(normals: Vectors, order: int) -> Float[np.ndarray, "*n K 3"]:
    """Derivative of `harmonics` by x, y and z."""
    x, y, z = np.moveaxis(normals, -1, 0)
    legendre = _solid_legendre(z, x * x + y * y + z * z, order)
    power = _azimuthal(x, y, order)
    rows = []
    for degree in degrees(order):
        for m in _orders(degree):
            value, by_z, by_s = legendre[degree, abs(m)]
            part = 0 if m >= 0 else 1
            angle = power[abs(m)][part]
            if m == 0:
                angle_x = angle_y = np.zeros_like(x)
            else:
                re, im = power[abs(m) - 1]
                angle_x, angle_y = (re, -im) if m > 0 else (im, re)
                angle_x, angle_y = abs(m) * angle_x, abs(m) * angle_y
            rows.append(
                norm(degree, m)
                * np.stack(
                    [
                        2 * x * by_s * angle + value * angle_x,
                        2 * y * by_s * angle + value * angle_y,
                        (2 * z * by_s + by_z) * angle,
                    ],
                    axis=-1,
                )
            )
    return np.stack(rows, axis=-2)

"""From orthonormal harmonics to the polynomials that the kernels evaluate, and back."""

import math
from functools import cache

import numpy as np
from jaxtyping import Float

from anylight.photometry.harmonics import harmonics, num_harmonics

MONOMIALS = (
    (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1),
    (2, 0, 0), (1, 1, 0), (0, 2, 0), (1, 0, 1), (0, 1, 1),
    (3, 0, 0), (2, 1, 0), (1, 2, 0), (0, 3, 0), (2, 0, 1), (1, 1, 1), (0, 2, 1),
    (4, 0, 0), (3, 1, 0), (2, 2, 0), (1, 3, 0), (0, 4, 0),
    (3, 0, 1), (2, 1, 1), (1, 2, 1), (0, 3, 1),
)  # fmt: skip
"""Exponents of x, y, z: on the sphere, all polynomials of degree four (z² = 1 − x² − y²).
The first nine span degree two."""
NUM_FIRST = 9


def polynomial(lighting: Float[np.ndarray, "*n K"]) -> Float[np.ndarray, "*n 9"]:
    """Coefficients of `pixel.shade` for a lighting of order one or two."""
    first, second = math.sqrt(3 / (4 * math.pi)), math.sqrt(15 / (4 * math.pi))
    padded = np.zeros((*lighting.shape[:-1], 9))
    padded[..., : lighting.shape[-1]] = lighting
    constant, y, z, x, xy, yz, zz, xz, xx_yy = np.moveaxis(padded, -1, 0)
    zz = zz * second / math.sqrt(12)
    return np.stack(
        [
            constant * math.sqrt(1 / (4 * math.pi)) - zz,
            x * first, y * first, z * first,
            xy * second, xz * second, yz * second, xx_yy * second / 2,
            3 * zz,
        ],
        axis=-1,
    )  # fmt: skip


@cache
def products() -> tuple[Float[np.ndarray, "9 9 25"], Float[np.ndarray, "9 9"]]:
    """Harmonics in monomials: h_a h_b = Σ first[a, b, m] · monomial m, h_a = Σ second[a, m]."""
    points = np.random.default_rng(0).standard_normal((400, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    x, y, z = points.T
    table = np.stack([x**a * y**b * z**c for a, b, c in MONOMIALS], axis=1)
    basis = harmonics(points, 2)
    num = num_harmonics(2)
    pairs = (basis[:, :, None] * basis[:, None, :]).reshape(len(points), -1)
    square = np.linalg.lstsq(table, pairs, rcond=None)[0].T.reshape(num, num, len(MONOMIALS))
    single = np.linalg.lstsq(table[:, :NUM_FIRST], basis, rcond=None)[0].T
    return square, single

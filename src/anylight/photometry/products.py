"""Products of harmonics as sums of harmonics of twice the order.

Sums over pixels of products of two harmonics are needed for every pair of photos. All products lie
in one space of little more than four times as many functions as there are harmonics, so it is
enough to sum these.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from jaxtyping import Float, Int

from .harmonics import degrees, harmonics, some_harmonics


@dataclass(frozen=True, eq=False)
class Products:
    """The products of the harmonics of an order."""

    wanted: tuple[int, ...]
    """Degrees that products are made of."""
    table: Float[np.ndarray, "A n"]
    """Amounts of these harmonics in every product of two."""
    place: Int[np.ndarray, "K K"]
    """Which column of the table belongs to two harmonics."""

    @cached_property
    def single(self) -> Float[np.ndarray, "A n"]:
        """The table in single precision."""
        return np.ascontiguousarray(self.table, np.float32)

    def functions(self, normals: Float[np.ndarray, "3 n"]) -> Float[np.ndarray, "A n"]:
        """Values of the harmonics that products are made of, in the normals' precision."""
        return some_harmonics(normals, self.wanted)


@cache
def products(order: int) -> Products:
    """Find the products of an order by a quadrature that is exact for them."""
    own = degrees(order)
    wanted = tuple(sorted({d for a in own for b in own for d in range(abs(a - b), a + b + 1, 2)}))
    heights, weights = np.polynomial.legendre.leggauss(2 * order + 1)
    num = 4 * order + 2
    angles = 2 * np.pi * np.arange(num) / num
    z, angle = (part.ravel() for part in np.meshgrid(heights, angles, indexing="ij"))
    flat = np.sqrt(1 - z**2)
    points = np.stack([flat * np.cos(angle), flat * np.sin(angle), z], axis=1)
    values = harmonics(points, order)
    first, second = np.triu_indices(values.shape[1])
    pairs = values[:, first] * values[:, second]
    weight = np.repeat(weights, num) * (2 * np.pi / num)
    table = (some_harmonics(points.T, wanted) * weight) @ pairs
    place = np.empty((values.shape[1],) * 2, np.int64)
    place[first, second] = place[second, first] = np.arange(len(first))
    return Products(wanted, table, place)

r"""Lamps that are near: light that changes from one side of an object to the other.

All lamps of a photo hang on a sphere around the object; *closeness* is the object's size over the
sphere's radius, so that far lamps have closeness zero. A point at x (in object sizes, from the
middle) gets light from $\omega - t x$, and by the square of the distance more or less of it:

$$\int \ell(\omega)\,\frac{\max((\omega - t x)\cdot n, 0)}{|\omega - t x|^3}\,d\omega$$

Seen from the middle nothing changes. Away from it odd degrees of the light, which far lamps hide,
begin to count.
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np
from jaxtyping import Float

from anylight.arrays import Vectors

from .environment import irradiance, texel_directions
from .harmonics import all_harmonics, half_cosine, half_cosines, harmonics, is_shading

_ROWS = 48
"""Rows of the maps that integrals are taken over."""
_NODES = 16
"""Rows of directions that integrals of harmonics are taken over."""
_LEAST = 0.02
"""Less light than this share of the mean says nothing about how it changes."""
_MOST = 10.0
"""Lamps that are looked for change light by less."""
_USUAL_RANGE = (1.0, 99.0)
"""Percentiles between which depths count for the size of an object."""


def relative_places(points: Float[np.ndarray, "P 3"]) -> Float[np.ndarray, "P 3"]:
    """Where points are, from the middle of the object, in object sizes (the longer side seen)."""
    middle, size = middle_and_size(points)
    return (points - middle) / size


def middle_and_size(points: Float[np.ndarray, "P 3"]) -> tuple[Float[np.ndarray, " 3"], float]:
    """Middle of the points and the longer side that is seen, both without unusual depths."""
    low, high = np.percentile(points[:, 2], _USUAL_RANGE)
    is_usual = (points[:, 2] >= low) & (points[:, 2] <= high)
    usual = points[is_usual] if is_usual.any() else points
    least, most = usual.min(axis=0), usual.max(axis=0)
    middle = (least + most) / 2
    middle[2] = np.median(points[:, 2])
    size = float((most - least)[:2].max())
    return middle, max(size, 1e-12)


@dataclass(frozen=True, eq=False)
class NearLight:
    """The light of every photo, from lamps that are near."""

    closeness: float
    """Size of the object over the distance of the lamps."""
    light: Float[np.ndarray, "M C A"]
    """Of `all_harmonics`."""

    @property
    def order(self) -> int:
        """Of the harmonics."""
        return isqrt(self.light.shape[2]) - 1


def brightening(
    near: NearLight, normals: Float[np.ndarray, "n 3"], response: Float[np.ndarray, "n A"]
) -> Float[np.ndarray, "M C n"]:
    """How many times more light reaches points than if they were in the middle of the object.

    Args:
        near: the light.
        normals: of the points.
        response: `near_response` of the points, or what stands for it.
    """
    here = near.light @ response.T
    middle = near.light[..., is_shading(near.order)] @ harmonics(normals, near.order).T
    least = _LEAST * np.abs(middle).mean(axis=2, keepdims=True) + 1e-12
    return np.clip(np.maximum(here, least) / np.maximum(middle, least), 1 / _MOST, _MOST)


def near_response(
    normals: Vectors, places: Float[np.ndarray, "n 3"], order: int, closeness: float
) -> Float[np.ndarray, "n A"]:
    """Shading by light of every one of `all_harmonics`, each scaled as `harmonics` are.

    At closeness zero, or in the middle, it is `harmonics`, and nothing for all other degrees.
    """
    directions = texel_directions(_ROWS, 2 * _ROWS)
    maps = np.moveaxis(all_harmonics(directions, order), -1, 0)[..., None] * light_scales(order)
    return irradiance(maps, normals, places=closeness * places)[:, 0].T


def light_at(
    places: Float[np.ndarray, "n 3"], order: int, closeness: float
) -> Float[np.ndarray, "n K A"]:
    """Shading at places as `harmonics` of the normal, by light of every one of `all_harmonics`.

    Up to the order; what the light of a degree adds to higher ones away from the middle is left
    out.
    """
    cosine, weight = np.polynomial.legendre.leggauss(_NODES)
    around = (np.arange(2 * _NODES) + 0.5) * np.pi / _NODES
    sine = np.sqrt(1 - cosine**2)[:, None]
    x, y, z = np.broadcast_arrays(sine * np.cos(around), sine * np.sin(around), cosine[:, None])
    lamps = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    power = np.repeat(weight, len(around))[:, None] * (np.pi / _NODES)
    source = power * all_harmonics(lamps, order) * light_scales(order).reshape(-1)
    towards = lamps - closeness * places[:, None, :]
    square = (towards**2).sum(axis=2, keepdims=True)
    seen = harmonics(towards / np.sqrt(square), order) * (half_cosines(order) / square)
    return np.einsum("ntk,ta->nka", seen, source, optimize=True)


def light_scales(order: int) -> Float[np.ndarray, "A 1 1 1"]:
    """What makes the shading of a harmonic the harmonic itself; odd ones like their neighbours."""
    own = [half_cosine(d) or half_cosine(d + 1) for d in range(order + 1) for _ in range(2 * d + 1)]
    return 1 / np.array(own)[:, None, None, None]

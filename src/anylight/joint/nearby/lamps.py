"""Light of near lamps without any expansion: many lamps on a sphere, each seen from every pixel.

The lamps carry the same harmonics as `photometry.near` does; a pixel at x sees a lamp in the
direction of ω − t x and gets light by the square of its distance.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.geometry.directions import even_directions
from anylight.photometry.harmonics import all_harmonics
from anylight.photometry.near import light_scales
from anylight.threads import chunks, in_parallel

NUM_LAMPS = 1024
"""Lamps that stand for harmonics on the sphere. (definition)"""
_ROWS = 512
"""Pixels whose products are made together. (memory)"""


@dataclass(frozen=True, eq=False)
class Changes:
    """How shading changes when a pixel turns, and when it moves."""

    by_unit: Float[np.ndarray, "3 P N"]
    by_place: Float[np.ndarray, "3 P N"]


class Lamps:
    """Lamps that carry all harmonics up to an order."""

    def __init__(self, order: int) -> None:
        directions = even_directions(NUM_LAMPS)
        power = 4 * np.pi / NUM_LAMPS * light_scales(order).reshape(-1)
        self._directions = directions.astype(np.float32)
        self._carried = (power * all_harmonics(directions, order)).astype(np.float32)

    def response(
        self, unit: Float[np.ndarray, "P 3"], place: Float[np.ndarray, "P 3"]
    ) -> Float[np.ndarray, "P A"]:
        """Shading by light of every harmonic (see `photometry.near.near_response`).

        Args:
            unit: normals of the pixels.
            place: where they are, in distances of the lamps.
        """
        out = np.empty((len(unit), self._carried.shape[1]), np.float32)

        def fill(some: slice) -> None:
            cosine, inverse = self._seen(unit[some], place[some])
            cosine *= inverse
            cosine *= inverse
            cosine *= inverse
            np.matmul(cosine, self._carried, out=out[some])

        in_parallel(fill, chunks(len(unit), _ROWS))
        return out

    def changes(
        self,
        unit: Float[np.ndarray, "P 3"],
        place: Float[np.ndarray, "P 3"],
        light: Float[np.ndarray, "A N"],
    ) -> Changes:
        """Derivatives of the shading by normals and places under a light."""
        strength = self._carried @ light.astype(np.float32)
        num = strength.shape[1]
        every = np.concatenate([strength, *self._along(strength)], axis=1)
        by_unit, by_place = np.empty((2, 3, len(unit), num), np.float32)

        def fill(some: slice) -> None:
            here, normal = place[some].astype(np.float32), unit[some].astype(np.float32)
            cosine, inverse = self._seen(normal, here)
            square = inverse * inverse
            falls = inverse * square
            falls[cosine <= 0] = 0
            cosine *= falls
            cosine *= 3 * square
            gives, fades = falls @ every, cosine @ every
            for a in range(3):
                own, at = slice((1 + a) * num, (2 + a) * num), here[:, a : a + 1]
                by_unit[a, some] = gives[:, own] - at * gives[:, :num]
                by_place[a, some] = fades[:, own] - at * fades[:, :num]
                by_place[a, some] -= normal[:, a : a + 1] * gives[:, :num]

        in_parallel(fill, chunks(len(unit), _ROWS))
        return Changes(by_unit, by_place)

    def _along(self, strength: Float[np.ndarray, "D N"]) -> Iterator[Float[np.ndarray, "D N"]]:
        for a in range(3):
            yield self._directions[:, a : a + 1] * strength

    def _seen(
        self, unit: Float[np.ndarray, "n 3"], place: Float[np.ndarray, "n 3"]
    ) -> tuple[Float[np.ndarray, "n D"], Float[np.ndarray, "n D"]]:
        """Cosines (none below zero) times the distances of all lamps, and inverse distances."""
        unit, place = unit.astype(np.float32), place.astype(np.float32)
        cosine = unit @ self._directions.T
        cosine -= (unit * place).sum(axis=1, keepdims=True)
        np.maximum(cosine, 0, out=cosine)
        square = place @ (-2 * self._directions.T)
        square += 1 + (place**2).sum(axis=1, keepdims=True)
        np.maximum(square, 1e-4, out=square)
        return cosine, 1 / np.sqrt(square)

"""Finite differences on a masked domain, each beside its adjoint.

Every stencil here is a weighted difference of two pixels,
(D x)_j = weight_j · (x[ahead_j] − x[behind_j]), so one class serves them all.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy import sparse

from anylight.arrays import PixelIndex

from .domain import ABSENT, Domain

Axis = Literal["u", "v"]


@dataclass(frozen=True, eq=False)
class Difference:
    """One finite difference per pixel."""

    ahead: PixelIndex
    behind: PixelIndex
    weight: Float[np.ndarray, " P"]

    def apply(self, values: Float[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
        """D x."""
        return self.weight * (values[self.ahead] - values[self.behind])

    def adjoint(self, values: Float[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
        """Dᵀ y."""
        weighted = self.weight * values
        size = len(self.weight)
        ahead, behind = (np.bincount(i, weighted, size) for i in (self.ahead, self.behind))
        return (ahead - behind).astype(float)  # bincount of nothing is an integer

    def matrix(self) -> sparse.csr_matrix:
        """D as a sparse matrix."""
        size = len(self.weight)
        rows = np.arange(size)
        return sparse.csr_matrix(
            (
                np.concatenate([self.weight, -self.weight]),
                (np.concatenate([rows, rows]), np.concatenate([self.ahead, self.behind])),
            ),
            shape=(size, size),
        )


def _neighbours(domain: Domain, axis: Axis) -> tuple[PixelIndex, PixelIndex]:
    step = (1, 0) if axis == "u" else (0, 1)
    return domain.neighbour(*step), domain.neighbour(-step[0], -step[1])


def _between(ahead: PixelIndex, behind: PixelIndex) -> Difference:
    """Difference over the pixels that exist; a missing end is replaced by the pixel itself."""
    here = np.arange(len(ahead))
    span = (ahead != ABSENT).astype(int) + (behind != ABSENT)
    return Difference(
        ahead=np.where(ahead != ABSENT, ahead, here),
        behind=np.where(behind != ABSENT, behind, here),
        weight=1.0 / np.maximum(span, 1),
    )


def forward(domain: Domain, axis: Axis) -> Difference:
    """x[next] − x[here]; zero where the next pixel is missing (homogeneous Neumann)."""
    ahead, _ = _neighbours(domain, axis)
    return _between(ahead, np.full_like(ahead, ABSENT))


def forward_or_backward(domain: Domain, axis: Axis) -> Difference:
    """Forward where the next pixel exists, else backward, else zero."""
    ahead, behind = _neighbours(domain, axis)
    return _between(ahead, np.where(ahead == ABSENT, behind, ABSENT))


def central(domain: Domain, axis: Axis) -> Difference:
    """Half the difference of both neighbours; one-sided at the rim, zero with none."""
    return _between(*_neighbours(domain, axis))

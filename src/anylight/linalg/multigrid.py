"""Geometric multigrid for nine-point stencils on a masked grid.

Coarse operators are Galerkin products with bilinear interpolation, which needs no knowledge of the
mask beyond the stencil itself: a node is active where its centre coefficient is positive.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float

from . import stencil

GridArray: TypeAlias = Float[np.ndarray, "h w"]

_SMALLEST = 100
"""A level with this many nodes is solved directly."""
_ALONE = 65536
"""Levels of up to so many nodes are not worth several threads and run in one compiled call."""
_DAMPING = 0.8
_STABLE = 1.9
"""Jacobi's method converges if its divisor exceeds half the row's sum of sizes: never fall short,
or strongly anisotropic operators make the cycle indefinite."""
_INACTIVE = 1e-7
"""Nodes whose centre is below this share of the largest do not take part."""


class Stencil(NamedTuple):
    """A symmetric nine-point operator (see `stencil`)."""

    centre: np.ndarray
    right: np.ndarray
    down: np.ndarray
    down_right: np.ndarray
    down_left: np.ndarray

    def astype(self, dtype: type) -> "Stencil":
        """Convert all coefficients."""
        return Stencil(*(np.ascontiguousarray(part, dtype) for part in self))

    def multiply(self, x: GridArray, out: GridArray) -> float:
        """Compute out = A x; return x · A x."""
        return stencil.multiply(*self, x, out)

    def dense(self) -> Float[np.ndarray, "n n"]:
        """The matrix over all grid nodes, for small grids and tests."""
        height, width = self.centre.shape
        matrix = np.diag(self.centre.ravel().astype(float))
        for part, (di, dj) in zip(self[1:], ((0, 1), (1, 0), (1, 1), (1, -1)), strict=True):
            for i in range(height - di):
                for j in range(max(0, -dj), width - max(0, dj)):
                    a, b = i * width + j, (i + di) * width + j + dj
                    matrix[a, b] = matrix[b, a] = part[i, j]
        return matrix


def coarsen(fine: Stencil) -> Stencil:
    """Pᵀ A P with bilinear interpolation P: coarse node (I, J) lies on fine node (2I−1, 2J−1)."""
    height, width = fine.centre.shape
    rows, columns = (height - 2) // 2 + 3, (width - 2) // 2 + 3
    padded = (np.pad(part, ((0, 1), (0, 1))) for part in fine)
    narrow = np.zeros((5, height + 1, columns), fine.centre.dtype)
    stencil.coarsen_columns(*padded, narrow)
    small = np.zeros((5, rows, columns), fine.centre.dtype)
    stencil.coarsen_rows(*narrow, small)
    return Stencil(*small)


class _Level(NamedTuple):
    operator: Stencil
    damped: GridArray
    inside: GridArray
    solution: GridArray
    spare: GridArray
    source: GridArray


class Multigrid:
    """One V(1,1)-cycle in float32 as an approximate inverse."""

    def __init__(self, operator: Stencil) -> None:
        self._levels: list[_Level] = []
        small: list[Stencil] = []
        operator = operator.astype(np.float32)
        while True:
            if operator.centre.size > _ALONE:
                self._levels.append(_level(operator))
            else:
                small.append(operator)
                if operator.centre.size <= _SMALLEST:
                    break
            operator = coarsen(operator)
        matrix = operator.dense()
        self._direct = np.linalg.pinv(matrix, rcond=1e-5, hermitian=True).astype(np.float32)
        self._small, self._places, first = _packed(small)
        self._levels.append(first)
        self._is_direct = len(small) == 1

    def __call__(self, source: GridArray) -> GridArray:
        """Apply the cycle; the returned array is overwritten by the next call."""
        self._levels[0].source[:] = source
        return self._cycle(0)

    def _cycle(self, depth: int) -> GridArray:
        level = self._levels[depth]
        x, spare = level.solution, level.spare
        if depth == len(self._levels) - 1:
            stencil.cycle(self._small, self._places, self._direct)
            return x if self._is_direct else spare
        np.multiply(level.damped, level.source, out=x)
        stencil.residual(*level.operator, x, level.source, spare)
        below = self._levels[depth + 1]
        stencil.restrict(spare, below.source)
        stencil.prolong(self._cycle(depth + 1), level.inside, x)
        stencil.relax(*level.operator, x, level.source, level.damped, spare)
        return spare


def _packed(operators: Sequence[Stencil]) -> tuple[np.ndarray, np.ndarray, _Level]:
    """Small levels in one array (see `stencil.cycle`), their places, and the first of them."""
    grids = [(*level.operator, *level[1:]) for level in map(_level, operators)]
    flat = np.concatenate([grid.ravel() for level in grids for grid in level])
    shape = operators[0].centre.shape
    first = flat[: stencil.GRIDS * operators[0].centre.size].reshape(stencil.GRIDS, *shape)
    sizes = [stencil.GRIDS * operator.centre.size for operator in operators]
    begins = np.cumsum([0, *sizes[:-1]])
    places = [(*own.centre.shape, begin) for own, begin in zip(operators, begins, strict=True)]
    return flat, np.array(places, np.int64), _Level(Stencil(*first[:5]), *first[5:])


def _row_sums(operator: Stencil) -> GridArray:
    """Sum of the sizes of all nine coefficients of every row."""
    _, right, down, down_right, down_left = (np.abs(part) for part in operator)
    sums = np.abs(operator.centre) + right + down + down_right + down_left
    sums[:, 1:] += right[:, :-1]
    sums[1:] += down[:-1]
    sums[1:, 1:] += down_right[:-1, :-1]
    sums[1:, :-1] += down_left[:-1, 1:]
    return sums


def _level(operator: Stencil) -> _Level:
    centre = operator.centre
    active = centre > _INACTIVE * centre.max(initial=0)
    slowness = np.maximum(centre / _DAMPING, _row_sums(operator) / _STABLE)
    damped = np.zeros_like(centre)
    np.divide(1, slowness, out=damped, where=active)
    zeros = (np.zeros_like(centre) for _ in range(3))
    return _Level(operator, damped, active.astype(centre.dtype), *zeros)

"""Geometric multigrid for nine-point stencils on a masked grid.

Coarse operators are Galerkin products. A node between two coarse ones takes from each as the
operator itself couples it to that side (Alcouffe, Brandt, Dendy and Painter 1981), first along
rows, then along columns: across a step of the surface, where couplings are weak, nothing is
interpolated, and a mask needs no care. A node is active where its centre coefficient is positive.
"""

import math
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float

from . import memory, stencil

GridArray: TypeAlias = Float[np.ndarray, "h w"]

_SMALLEST = 36
"""A level with this many nodes is solved directly."""
_ALONE = 16384
"""Levels of up to so many nodes are not worth several threads and run in one compiled call."""
_DAMPING = 0.8
_STABLE = 1.9
"""Jacobi's method converges if its divisor exceeds half the row's sum of sizes: never fall short,
or strongly anisotropic operators make the cycle indefinite."""
_FREE = 1e-5
"""Directions of the coarsest level below this share of the largest eigenvalue are left alone."""
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


class Shares(NamedTuple):
    """How nodes between coarse ones follow these: the interpolation P."""

    left: GridArray
    """Of the nodes between two coarse columns, row by row: share of the left one."""
    up: GridArray
    """Of the nodes between two coarse rows, at coarse columns: share of the upper one."""


def coarsen(fine: Stencil, room: memory.Room | None = None) -> tuple[Stencil, Shares]:
    """Pᵀ A P and P itself: coarse node (I, J) lies on fine node (2I−1, 2J−1)."""
    height = len(fine.centre)
    rows, columns = _coarser(fine.centre.shape)
    dtype = fine.centre.dtype
    left, up = (memory.framed((n, columns), dtype.type, 0.5, room) for n in (height, rows))
    small = memory.framed((5, rows, columns), dtype.type, room=room)
    _coarsened(fine, Shares(left, up), small)
    return Stencil(*small), Shares(left, up)


def _coarsened(fine: Stencil, shares: Shares, small: Float[np.ndarray, "5 _ _"]) -> None:
    """Fill in the shares, and the coarse operator; margins are there already."""
    left, up = shares
    stencil.share_columns(fine.right, fine.down_right, fine.down_left, left)
    shape = (5, len(fine.centre), small.shape[2])
    narrow = memory.framed(shape, small.dtype.type)  # let go at once
    stencil.coarsen_columns(*fine, left, narrow)
    between = Stencil(*narrow)
    stencil.share_rows(between.down, between.down_right, between.down_left, up)
    stencil.coarsen_rows(*between, up, small)


class _Level(NamedTuple):
    operator: Stencil
    damped: GridArray
    left: GridArray
    up: GridArray
    solution: GridArray
    spare: GridArray
    source: GridArray
    """Right-hand side; the finest level takes that of its caller."""


class Multigrid:
    """One V(1,1)-cycle in float32 as an approximate inverse."""

    def __init__(self, operator: Stencil, room: memory.Room | None = None) -> None:
        self._levels: list[_Level] = []
        operator = operator.astype(np.float32)
        while operator.centre.size > _ALONE:
            coarse, shares = coarsen(operator, room)
            self._levels.append(_level(operator, shares, room))
            operator = coarse
        self._small, self._places, first, coarsest = _built(operator, room)
        self._levels.append(first)
        self._direct = _inverse(coarsest.dense()).astype(np.float32)
        self._is_direct = len(self._places) == 1

    def __call__(self, source: GridArray) -> GridArray:
        """Apply the cycle; the returned array is overwritten by the next call."""
        if len(self._levels) == 1:
            self._levels[0].source[:] = source
        return self._cycle(0, np.ascontiguousarray(source, np.float32))

    def _cycle(self, depth: int, source: GridArray) -> GridArray:
        level = self._levels[depth]
        x, spare = level.solution, level.spare
        if depth == len(self._levels) - 1:
            stencil.cycle(self._small, self._places, self._direct)
            return x if self._is_direct else spare
        stencil.scale(level.damped, source, x)
        stencil.residual(*level.operator, x, source, level.damped, spare)
        below = self._levels[depth + 1]
        stencil.restrict(spare, level.left, level.up, below.source)
        found = self._cycle(depth + 1, below.source)
        stencil.prolong(found, level.damped, level.left, level.up, x)
        stencil.relax(*level.operator, x, source, level.damped, spare)
        return spare


def _coarser(shape: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of the next coarser grid, margins included."""
    return (shape[0] - 2) // 2 + 3, (shape[1] - 2) // 2 + 3


def _built(
    operator: Stencil, room: memory.Room | None
) -> tuple[np.ndarray, np.ndarray, _Level, Stencil]:
    """An operator and all coarser ones in one array (see `stencil.cycle`).

    Also their places in it, the first level, and the coarsest operator.
    """
    shapes = [operator.centre.shape]
    while math.prod(shapes[-1]) > _SMALLEST:
        shapes.append(_coarser(shapes[-1]))
    sizes = [stencil.GRIDS * height * width for height, width in shapes]
    begins = np.cumsum([0, *sizes])
    every = memory.filled((int(begins[-1]),), np.float32, room=room)
    grids = [
        every[begin : begin + size].reshape(stencil.GRIDS, *shape)
        for begin, size, shape in zip(begins, sizes, shapes, strict=False)
    ]
    grids[0][:5] = operator
    for fine, coarse in pairwise(grids):
        fine[6:8] = 0.5
        _coarsened(Stencil(*fine[:5]), Shares(fine[6], fine[7]), coarse[:5])
    for own in grids:
        _pace(Stencil(*own[:5]), own[5])
    places = np.array([(*shape, at) for shape, at in zip(shapes, begins, strict=False)], np.int64)
    first, last = grids[0], grids[-1]
    return every, places, _Level(Stencil(*first[:5]), *first[5:]), Stencil(*last[:5])


def _inverse(matrix: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Inverse where the matrix acts, zero elsewhere.

    Heights that are the same everywhere cost nothing, but for rounding, of either sign: answering
    to that would make the cycle indefinite.
    """
    size, axes = np.linalg.eigh(matrix)
    kept = size > _FREE * np.abs(size).max(initial=0)
    return (axes[:, kept] / size[kept]) @ axes[:, kept].T


def _level(operator: Stencil, shares: Shares, room: memory.Room | None) -> _Level:
    centre = operator.centre
    damped, *others = (memory.framed(centre.shape, centre.dtype.type, room=room) for _ in range(4))
    _pace(operator, damped)
    return _Level(operator, damped, *shares, *others)


def _pace(operator: Stencil, damped: GridArray) -> None:
    """Fill in what Jacobi's method multiplies with."""
    centre, scalar = operator.centre, operator.centre.dtype.type
    least, *paces = (
        scalar(value) for value in (_INACTIVE * centre.max(initial=0), _DAMPING, _STABLE)
    )
    stencil.pace(*operator, least, *paces, damped)

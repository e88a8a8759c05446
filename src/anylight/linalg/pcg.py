"""Preconditioned conjugate gradients, for whatever can be added, scaled and multiplied."""

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from . import memory, stencil
from .multigrid import GridArray, Stencil

Vector = TypeVar("Vector")


class VectorSpace(Protocol[Vector]):
    """What conjugate gradients do with vectors, in place."""

    def copy(self, a: Vector) -> Vector:
        """A vector of its own."""
        ...

    def dot(self, a: Vector, b: Vector) -> float:
        """Inner product."""
        ...

    def advance(self, along: float, p: Vector, ap: Vector, x: Vector, r: Vector) -> float:
        """Advance x += α p and r −= α A p; return |r|."""
        ...

    def combine(self, z: Vector, share: float, p: Vector) -> None:
        """Compute p = z + β p."""
        ...


class Descent(NamedTuple):
    """How conjugate gradients ended."""

    iterations: int
    residual: float
    """Size of b − A x."""
    relative: float
    """Size of the preconditioned residual, relative to the first."""


class Linear(NamedTuple, Generic[Vector]):
    """A symmetric matrix and an approximate inverse."""

    multiply: Callable[[Vector], tuple[Vector, float]]
    """p to A p and p · A p."""
    precondition: Callable[[Vector], Vector]


def descend(
    space: VectorSpace[Vector],
    system: Linear[Vector],
    x: Vector,
    r: Vector,
    max_iterations: int,
    residual: float = 0.0,
    relative: float = 0.0,
) -> Descent:
    """Minimise ½ x·A x − b·x from x, whose residual is r = b − A x; both are changed in place.

    Stops when the residual or the preconditioned one is small, or when rounding has eaten the
    curvature p · A p.

    Args:
        space: of the vectors.
        system: the matrix and its approximate inverse.
        x: where to start, and the answer.
        r: its residual.
        max_iterations: at most.
        residual: size of the residual that is enough.
        relative: size of the preconditioned residual that is enough, relative to the first.
    """
    z = system.precondition(r)
    p = space.copy(z)
    first = rz = space.dot(r, z)
    error, iteration = np.inf, 0
    while iteration < max_iterations:
        iteration += 1
        ap, curvature = system.multiply(p)
        if not curvature > 0:
            break
        error = space.advance(rz / curvature, p, ap, x, r)
        if error <= residual:
            break
        z = system.precondition(r)
        rz, before = space.dot(r, z), rz
        if not rz > relative**2 * first:
            break
        space.combine(z, rz / before, p)
    left = float(np.sqrt(max(rz, 0.0) / first)) if first > 0 else 0.0
    return Descent(iteration, error, left)


class Operator(Protocol):
    """A symmetric matrix on the grid."""

    def multiply(self, x: GridArray, out: GridArray) -> float:
        """Compute out = A x; return x · A x."""


class Solve(NamedTuple):
    """A solution and what it took."""

    solution: GridArray
    iterations: int
    relative_residual: float


class _GridSpace:
    """Arrays on the padded grid, all of one type."""

    def __init__(self, dtype: np.dtype, room: memory.Room | None) -> None:
        self._scalar, self._room = dtype.type, room

    def copy(self, a: GridArray) -> GridArray:
        return memory.copied(a, self._scalar, room=self._room)

    def dot(self, a: GridArray, b: GridArray) -> float:
        return stencil.dot(a, b)

    def advance(
        self, along: float, p: GridArray, ap: GridArray, x: GridArray, r: GridArray
    ) -> float:
        return float(np.sqrt(stencil.advance(self._scalar(along), p, ap, x, r)))

    def combine(self, z: GridArray, share: float, p: GridArray) -> None:
        stencil.combine(z, self._scalar(share), p)


def jacobi(operator: Stencil) -> Callable[[GridArray], GridArray]:
    """Divide by the diagonal: enough where the diagonal dominates."""
    inverse, found = memory.like(operator.centre), np.empty_like(operator.centre)
    np.divide(1, operator.centre, out=inverse, where=operator.centre > 0)

    def divide(r: GridArray) -> GridArray:
        stencil.scale(inverse, r, found)
        return found

    return divide


def pcg(
    operator: Operator,
    source: GridArray,
    precondition: Callable[[GridArray], GridArray],
    rtol: float,
    max_iterations: int = 200,
    start: GridArray | None = None,
    against: float | None = None,
    room: memory.Room | None = None,
) -> Solve:
    """Solve A x = b on the grid until |b − A x| ≤ rtol · |b|.

    What is added to a start has the type of the source; a start may be more exact.

    Args:
        operator: A.
        source: b.
        precondition: an approximate inverse.
        rtol: when to stop.
        max_iterations: steps at most.
        start: where to start, if not from zero.
        against: what residuals are measured against, if not |b|: of use where b is the little that
            earlier rounds have left.
        room: where memory comes from, that of the solution included.
    """
    x, r = memory.like(source, room), memory.copied(source, room=room)
    ap = memory.framed(source.shape, source.dtype.type, room=room)
    if start is not None:
        operator.multiply(start, ap)
        r -= ap
    size = float(np.sqrt(stencil.dot(source, source))) if against is None else against
    error = float(np.sqrt(stencil.dot(r, r)))
    if size == 0 or error <= rtol * size:
        found_already = x if start is None else start.copy()
        return Solve(found_already, 0, 0.0 if size == 0 else error / size)
    found = descend(
        _GridSpace(source.dtype, room),
        Linear(lambda p: (ap, operator.multiply(p, ap)), precondition),
        x,
        r,
        max_iterations,
        residual=rtol * size,
    )
    left = found.residual if np.isfinite(found.residual) else error
    return Solve(x if start is None else start + x, found.iterations, left / size)

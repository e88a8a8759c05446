"""Preconditioned conjugate gradients for stencils on the padded grid."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from . import stencil
from .multigrid import GridArray, Stencil


class Operator(Protocol):
    """A symmetric matrix."""

    def multiply(self, x: GridArray, out: GridArray) -> float:
        """Compute out = A x; return x · A x."""


class Solve(NamedTuple):
    """A solution and what it took."""

    solution: GridArray
    iterations: int
    relative_residual: float


def jacobi(operator: Stencil) -> Callable[[GridArray], GridArray]:
    """Divide by the diagonal: enough where the diagonal dominates."""
    inverse = np.zeros_like(operator.centre)
    np.divide(1, operator.centre, out=inverse, where=operator.centre > 0)
    return lambda r: inverse * r


def pcg(
    operator: Operator,
    source: GridArray,
    precondition: Callable[[GridArray], GridArray],
    rtol: float,
    max_iterations: int = 200,
    start: GridArray | None = None,
) -> Solve:
    """Solve A x = b until |b − A x| ≤ rtol · |b|.

    Stops early, with the last solution, when rounding has eaten the curvature p · A p.
    """
    scalar = source.dtype.type
    x = np.zeros_like(source) if start is None else start.copy()
    r = source.copy()
    ap = np.zeros_like(source)
    if start is not None:
        operator.multiply(x, ap)
        r -= ap
    size = np.sqrt(stencil.dot(source, source))
    error = np.sqrt(stencil.dot(r, r))
    if size == 0 or error <= rtol * size:
        return Solve(x, 0, 0.0 if size == 0 else error / size)
    z = precondition(r)
    p = z.astype(source.dtype)
    rz = stencil.dot(r, z)
    iteration = 0
    for iteration in range(1, max_iterations + 1):
        curvature = operator.multiply(p, ap)
        if not curvature > 0:
            break
        error = np.sqrt(stencil.advance(scalar(rz / curvature), p, ap, x, r))
        if error <= rtol * size:
            return Solve(x, iteration, error / size)
        z = precondition(r)
        rz, before = stencil.dot(r, z), rz
        if not rz > 0:
            break
        stencil.combine(z, scalar(rz / before), p)
    return Solve(x, iteration, error / size)

"""What else costs energy besides the photos: a term, and a term linearised at a surface.

A cost is a share of the photos' own energy, so that a term keeps its weight at every resolution
and noise. Terms add to what is there, so that a step makes no copies.
"""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import FacetGrid, Heights
from anylight.facets.modes import Modes
from anylight.joint.problem.fit import Fit


@runtime_checkable  # for the type checker of the tests
class LinearTerm(Protocol):
    """A term at a surface: half its gradient and half its curvature (Gauss-Newton's)."""

    def add_gradient(self, out: Heights) -> None:
        """Add half the derivative by every height."""
        ...

    def add_product(self, change: Heights, out: Heights) -> None:
        """Add half the curvature times a change of the surface."""
        ...

    def add_diagonal(self, out: Heights) -> None:
        """Add what a preconditioner may add to its diagonal: at most the rows' sums of sizes."""
        ...

    def stiffness(self, modes: Modes) -> Float[np.ndarray, "m m"]:
        """Half the curvature along smooth changes of the surface."""
        ...


@runtime_checkable
class Term(Protocol):
    """A cost of a surface at one resolution."""

    def cost(self, surface: Heights, unit: Float[np.ndarray, "3 P"]) -> float:
        """What a surface with these normals costs, as a share of the photos' energy."""
        ...

    def linearise(self, surface: Heights, fit: Fit, energy: float) -> LinearTerm:
        """The term at a surface, where the photos' energy is so much in all."""
        ...

    def halved(self, fine: FacetGrid, coarse: FacetGrid) -> "Term":
        """The same term at the next coarser resolution."""
        ...

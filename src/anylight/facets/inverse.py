"""Approximate inverse of a stencil of facets.

A facet's slopes are the differences along its two diagonals, so corners fall into two families,
like the fields of a chess board, that hardly know of each other. What is smooth in each but differs
between them alternates from corner to corner; a coarser grid cannot show it. Turning the sign of
every other corner makes it smooth: a second multigrid cycle takes care of it.
"""

import numpy as np

from anylight.facets.grid import Heights
from anylight.linalg import stencil
from anylight.linalg.multigrid import Multigrid, Stencil


class FacetInverse:
    """A multigrid cycle for smooth changes, and one for those that alternate."""

    def __init__(self, operator: Stencil) -> None:
        own = operator.astype(np.float32)
        turned = own._replace(right=-own.right, down=-own.down)
        self._smooth, self._alternating = Multigrid(own), Multigrid(turned)
        self._source = np.zeros_like(own.centre)

    def __call__(self, source: Heights) -> Heights:
        """Apply both; the returned array is overwritten by the next call."""
        found = self._smooth(source)
        stencil.alternate(source.astype(np.float32, copy=False), np.float32(0), self._source)
        stencil.alternate(self._alternating(self._source), np.float32(1), found)
        return found

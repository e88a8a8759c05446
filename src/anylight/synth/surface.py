"""What the renderer asks of a shape.

Object frame: x right, y up, z towards the viewer; the front faces +z.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float

Points = Float[np.ndarray, "n 3"]


@dataclass(frozen=True, eq=False)
class Hits:
    """Where rays first meet a surface; NaN where they do not."""

    points: Points
    normals: Points

    @property
    def is_hit(self) -> Bool[np.ndarray, " n"]:
        """Rays that met the surface."""
        return np.isfinite(self.points[:, 2])


@runtime_checkable  # for the type checker of the tests
class Surface(Protocol):
    """A shape that rays can meet."""

    @property
    def unit(self) -> float:
        """Length of one unit of the shape in the units of its file."""
        ...

    def samples(self) -> Points:
        """Points that span the shape as seen from the front, for framing."""
        ...

    def trace(self, origins: Points, directions: Points) -> Hits:
        """First intersections of rays with unit directions."""
        ...

"""Where the solver is."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class State:
    """Depth, albedo and lighting; a step makes a new one."""

    depth: Float[np.ndarray, " P"]
    albedo: Float[np.ndarray, "C P"]
    lighting: Float[np.ndarray, "M C K"]
    """Its last axis is the order: four harmonics or nine."""

"""What a competitor returns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from anylight.arrays import Lighting


@dataclass(frozen=True, eq=False)
class Estimate:
    """As much as a method gives, for the masked pixels; the rest is None."""

    normals: Float[np.ndarray, "P 3"]
    """Unit, camera frame; NaN where the method has none."""
    depth: Float[np.ndarray, " P"] | None = None
    """Where the method itself makes a depth; the others' normals are integrated."""
    albedo: Float[np.ndarray, "C P"] | None = None
    lighting: Lighting | None = None
    """Harmonic coefficients as everywhere else (k_l included), camera frame."""
    diagnostics: dict[str, Any] = field(default_factory=dict)
    """Plain values for the record."""
    warnings: tuple[str, ...] = ()

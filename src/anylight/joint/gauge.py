"""What photos of an orthographic camera cannot tell: relief and two tilts, and a prior for them.

Under parallel rays log-depth ζ and s·ζ + a·x + b·y explain the photos equally well (the bas-relief
ambiguity); perspective decides, but weakly behind a long lens. Objects that are seen whole tell a
little by themselves: a rim at one depth makes the mean normal face the viewer, and an object about
as deep as it is wide has a certain mean slant (eleven scanned and modelled sculptures: 0.65 to
0.77). The prior says so, at a weight that is a tiny share of the residual energy: where perspective
decides, it vanishes.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from .level import Level, Surface

Prior = Float[np.ndarray, "3 3"]
"""Cost of gauge strain, as a share of the residual energy: strainᵀ · prior · strain."""
TARGET = np.array([0.0, 0.0, -0.7])
"""Mean normal of a closed object, seen along every pixel's own ray: a ball has −2/3."""
SPREAD = np.array([0.1, 0.1, 0.05])
"""How far objects stray from it."""
FULL_WEIGHT = 3e-3
"""Share of the residual energy that one spread of strain costs while the photos say nothing."""
DECISIVE = 1e-3
"""Curvature, as a share of the residual energy per squared spread, below which the photos' own
preference is no better than the errors of the model."""


@dataclass(frozen=True, eq=False)
class GaugeKnowledge:
    """What the photos themselves say about tilt and relief."""

    curvature: Float[np.ndarray, "3 3"]
    """Rise of the energy with strain, everything else adapting, as a share of the energy."""

    def at_energy(self, ratio: float) -> "GaugeKnowledge":
        """The same where the residual energy is so many times smaller."""
        return GaugeKnowledge(self.curvature * ratio)

    def prior(self) -> Prior:
        """Full weight along what the photos leave open, vanishing along what they decide."""
        size, axes = np.linalg.eigh(self.curvature)
        weight = FULL_WEIGHT / (1 + (np.maximum(size, 0) / DECISIVE) ** 2)
        return (axes * weight) @ axes.T

    def spreads(self) -> Float[np.ndarray, " 3"]:
        """Standard deviation of every strain left by the photos, in spreads of the prior."""
        size, axes = np.linalg.eigh(self.curvature)
        variance = DECISIVE / np.maximum(size, 1e-3 * DECISIVE)
        return np.sqrt(np.einsum("ab,b,ab->a", axes, variance, axes))


def open_prior() -> Prior:
    """The prior while nothing is known."""
    return FULL_WEIGHT * np.eye(3)


def in_view(level: Level, vectors: Float[np.ndarray, "3 P"]) -> Float[np.ndarray, "3 P"]:
    """Turn the vectors of every pixel as its ray must turn to become the optical axis."""
    x, y, z = level.view
    a, b, c = vectors
    share = (y * a - x * b) / (1 + z)
    return np.stack([z * a - x * c + y * share, z * b - y * c - x * share, x * a + y * b + z * c])


def mean_normal(level: Level, unit: Float[np.ndarray, "3 P"]) -> Float[np.ndarray, " 3"]:
    """Mean over the pixels, as they count, each seen along its own ray."""
    return (in_view(level, unit) @ level.cover).astype(float) / level.cover.sum(dtype=float)


def strain(level: Level, unit: Float[np.ndarray, "3 P"]) -> Float[np.ndarray, " 3"]:
    """How many spreads the mean normal is away from its target."""
    return (mean_normal(level, unit) - TARGET) / SPREAD


def strain_gradient(
    level: Level, unit: Float[np.ndarray, "3 P"], length: Float[np.ndarray, " P"]
) -> list[Surface]:
    """Derivative of the three strains by the surface."""
    along_p, along_q = (in_view(level, turn) for turn in level.turns(unit, length))
    share = level.cover / level.cover.sum(dtype=float)
    return [
        level.scatter(
            share * along_p[axis] / SPREAD[axis], share * along_q[axis] / SPREAD[axis], np.float32
        )
        for axis in range(3)
    ]

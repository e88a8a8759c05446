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

from anylight.facets.grid import FacetGrid, Heights
from anylight.facets.modes import Modes
from anylight.joint.problem.fit import Fit
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import viewing
from anylight.linalg.stencil import add, dots

GaugeWeights = Float[np.ndarray, "3 3"]
"""Cost of gauge strain, as a share of the residual energy: strainᵀ · weights · strain."""
MEAN_FACING = 0.7
"""Mean cosine between the normals of a closed object and the rays to the camera: a ball has ⅔.
[cosine]"""
TILT_SPREAD = 0.1
"""How far the mean normals of objects stray sideways. [unit normals]"""
FACING_SPREAD = 0.05
"""How far the mean cosines of objects stray. [cosine]"""
FULL_WEIGHT = 3e-3
"""Share of the residual energy that one spread of strain costs while the photos say nothing.
[share]"""
DECISIVE = 1e-3
"""Curvature, as a share of the residual energy per squared spread, below which the photos' own
preference is no better than the errors of the model. [share]"""
_VAGUE = 1e-3
"""Share of the decisive curvature that counts as none. (guard)"""


def target() -> Float[np.ndarray, " 3"]:
    """Mean normal of a closed object, seen along every pixel's own ray."""
    return np.array([0.0, 0.0, -MEAN_FACING])


def spread() -> Float[np.ndarray, " 3"]:
    """How far the mean normals of objects stray from it."""
    return np.array([TILT_SPREAD, TILT_SPREAD, FACING_SPREAD])


@dataclass(frozen=True, eq=False)
class GaugeKnowledge:
    """What the photos themselves say about tilt and relief."""

    curvature: Float[np.ndarray, "3 3"]
    """Rise of the energy with strain, everything else adapting, as a share of the energy."""

    def at_energy(self, ratio: float) -> "GaugeKnowledge":
        """The same where the residual energy is so many times smaller."""
        return GaugeKnowledge(self.curvature * ratio)

    def weights(self) -> GaugeWeights:
        """Full weight along what the photos leave open, vanishing along what they decide."""
        size, axes = np.linalg.eigh(self.curvature)
        weight = FULL_WEIGHT / (1 + (np.maximum(size, 0) / DECISIVE) ** 2)
        return (axes * weight) @ axes.T

    @property
    def is_open(self) -> bool:
        """Whether the photos leave a strain open by more than a spread of the prior."""
        return bool(self.spreads().max() > 1)

    def spreads(self) -> Float[np.ndarray, " 3"]:
        """Standard deviation of every strain left by the photos, in spreads of the prior."""
        size, axes = np.linalg.eigh(self.curvature)
        variance = DECISIVE / np.maximum(size, _VAGUE * DECISIVE)
        return np.sqrt(np.einsum("ab,b,ab->a", axes, variance, axes))


def open_weights() -> GaugeWeights:
    """The prior's weights while nothing is known."""
    return FULL_WEIGHT * np.eye(3)


def in_view(level: FacetGrid, vectors: Float[np.ndarray, "3 P"]) -> Float[np.ndarray, "3 P"]:
    """Turn the vectors of every pixel as its ray must turn to become the optical axis."""
    return viewing.in_view(level.camera.numbers, level.domain.pixels, vectors)


def out_of_view(level: FacetGrid, vector: Float[np.ndarray, " 3"]) -> Float[np.ndarray, "3 P"]:
    """Adjoint of `in_view`: one vector, turned back for every pixel."""
    x, y, z = level.view
    a, b, c = vector
    share = (x * b - y * a) / (1 + z)
    return np.stack([z * a + x * c - y * share, z * b + y * c + x * share, z * c - x * a - y * b])


def mean_normal(level: PyramidLevel, unit: Float[np.ndarray, "3 P"]) -> Float[np.ndarray, " 3"]:
    """Mean over the pixels, as they count, each seen along its own ray."""
    return viewing.mean_in_view(level.camera.numbers, level.domain.pixels, unit, level.cover)


def strain(level: PyramidLevel, unit: Float[np.ndarray, "3 P"]) -> Float[np.ndarray, " 3"]:
    """How many spreads the mean normal is away from its target."""
    return (mean_normal(level, unit) - target()) / spread()


def strain_gradient(
    level: PyramidLevel, unit: Float[np.ndarray, "3 P"], length: Float[np.ndarray, " P"]
) -> Float[np.ndarray, "3 h w"]:
    """Derivative of the three strains by the surface, in float32."""
    along_p, along_q = np.empty_like(unit), np.empty_like(unit)
    sizes = tuple(1 / (spread() * level.cover.sum(dtype=float)))
    viewing.turns_in_view(
        level.camera.numbers, level.domain.pixels, unit, length, level.cover, sizes, along_p,
        along_q,
    )  # fmt: skip
    found = np.empty((3, *level.grid.shape), np.float32)
    for p, q, out in zip(along_p, along_q, found, strict=True):
        level.scatter_into(p, q, out)
    return found


@dataclass(frozen=True, eq=False)
class GaugePrior:
    """The expectation of a usual tilt and relief, a term of the energy."""

    level: PyramidLevel
    weights: GaugeWeights

    def cost(self, surface: Heights, unit: Float[np.ndarray, "3 P"]) -> float:
        """Squared strain, weighed."""
        del surface
        strained = strain(self.level, unit)
        return float(strained @ self.weights @ strained)

    def linearise(self, surface: Heights, fit: Fit, energy: float) -> "LinearGaugePrior":
        """Three directions of the surface, and what they cost."""
        del surface
        return LinearGaugePrior(
            strain(self.level, fit.unit),
            strain_gradient(self.level, fit.unit, fit.length),
            self.weights * energy,
        )

    def halved(self, fine: FacetGrid, coarse: FacetGrid) -> "GaugePrior":
        """The same expectation of fewer pixels."""
        del fine
        assert isinstance(coarse, PyramidLevel)
        return GaugePrior(coarse, self.weights)


@dataclass(frozen=True, eq=False)
class LinearGaugePrior:
    """The prior at a surface: of rank three."""

    strain: Float[np.ndarray, " 3"]
    directions: Float[np.ndarray, "3 h w"]
    """Derivative of every strain by the heights, in float32."""
    weights: GaugeWeights
    """In units of the energy."""

    def _add(self, amounts: Float[np.ndarray, " 3"], out: Heights) -> None:
        add(amounts.astype(np.float32), self.directions, out)

    def add_gradient(self, out: Heights) -> None:
        """Add Dᵀ W s."""
        self._add(self.weights @ self.strain, out)

    def add_product(self, change: Heights, out: Heights) -> None:
        """Add Dᵀ W D x."""
        self._add(self.weights @ dots(change, self.directions), out)

    def add_diagonal(self, out: Heights) -> None:
        """Nothing: what acts on the whole surface is next to nothing at a corner."""

    def stiffness(self, modes: Modes) -> Float[np.ndarray, "m m"]:
        """Mᵀ Dᵀ W D M."""
        along = np.stack([modes.collect(direction) for direction in self.directions])
        return along.T @ self.weights @ along

"""What the course is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.step.newton import Effort
from anylight.joint.terms.gauge import GaugePrior, GaugeWeights, open_weights
from anylight.joint.terms.protocol import Term

VOLUMES = (0.03, 0.08)
"""Mean heights of the balloons to start from, over the square root of the pixel count. [share]"""
FIRST_PIXELS = 8_000
"""The level the starts run on: the finest with at most so many pixels. [pixels]"""
START_PIXELS = 25_000
"""The level the best start rises through the orders on: the finest with at most so many pixels.
[pixels]"""


@dataclass(frozen=True)
class Plan:
    """What the course is made of. Everything is on unless its worth is to be measured."""

    orders: tuple[int, ...]
    """Of the harmonics, rising; the first two serve to choose among the starts."""
    volumes: tuple[float, ...] = field(default_factory=lambda: VOLUMES)
    """Relative volumes of the balloons to start from; negative is concave."""
    refine_iterations: int = 5
    """Newton steps at every level after the starts."""
    first_pixels: float = field(default_factory=lambda: FIRST_PIXELS)
    """The starts run on the finest level with at most so many pixels."""
    start_pixels: float = field(default_factory=lambda: START_PIXELS)
    """The best of them rises through the orders on the finest level with at most so many."""
    rivals: bool = True
    """Try a start without silhouette, and the flipped surface, as well."""
    flip: bool = False
    """Take the worse of the surface and its flipped rival."""
    near: bool = True
    """Ask whether the lamps are near."""
    jumps: bool = True
    """Find normals of single pixels and switch off facets that span a step."""
    prior: bool = True
    """Expect a usual tilt and relief where the photos do not decide."""
    together: bool = True
    """Step in surface and light together, not in turn."""
    discretisation: type[PyramidLevel] = PyramidLevel
    """What makes a surface of heights."""

    def terms(
        self, level: PyramidLevel, others: Sequence[Term], weights: GaugeWeights | None = None
    ) -> tuple[Term, ...]:
        """All terms at a level: the gauge's prior (open unless weighed), and the others."""
        if not self.prior:
            return tuple(others)
        return (GaugePrior(level, open_weights() if weights is None else weights), *others)

    def effort(self, iterations: int, damping: float) -> Effort:
        """So many steps, together or in turn."""
        return Effort(iterations, damping, together=self.together)

"""What may be asked of the default method."""

from typing import Literal

from anylight.errors import InvalidInputError
from anylight.initial.options import BalloonOptions

MIN_EIGENPHOTOS = 4
"""Fewer cannot hold light of first order. (definition)"""


class DefaultOptions(BalloonOptions, frozen=True, kw_only=True):
    """The default method's numbers (docs/method.md)."""

    order: Literal[2, 4, 6, 8] = 8
    """Highest order of the harmonics; few photos lower it."""
    eigenphotos: int = 12
    """Combinations of the photos to work on, per channel."""
    refine_iterations: int = 5
    """Newton steps at every resolution after the start's; half as many where it is not for the
    last time, twice as many where tilt and relief are open."""
    depth_weight: float = 1.0
    """How much a known depth counts against the photos, relative to the usual."""

    shadows: Literal["auto", "off"] = "auto"
    """Whether to look for shadows that the object casts on itself, and explain them."""

    flip: bool = False
    """Take the other of two shapes that explain the photos: hollows for hills."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in (2, 4, 6, 8):
            raise InvalidInputError("--order must be 2, 4, 6 or 8.")
        if self.shadows not in ("auto", "off"):
            raise InvalidInputError("--shadows must be auto or off.")
        if not 0 < self.depth_weight < 1e6:
            raise InvalidInputError("--depth-weight must be positive.")
        if not MIN_EIGENPHOTOS <= self.eigenphotos <= 100:
            raise InvalidInputError(f"--eigenphotos must be between {MIN_EIGENPHOTOS} and 100.")
        if not 1 <= self.refine_iterations <= 1000:
            raise InvalidInputError("--refine-iterations must be between 1 and 1000.")

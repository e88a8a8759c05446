"""What may be asked of the solver: one declaration for API, command line and saved record."""

from typing import Literal

import msgspec

from anylight.errors import InvalidInputError

MIN_EIGENPHOTOS = 4


class PaperOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The published method's numbers (docs/parity.md)."""

    iterations: int = 20
    """Rounds of albedo, light and depth."""
    first_order_iterations: int = 8
    """Rounds with first-order harmonics before the second order joins."""
    cauchy_scale: float = 0.15
    """Scale λ of the robust penalty; photos are normalised to a 99 % quantile of one."""
    albedo_smoothness: float = 0.045
    """Weight of the albedo's total variation per photo (the effective μ is this times M)."""
    huber_width: float = 0.1
    """Width γ of the quadratic part of the total variation."""

    def __post_init__(self) -> None:
        checks = {
            "--iterations": (1 <= self.iterations <= 10000, "must be between 1 and 10000"),
            "--first-order-iterations": (self.first_order_iterations >= 0, "must not be negative"),
            "--cauchy-scale": (0 < self.cauchy_scale < 1e6, "must be positive"),
            "--albedo-smoothness": (
                0 <= self.albedo_smoothness < 1e6,
                "must not be negative",
            ),
            "--huber-width": (0 < self.huber_width < 1e6, "must be positive"),
        }
        for name, (is_good, rule) in checks.items():
            if not is_good:
                raise InvalidInputError(f"{name} {rule}.")


class JointOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The default method's numbers (docs/method.md)."""

    order: Literal[2, 4, 6, 8] = 8
    """Highest order of the harmonics; few photos lower it."""
    eigenphotos: int = 12
    """Combinations of the photos to work on, per channel."""
    refine_iterations: int = 5
    """Newton steps at every resolution after the start's; twice as many where they are
    cheap."""

    depth_weight: float = 1.0
    """How much a known depth counts against the photos, relative to the usual."""

    def __post_init__(self) -> None:
        if not 0 < self.depth_weight < 1e6:
            raise InvalidInputError("--depth-weight must be positive.")
        if not MIN_EIGENPHOTOS <= self.eigenphotos <= 100:
            raise InvalidInputError(f"--eigenphotos must be between {MIN_EIGENPHOTOS} and 100.")
        if not 1 <= self.refine_iterations <= 1000:
            raise InvalidInputError("--refine-iterations must be between 1 and 1000.")

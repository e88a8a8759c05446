"""What may be asked of the published method."""

from anylight.errors import InvalidInputError
from anylight.initial.options import BalloonOptions


class PaperOptions(BalloonOptions, frozen=True, kw_only=True):
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
        super().__post_init__()
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

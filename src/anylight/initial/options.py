"""What may be asked of a balloon: shared by all methods that start from one."""

import msgspec
import numpy as np

from anylight.errors import InvalidInputError
from anylight.geometry.domain import Domain


class BalloonOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The balloon a method starts from."""

    volume: float | None = None
    """Balloon: mean height over the square root of the pixel count (disc's hemisphere: 0.376); not
    given: the default tries several and takes the best, the others take 0.15."""
    volume_px: float | None = None
    """Balloon: mean height in pixels, the paper's κ; overrides --volume."""

    def __post_init__(self) -> None:
        if self.volume is not None and not 0 <= self.volume < 100:
            raise InvalidInputError("--volume must be between 0 and 100.")
        if self.volume_px is not None and not 0 <= self.volume_px < 1e6:
            raise InvalidInputError("--volume-px must not be negative.")

    def relative_volume(self, domain: Domain) -> float | None:
        """The volume asked for, relative to the largest component; None if none was."""
        if self.volume_px is None:
            return self.volume
        return float(self.volume_px / np.sqrt(np.bincount(domain.components).max()))

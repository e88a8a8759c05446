"""What a run leaves: a reconstruction and how it came about."""

from dataclasses import dataclass, field
from typing import Any

from anylight.model.method import Progress
from anylight.model.reconstruction import Reconstruction
from anylight.model.status import Status


def scene_of(given: "Reconstruction | Result") -> Reconstruction:
    """The reconstruction of a result, or itself."""
    return given.reconstruction if isinstance(given, Result) else given


@dataclass(frozen=True, eq=False)
class Result:
    """A reconstruction and how it came about."""

    reconstruction: Reconstruction
    status: Status
    """Why it ended."""
    trace: tuple[Progress, ...]
    """Every step that has numbers, without its state."""
    warnings: tuple[str, ...]
    seconds: dict[str, float]
    threads: int
    """Threads that were used."""
    method: str
    """Name of the method that ran."""
    record: dict[str, Any] = field(default_factory=dict)
    """What the method found out about itself, as plain values."""

    def __repr__(self) -> str:
        return (
            f"Result({self.method}: {self.status}, {len(self.trace)} steps, "
            f"{self.seconds.get('solve', 0.0):.1f} s, {len(self.warnings)} warnings, "
            f"{self.reconstruction!r})"
        )

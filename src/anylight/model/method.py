"""The one shape of a method: a name, its options, and a loop that can be driven.

A method is a value. Its `run` is a generator: it yields `Progress` after every step and returns a
`Solution`. Whoever drives it may stop it between two steps by throwing a `StopRequestedError` into
it; it then ends soon with what it has. `Iteration` does the driving for callers that want a plain
loop.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from anylight.model.capture import MIN_PHOTOS, Capture
from anylight.model.reconstruction import Reconstruction
from anylight.model.status import Status


class StopRequestedError(Exception):
    """Thrown into a running method: end soon, with what has been reached."""


@dataclass(frozen=True, eq=False)
class Progress:
    """One step of a method."""

    share: float
    """Of the work done, from 0 to 1."""
    line: str
    """What was done, in one line."""
    stage: str = ""
    """To which part of the work it belongs."""
    energy: float | None = None
    """What the method minimises, if it minimises anything."""
    report: Any = None
    """The method's own numbers of this step: a frozen dataclass."""
    state: Any = None
    """Where the method is, in its own form."""


@dataclass(frozen=True, eq=False)
class Solution:
    """What a method ends in."""

    scene: Reconstruction
    """On the full grid of the photos; what the method does not find is None."""
    status: Status = Status.FINISHED
    warnings: tuple[str, ...] = ()
    """Sentences for the user."""
    record: dict[str, Any] = field(default_factory=dict)
    """Everything worth keeping, as plain values."""


Running: TypeAlias = Generator[Progress, None, Solution]
Options = TypeVar("Options", bound=msgspec.Struct)


@dataclass(frozen=True)
class Method(Generic[Options]):
    """A way from a capture to a solution."""

    name: str
    """As the command line spells it."""
    label: str
    """As tables spell it."""
    summary: str
    """One sentence for --help."""
    options: type[Options]
    """A frozen msgspec.Struct; every field has a default and a docstring."""
    run: Callable[[Capture, Options], Running]
    takes_start: bool = False
    """Whether it looks at `Capture.start`."""
    takes_depth: bool = False
    """Whether it looks at `Capture.depth`."""
    min_photos: int = MIN_PHOTOS
    """Fewer are refused."""


class NoOptions(msgspec.Struct, frozen=True, kw_only=True):
    """For methods without numbers to choose."""


Ended = TypeVar("Ended")


class Iteration(Iterator[Progress], Generic[Ended]):
    """A method at work: loop over its steps, stop it between two, take its result."""

    def __init__(self, running: Generator[Progress, None, Ended]) -> None:
        self._running = running
        self._asked = False
        self._result: Ended | None = None
        self._failure: BaseException | None = None

    def __next__(self) -> Progress:
        if self._failure is not None:
            raise StopIteration
        try:
            if self._asked and self._result is None:
                self._asked = False
                return self._running.throw(StopRequestedError())
            return next(self._running)
        except StopIteration as end:
            if end.value is not None:
                self._result = end.value
            raise
        except StopRequestedError as end:  # the method had nothing to show yet
            self._failure = end
            raise StopIteration from None
        except BaseException as error:
            self._failure = error
            raise

    def stop(self) -> None:
        """Ask the method to end soon with what it has."""
        self._asked = True

    @property
    def result(self) -> Ended:
        """What it ended in; runs what is left of it.

        Raises:
            StopRequestedError: it was stopped, and the method had nothing to show yet.
        """
        for _ in self:
            pass
        if self._failure is not None:
            raise self._failure
        if self._result is None:
            raise TypeError("a method must return a Solution at its end; this one returned nothing")
        return self._result

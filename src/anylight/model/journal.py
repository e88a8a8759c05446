"""What a long run remembers of itself, so that one that was killed goes on where it was.

A part of the work is remembered under a digest of everything that it began from: a run that is
started again comes by the same digests, takes what is remembered for what it would compute, and
ends in the same bytes. Work whose beginning cannot be told completely (terms of other packages) is
done again. Where memories are kept is not known here.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol, TypeVar, runtime_checkable

from .digests import UndescribedError, digest
from .packing import Memory, packed, unpacked

Made = TypeVar("Made")


@runtime_checkable
class Journal(Protocol):
    """Where memories are kept."""

    def turn(self, key: str) -> int:
        """How often this run has come by a digest, this time included."""
        ...

    def recall(self, key: str) -> Memory | None:
        """What is remembered under a digest."""
        ...

    def keep(self, key: str, memory: Memory, seconds: float) -> None:
        """Remember what took so many seconds, if it is worth it."""
        ...


_journal: ContextVar[Journal | None] = ContextVar("journal", default=None)


def current_journal() -> Journal | None:
    """The journal of the run at hand."""
    return _journal.get()


@contextmanager
def remembering(journal: Journal | None) -> Iterator[None]:
    """Let everything inside use a journal."""
    before = _journal.set(journal)
    try:
        yield
    finally:
        _journal.reset(before)


@dataclass(frozen=True, eq=False)
class Page:
    """The place of one part of the work in a journal."""

    journal: Journal
    key: str

    def recall(self, *made: type) -> tuple[Any] | None:
        """What the part came to, in a tuple of one; None if nothing is remembered.

        Args:
            *made: the dataclasses that may be in it.
        """
        memory = self.journal.recall(self.key)
        return None if memory is None else (unpacked(memory, made),)

    def keep(self, value: Made, seconds: float, *made: type) -> Made:
        """Remember what the part came to, and how long it took; gives it as it will be recalled."""
        memory = packed(value)
        self.journal.keep(self.key, memory, seconds)
        kept: Made = unpacked(memory, made)
        return kept


def described(*parts: Any) -> str | None:
    """Digest of what several parts of the work begin from; None where nothing is remembered."""
    if current_journal() is None:
        return None
    try:
        return digest(*parts)
    except UndescribedError:
        return None


def page(name: str, *begun_from: Any) -> Page | None:
    """The place of a part of the work; None where nothing is remembered.

    Args:
        name: of the work.
        *begun_from: everything that it depends on.
    """
    journal, key = current_journal(), described(name, *begun_from)
    if journal is None or key is None:
        return None
    return Page(journal, f"{key}-{journal.turn(key)}")


def remembered(place: Page | None, work: Callable[[], Made], made: tuple[type, ...] = ()) -> Made:
    """What some work comes to, or came to in a run that was cut short.

    Args:
        place: of the work.
        work: to be done if nothing is remembered.
        made: the dataclasses that may be in what it gives.
    """
    if place is None:
        return work()
    found = place.recall(*made)
    if found is not None:
        result: Made = found[0]
        return result
    begin = perf_counter()
    result = work()
    return place.keep(result, perf_counter() - begin, *made)

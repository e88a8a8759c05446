"""What a long run remembers of itself, so that one that was killed goes on where it was.

A part of the work is remembered under a digest of everything that it began from: a run that is
started again comes by the same digests, takes what is remembered for what it would compute, and
ends in the same bytes. Where memories are kept is not known here.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np


@dataclass(frozen=True, eq=False)
class Memory:
    """What a part of the work came to."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]
    """Plain values."""


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


def digest(*parts: Any) -> str:
    """Of arrays, bit by bit, and of other values by their words."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype} {part.shape};".encode())
            found.update(np.ascontiguousarray(part).tobytes())
        else:
            found.update(f"{part!r};".encode())
    return found.hexdigest()

"""Memories of a run as files: one archive each, whole or not at all."""

import contextlib
import shutil
import time
from collections import Counter
from io import BytesIO
from pathlib import Path

import msgspec
import numpy as np

from anylight.errors import InvalidInputError
from anylight.model.journal import Memory

from .cache import user_cache
from .numbers import read_npz
from .stage import clear_leftovers, write_whole

_FACTS = "facts"
_WORTH = 2.0
"""Seconds from which a part of the work is worth remembering."""
_STALE = 30 * 86400.0
"""Seconds after which an abandoned run is forgotten."""


class FileJournal:
    """A folder of memories; without a cache folder that can be written nothing is remembered."""

    def __init__(self, folder: Path, worth: float = _WORTH) -> None:
        self.folder, self._worth = folder, worth
        self.recalled = 0
        """How many parts were not computed again."""
        self._turns: Counter[str] = Counter()

    @staticmethod
    def of(key: str) -> "FileJournal":
        """The journal of a run, in the user's cache; those of abandoned runs are removed."""
        place = user_cache("runs")
        with contextlib.suppress(OSError):
            for other in place.iterdir():
                if other.name != key and time.time() - other.stat().st_mtime > _STALE:
                    shutil.rmtree(other, ignore_errors=True)
        clear_leftovers(place / key)
        return FileJournal(place / key)

    def turn(self, key: str) -> int:
        """How often this run has come by a digest, this time included."""
        self._turns[key] += 1
        return self._turns[key]

    def recall(self, key: str) -> Memory | None:
        """What is remembered; nothing if it is damaged."""
        try:
            arrays = read_npz(self.folder / f"{key}.npz")
            facts = msgspec.json.decode(arrays.pop(_FACTS).tobytes())
        except (InvalidInputError, KeyError, msgspec.DecodeError):
            return None
        self.recalled += 1
        return Memory(arrays, facts)

    def keep(self, key: str, memory: Memory, seconds: float) -> None:
        """Remember what took long; a disk without room is no reason to stop."""
        if seconds < self._worth:
            return
        facts = np.frombuffer(msgspec.json.encode(memory.facts), np.uint8)
        content = BytesIO()
        np.savez(content, allow_pickle=False, **memory.arrays, **{_FACTS: facts})
        with contextlib.suppress(OSError):
            write_whole(self.folder / f"{key}.npz", content.getvalue())

    def forget(self) -> None:
        """The run is finished."""
        shutil.rmtree(self.folder, ignore_errors=True)

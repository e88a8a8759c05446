"""Memories of a run as files: one archive each, whole or not at all."""

import contextlib
import shutil
import time
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from anylight.errors import InvalidInputError
from anylight.model.packing import Memory

from .cache import user_cache
from .numbers import read_npz
from .room import free_disk
from .stage import clear_leftovers, whole_file

_FACTS = "facts"
WORTH = 0.2
"""Seconds from which a part of the work is worth remembering."""
SHORT = 10.0
"""Seconds of work before anything is written: shorter runs leave the disk alone."""
_STALE = 30 * 86400.0
"""Seconds after which an abandoned run is forgotten."""
_RESERVE = 2**30
"""Bytes of the disk that memories leave to others."""


class FileJournal:
    """A folder of memories; without a cache folder that can be written nothing is remembered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recalled = 0
        """How many parts were not computed again."""
        self._turns: Counter[str] = Counter()
        self._begin = time.monotonic()
        self._waiting: list[tuple[str, bytes]] = []

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
        if seconds < WORTH:
            return
        facts = np.frombuffer(msgspec.json.encode(memory.facts), np.uint8)

        def save(file: Any) -> None:
            np.savez(file, allow_pickle=False, **memory.arrays, **{_FACTS: facts})

        if time.monotonic() - self._begin < SHORT:
            content = BytesIO()
            save(content)
            self._waiting.append((key, content.getvalue()))
            return
        for earlier, written in self._waiting:
            self._write(earlier, len(written), lambda file, words=written: file.write(words))  # type: ignore[misc]
        self._waiting.clear()
        self._write(key, sum(array.nbytes for array in memory.arrays.values()), save)

    def _write(self, key: str, size: int, save: Callable[[Any], object]) -> None:
        if free_disk(self.folder) < size + _RESERVE:
            return
        with contextlib.suppress(OSError), whole_file(self.folder / f"{key}.npz") as file:
            save(file)

    def forget(self) -> None:
        """The run is finished."""
        shutil.rmtree(self.folder, ignore_errors=True)

"""Results on disk: one JSON file per cell, its pictures beside it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from anylight.io.stage import write_whole

from .cell import Cell, Outcome
from .engine import Launch

Record = dict[str, Any]


class Store:
    """The folder of a benchmark."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cells, self._pictures = folder / "cells", folder / "pictures"

    def missing(self, cells: Iterable[Cell]) -> dict[str, Cell]:
        """Cells without a sound file; those that failed or could not run are tried again."""
        return {cell.key: cell for cell in cells if not self._is_sound(cell.key)}

    def _is_sound(self, key: str) -> bool:
        record = self.read(key)
        return record is not None and record.get("status") == "done"

    def read(self, key: str) -> Record | None:
        """The record of a cell; None if there is none, or a damaged one."""
        try:
            record = msgspec.json.decode((self._cells / f"{key}.json").read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return record if isinstance(record, dict) and record.get("key") == key else None

    def keep(
        self, key: str, outcome: Outcome | None, error: str, starts: tuple[Launch, ...]
    ) -> Record:
        """Write a cell, whole or not at all; also what a failed one says."""
        record: Record = {"key": key, "status": "failed", "message": error}
        if outcome is not None:
            record = dict(outcome.record)
            for name, png in outcome.pictures.items():
                write_whole(self._pictures / f"{key}.{name}.png", png)
        record["starts"] = [{"host": start.host, "pid": start.pid} for start in starts]
        record["retries"] = max(len(starts) - 1, 0)
        text = msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
        write_whole(self._cells / f"{key}.json", text)
        return record

    def records(self, cells: Iterable[Cell]) -> list[Record]:
        """What is known of some cells."""
        found = (self.read(cell.key) for cell in cells)
        return [record for record in found if record is not None]

    def picture(self, key: str, name: str) -> Path | None:
        """A picture of a cell, if it was made."""
        path = self._pictures / f"{key}.{name}.png"
        return path if path.is_file() else None

"""Measured numbers, one row per cell, on disk after every run."""

import json
from pathlib import Path


class Cells:
    """All numbers so far, on disk after every run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = json.loads(path.read_text()) if path.exists() else []

    def has(self, **key: object) -> bool:
        """Whether a cell is there."""
        return any(all(row.get(k) == v for k, v in key.items()) for row in self.rows)

    def add(self, row: dict[str, object]) -> None:
        """Keep a cell."""
        self.rows.append(row)
        self.path.write_text("[\n" + ",\n".join(json.dumps(r) for r in self.rows) + "\n]\n")

"""Keep the numbers of a benchmark for the documents.

    python -m studies.gather BENCH [BENCH ...]

writes docs/results/benchmark.json from the cells of `anylight bench --out BENCH`: numbers only, no
pictures, hosts or folders. `make tables` makes docs/benchmark.md from it.
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec
import tyro

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "benchmark.json"
KEPT = ("study", "scene", "method", "value", "status", "message", "seconds", "peak_memory_mb",
        "pixels", "photos")  # fmt: skip
METRICS = ("mae_deg", "mae_flip_deg", "mae_fd_deg", "median_deg")


@dataclass(frozen=True)
class Gather:
    """Gather cells."""

    folders: tyro.conf.Positional[tuple[Path, ...]]
    """Output folders of `anylight bench`."""


def main(options: Gather) -> None:
    """Write the numbers of all cells, one per line."""
    rows = []
    for folder in options.folders:
        keys = msgspec.json.decode((folder / "cells.json").read_bytes())
        for key in keys:
            record = msgspec.json.decode((folder / "cells" / f"{key}.json").read_bytes())
            row = {name: record[name] for name in KEPT if record.get(name) is not None}
            numbers = record.get("metrics") or {}
            row["metrics"] = {
                m: round(numbers[m], 4) for m in METRICS if numbers.get(m) is not None
            }
            row["protocol"] = (record.get("rendering") or {}).get("protocol", "photographs")
            rows.append(row)
    lines = ",\n".join(msgspec.json.encode(row).decode() for row in rows)
    RESULTS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(tyro.cli(Gather))

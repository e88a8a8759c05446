"""Guard the comparison: run a reduced benchmark and compare it with recorded numbers.

    python -m studies.drift             # fails if a method's error drifted
    python -m studies.drift --record    # writes docs/results/drift.json

Four embedded data sets, all methods of the summary. A number may move by half a degree plus a tenth
of itself: that much, compilers and processors may do to methods that choose between branches.
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec
import tyro

from anylight.benchmark.catalogue import MAIN
from anylight.benchmark.cell import Cell, run_cell
from anylight.benchmark.engine import run_locally
from anylight.benchmark.selection import Selection
from anylight.benchmark.store import Store
from anylight.benchmark.tables import error_of

RECORDED = Path(__file__).parents[1] / "docs" / "results" / "drift.json"
SETS = (
    ("armadillo", "white"),
    ("tennyson", "voronoi"),
    ("lucy", "bars"),
    ("gargoyle", "natural"),
)
HEIGHT = 112
DEGREES, SHARE = 0.5, 0.1


@dataclass(frozen=True)
class Drift:
    """Run the reduced benchmark."""

    record: bool = False
    """Write the numbers instead of comparing with them."""


def cells() -> list[Cell]:
    """The four sets with all methods of the summary."""
    found = []
    for shape, albedo in SETS:
        found += Selection(MAIN, shapes=(shape,), albedos=(albedo,), height=HEIGHT).main()
    return found


def measured() -> dict[str, float]:
    """Error of every cell."""
    with tempfile.TemporaryDirectory() as place:
        store, numbers = Store(Path(place)), {}
        for done in run_locally(run_cell, {cell.key: cell for cell in cells()}, jobs=2):
            record = store.keep(done.key, done.value, done.error, done.starts)
            error = error_of(record)
            if error is None:
                sys.exit(f"{done.key}: {record.get('message') or done.error}")
            numbers[f"{record['scene']} {record['method']}"] = round(error, 3)
            sys.stderr.write(f"{record['scene']} {record['method']}: {error:.2f}\n")
    return dict(sorted(numbers.items()))


def main(options: Drift) -> None:
    """Measure, then record or compare."""
    numbers = measured()
    if options.record:
        RECORDED.write_bytes(msgspec.json.format(msgspec.json.encode(numbers), indent=1) + b"\n")
        return
    recorded: dict[str, float] = msgspec.json.decode(RECORDED.read_bytes())
    drifted = [
        f"{name}: {recorded.get(name)} -> {numbers.get(name)}"
        for name in sorted(recorded.keys() | numbers.keys())
        if name not in recorded
        or name not in numbers
        or abs(numbers[name] - recorded[name]) > DEGREES + SHARE * recorded[name]
    ]
    if drifted:
        sys.exit("drifted:\n" + "\n".join(drifted))


if __name__ == "__main__":
    main(tyro.cli(Drift))

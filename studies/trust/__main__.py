"""Try to break everything, and keep the figures: `make trust`, `make trust-long`.

    python -m studies.trust                 # bounded: under ten minutes on two cores
    python -m studies.trust --minutes 60    # by turns for so long, with atheris
    python -m studies.trust --record        # and write docs/results/trust.json

Ends with 1 if any promise of docs/reliability.md was broken.
"""

import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from studies.trust import fuzz, kills, parts
from studies.trust.corpus import CORPUS, good_capture
from studies.trust.parsers import PARSERS
from studies.trust.soak import soak

import anylight

RESULTS = parts.ROOT / "docs" / "results" / "trust.json"
Task = Callable[[], dict[str, Any]]
_KILLS, _RESUMED, _COORDINATORS = 100, 6, 5
"""Kills of runs, of long runs, of coordinators of batches and as many of benchmarks."""
_FUZZ_SECONDS = 3.0
"""For each parser."""
_OPTION_SECONDS = 30.0
_SHARES = 6
"""Processes that share the corpus."""


@dataclass(frozen=True)
class Trust:
    """Try to break everything."""

    minutes: float | None = None
    """The long form: everything by turns with new seeds, for so many minutes."""
    rest: float = 0.0
    """Of the long form: seconds of rest after every second of work."""
    record: bool = False
    """Write docs/results/trust.json."""
    only: str | None = None
    """Of the short form, one part alone: corpus, fuzz, faults, kills, options."""


def main(asked: Trust) -> None:
    """Run all parts, two at a time; or by turns."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        good = good_capture(place / "good")
        if asked.minutes is None:
            found, work = _once(good, place, asked.only), None
        else:
            found, work = soak(good, place, asked.minutes, asked.rest)
    summary = {**_summed(found), "minutes": round((time.monotonic() - begin) / 60, 1)}
    times = os.times()
    busy = times.user + times.system + times.children_user + times.children_system
    summary["cpu_minutes"] = round(busy / 60, 1)
    if work is not None:
        summary["minutes_of_work"] = round(work / 60, 1)
    sys.stdout.write(json.dumps(summary, indent=1) + "\n")
    if asked.record:
        _record("short" if work is None else "long", summary)
    if any(part["wrong"] for parts in found.values() for part in parts):
        sys.exit(1)


def _once(good: Path, place: Path, only: str | None) -> dict[str, list[dict[str, Any]]]:
    """Every part in its bounded form."""
    tasks = [
        (part, task)
        for part, tasks in _parts(good, place).items()
        for task in tasks
        if only in (None, part)
    ]
    found: dict[str, list[dict[str, Any]]] = {}
    with ThreadPoolExecutor(2) as pool:
        for part, result in pool.map(lambda task: (task[0], task[1]()), tasks):
            found.setdefault(part, []).append(result)
            for fault in result["wrong"]:
                sys.stdout.write(f"{part}: {fault}\n")
                sys.stdout.flush()
    return found


def _parts(good: Path, place: Path) -> dict[str, list[Task]]:
    """Everything to do; the longest first."""

    def new(name: str) -> Path:
        folder = place / name
        folder.mkdir()
        return folder

    return {
        "kills": [
            *(lambda n=n: kills.runs(good, new(f"kills{n}"), _KILLS // 4, n) for n in range(4)),
            lambda: kills.resumed(new("resumed"), _RESUMED),
            lambda: kills.batches(good, new("batches"), _COORDINATORS),
            lambda: kills.benchmarks(new("benchmarks"), _COORDINATORS),
        ],
        "corpus": [
            lambda n=n: parts.corpus(range(n, len(CORPUS), _SHARES), good)  # type: ignore[misc]
            for n in range(_SHARES)
        ],
        "fuzz": [
            lambda name=name: fuzz.in_a_process(name, _FUZZ_SECONDS, 10**9)  # type: ignore[misc]
            for name in PARSERS
        ],
        "faults": [
            lambda code=code: parts.apart("faults", code, good)  # type: ignore[misc]
            for code in ("ENOSPC", "EACCES", "EIO", "EFBIG")
        ],
        "options": [lambda: parts.apart("options", str(_OPTION_SECONDS), good)],
    }


def _summed(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Figures of every part."""
    summary: dict[str, Any] = {}
    for part, results in found.items():
        broken = sum(len(result["wrong"]) for result in results)
        if part == "kills":
            for what in ("run", "resumed", "batch", "bench"):
                own = [result for result in results if result.get("what") == what]
                summary[f"kills_{what}"] = sum(result["killed"] for result in own)
            summary["kills_broken"] = broken
            continue
        summary[part] = sum(result["tried"] for result in results)
        summary[f"{part}_broken"] = broken
        if part in ("fuzz", "guided"):
            sums = dict.fromkeys(PARSERS, 0)
            for result in results:
                sums[result["parser"]] += result["tried"]
            summary[f"{part}_parsers"] = sums
    return summary


def _record(name: str, summary: dict[str, Any]) -> None:
    """Keep the figures, beside those of the other length."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept[name] = {
        **summary,
        "version": anylight.__version__,
        "python": platform.python_version(),
        "day": time.strftime("%Y-%m-%d"),
        "load": round(os.getloadavg()[2], 1),
        "cores": os.cpu_count(),
    }
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Trust))

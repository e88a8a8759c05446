"""Try to break everything, and keep the figures: `make trust`, `make trust-long`.

    python -m studies.trust             # bounded: under ten minutes on two cores
    python -m studies.trust --long      # an hour and more, with atheris where it is installed
    python -m studies.trust --record    # and write docs/results/trust.json

Ends with 1 if any promise of docs/reliability.md was broken.
"""

import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from studies.trust import fuzz, kills
from studies.trust.corpus import CORPUS, good_capture, tried
from studies.trust.parsers import PARSERS

import anylight

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "trust.json"
ROOT = Path(__file__).parents[2]
Task = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Effort:
    """How much of everything."""

    kills: int
    coordinators: int
    """Kills of coordinators of batches, and as many of benchmarks."""
    fuzz_seconds: float
    """For each parser."""
    option_seconds: float
    guided_seconds: float
    """For each parser by atheris; none if zero."""
    corpus_apart: bool
    """Every bad capture in a process of its own."""


SHORT = Effort(100, 5, 3.0, 30.0, 0.0, False)
LONG = Effort(1000, 60, 60.0, 600.0, 60.0, True)


@dataclass(frozen=True)
class Trust:
    """Try to break everything."""

    long: bool = False
    """Ten times as much, and fuzzing guided by coverage."""
    record: bool = False
    """Write docs/results/trust.json."""
    only: str | None = None
    """One part alone: corpus, fuzz, faults, kills, options."""


def main(asked: Trust) -> None:
    """Run all parts, two at a time."""
    effort, begin = LONG if asked.long else SHORT, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        good = good_capture(place / "good")
        tasks = [
            (part, task)
            for part, tasks in _parts(effort, good, place).items()
            for task in tasks
            if asked.only in (None, part)
        ]
        found: dict[str, list[dict[str, Any]]] = {}
        with ThreadPoolExecutor(2) as pool:
            for part, result in pool.map(lambda task: (task[0], task[1]()), tasks):
                found.setdefault(part, []).append(result)
                for fault in result["wrong"]:
                    sys.stdout.write(f"{part}: {fault}\n")
                    sys.stdout.flush()
    summary = {**_summed(found), "minutes": round((time.monotonic() - begin) / 60, 1)}
    sys.stdout.write(json.dumps(summary, indent=1) + "\n")
    if asked.record:
        _record("long" if asked.long else "short", summary)
    if any(part["wrong"] for parts in found.values() for part in parts):
        sys.exit(1)


def _parts(effort: Effort, good: Path, place: Path) -> dict[str, list[Task]]:
    """Everything to do; the longest first."""
    quarter = effort.kills // 4

    def new(name: str) -> Path:
        folder = place / name
        folder.mkdir()
        return folder

    return {
        "kills": [
            *(lambda n=n: kills.runs(good, new(f"kills{n}"), quarter, n) for n in range(4)),
            lambda: kills.batches(good, new("batches"), effort.coordinators),
            lambda: kills.benchmarks(new("benchmarks"), effort.coordinators),
        ],
        "corpus": [
            *(
                lambda case=case, n=n: _case(case, good, new(f"case{n}"))
                for n, case in enumerate(CORPUS)
                if effort.corpus_apart
            ),
            *(
                lambda n=n: _apart("corpus", f"{n}/6", good)
                for n in range(6)
                if not effort.corpus_apart
            ),
        ],
        "fuzz": [
            lambda name=name: fuzz.in_a_process(name, effort.fuzz_seconds, 10**9)  # type: ignore[misc]
            for name in PARSERS
        ],
        "guided": [
            lambda name=name: _guided(name, effort.guided_seconds)  # type: ignore[misc]
            for name in PARSERS
            if effort.guided_seconds
        ],
        "faults": [
            lambda code=code: _apart("faults", code, good)  # type: ignore[misc]
            for code in ("ENOSPC", "EACCES", "EIO", "EFBIG")
        ],
        "options": [lambda: _apart("options", str(effort.option_seconds), good)],
    }


def _case(case: Any, good: Path, place: Path) -> dict[str, Any]:
    wrong = [f"{case.name}: {fault}" for fault in tried(case, good, place)]
    shutil.rmtree(place)
    return {"tried": 1, "wrong": wrong}


def _apart(part: str, what: str, good: Path) -> dict[str, Any]:
    """Run a part in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "studies.trust.apart", part, what, str(good)],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    if run.returncode:
        return {"tried": 0, "wrong": [f"{part} {what}: {run.stderr[-500:]}"]}
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def _guided(name: str, seconds: float) -> dict[str, Any]:
    """Let atheris look for bytes that reach new code."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "studies.trust.guided", name, str(seconds)],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    done = [line for line in run.stderr.splitlines() if line.startswith("Done ")]
    tried = int(done[-1].split()[1]) if done else 0
    wrong = [] if run.returncode == 0 else [f"{name}: {run.stderr[-600:]}"]
    return {"parser": name, "tried": tried, "wrong": wrong}


def _summed(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Figures of every part."""
    summary: dict[str, Any] = {}
    for part, results in found.items():
        broken = sum(len(result["wrong"]) for result in results)
        if part == "kills":
            for what in ("run", "batch", "bench"):
                own = [result for result in results if result.get("what") == what]
                summary[f"kills_{what}"] = sum(result["killed"] for result in own)
            summary["kills_broken"] = broken
            continue
        summary[part] = sum(result["tried"] for result in results)
        summary[f"{part}_broken"] = broken
        if part in ("fuzz", "guided"):
            summary[f"{part}_parsers"] = {r["parser"]: r["tried"] for r in results}
    return summary


def _record(name: str, summary: dict[str, Any]) -> None:
    """Keep the figures, beside those of the other length."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept[name] = {
        **summary,
        "version": anylight.__version__,
        "python": platform.python_version(),
        "day": time.strftime("%Y-%m-%d"),
    }
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Trust))

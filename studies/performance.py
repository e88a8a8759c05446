"""Measure the default: seconds, CPU seconds, memory and the share of every part.

    python -m studies.performance          # part of `make bench-speed`

Renders a bust at several sizes (16 bit, 20 photos), runs each in a process of its own with one
thread and with all, compiles everything once into an empty folder, and writes
docs/results/performance.json and docs/performance.md. Times are the shorter of two runs; compile
time is left out of them.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import tyro

from anylight.model.method import Progress
from anylight.pipeline import iterate
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from anylight.threads import num_threads, use_threads

DOCS = Path(__file__).parents[1] / "docs"
HEIGHTS = (265, 842, 1280)
"""About 25 thousand, 250 thousand and 578 thousand pixels of the bust."""
_TIMES = 2


@dataclass(frozen=True)
class Study:
    """Measure everything, or one size and print it."""

    height: int | None = None
    """Measure this height alone, and print it."""
    threads: int | None = None
    """With so many threads; all if not given."""
    heights: tuple[int, ...] = HEIGHTS
    """Measure these heights; rows of others that were measured on this machine stay."""
    folder: Path = DOCS
    """Where results/performance.json and performance.md are written."""


def part_of(progress: Progress) -> str:
    """Which part of the method a progress belongs to."""
    report = progress.report
    if report is None:
        return progress.line if len(progress.line) < 40 else progress.stage
    kind = "starts" if report.order < 4 else "higher orders and levels"
    return f"course: {kind}"


def measured(height: int, threads: int | None) -> dict[str, Any]:
    """One size, in this process."""
    capture = render(SynthOptions(height=height, images=20)).capture
    for _ in iterate(render(SynthOptions(height=64, images=20)).capture, threads=threads):
        pass  # loads what is compiled
    before = _memory(afresh=True)
    runs = []
    for _ in range(_TIMES):
        parts: defaultdict[str, float] = defaultdict(float)
        begin, worked = perf_counter(), process_time()
        last, now = begin, "eigen-photos"
        for progress in iterate(capture, threads=threads):
            done = progress.report is not None
            parts[part_of(progress) if done else now] += perf_counter() - last
            last, now = perf_counter(), part_of(progress)
        parts[now] += perf_counter() - last
        seconds = perf_counter() - begin
        shares = {name: round(each / seconds, 3) for name, each in parts.items()}
        runs.append((seconds, process_time() - worked, shares))
    peak = _memory()
    seconds, cpu, shares = min(runs, key=lambda run: run[0])
    pixels = int(capture.mask.sum())
    return {
        "pixels": pixels,
        "threads": num_threads(),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "bytes_per_pixel": round((peak - before) / pixels),
        "shares": shares,
    }


def _memory(*, afresh: bool = False) -> int:
    """Largest memory of this process, or since it was last counted afresh (Linux)."""
    if afresh:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def compiled() -> dict[str, Any]:
    """CPU seconds of compiling everything, and of the same work once it is there."""
    spent = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            begin = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, "-m", "anylight.cli.main", "warm-up"],
                env={**os.environ, "NUMBA_CACHE_DIR": folder}, check=True, capture_output=True,
            )  # fmt: skip
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)
    return {"first_cpu_seconds": round(spent[0], 1), "later_cpu_seconds": round(spent[1], 1)}


def page(found: dict[str, Any]) -> str:
    """docs/performance.md."""
    lines = [
        "<!-- Made by `make bench-speed` from docs/results/performance.json. -->",
        "# Speed of the default",
        "",
        f"An embedded bust, 20 photos of 16 bit in colour, on {found['cores']} cores "
        f"({found['machine']}). Seconds are the shorter of two runs without compiling; memory is "
        "the peak above photos, interpreter and libraries.",
        "",
        "| pixels | threads | seconds | CPU seconds | bytes per pixel |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['pixels']} | {row['threads']} | {row['seconds']:.1f} | {row['cpu_seconds']:.1f} | "
        f"{row['bytes_per_pixel']} |"
        for row in found["rows"]
    ]
    largest = found["rows"][-1]
    lines += [
        "",
        f"Where the time goes at {largest['pixels']} pixels with {largest['threads']} threads:",
        "",
        "| part | share |",
        "|---|---|",
    ]
    lines += [
        f"| {name} | {100 * share:.0f} % |"
        for name, share in sorted(largest["shares"].items(), key=lambda item: -item[1])
        if share >= 0.005
    ]
    first, later = (found["compiling"][f"{name}_cpu_seconds"] for name in ("first", "later"))
    lines += [
        "",
        f"`anylight warm-up` (the default with cast shadows, and the published method) takes "
        f"{first:.0f} CPU seconds into an empty folder and {later:.0f} afterwards: "
        f"{first - later:.0f} are compiling.",
        "",
    ]
    return "\n".join(lines)


def main(study: Study) -> None:
    """Measure, or measure everything in processes of their own."""
    if study.height is not None:
        print(json.dumps(measured(study.height, study.threads)))  # noqa: T201
        return
    cores, machine = use_threads(None), _processor()
    results = study.folder / "results" / "performance.json"
    found: dict[str, Any] = json.loads(results.read_text()) if results.exists() else {}
    if found.get("machine") != machine or found.get("cores") != cores:
        found = {"machine": machine, "cores": cores, "rows": []}
    results.parent.mkdir(parents=True, exist_ok=True)
    for height in study.heights:
        for threads in dict.fromkeys((1, min(2, cores), cores)):
            command = [sys.executable, "-m", "studies.performance"]
            command += ["--height", str(height), "--threads", str(threads)]
            said = subprocess.run(command, capture_output=True, text=True, check=True)
            row = json.loads(said.stdout.splitlines()[-1])
            print(row, flush=True)  # noqa: T201
            same = (row["pixels"], row["threads"])
            others = [r for r in found["rows"] if (r["pixels"], r["threads"]) != same]
            found["rows"] = sorted([*others, row], key=lambda r: (r["pixels"], r["threads"]))
            results.write_text(json.dumps(found, indent=1) + "\n")
    found["compiling"] = compiled()
    results.write_text(json.dumps(found, indent=1) + "\n")
    (study.folder / "performance.md").write_text(page(found))


def _processor() -> str:
    """What computes."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else os.uname().machine


if __name__ == "__main__":
    main(tyro.cli(Study))

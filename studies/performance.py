"""Measure the default: seconds, CPU seconds, memory and the share of every part.

    python -m studies.performance          # part of `make bench-speed`

Renders a bust at several sizes (16 bit, 20 photos), runs each in a process of its own with one
thread and with all, measures what the machine itself can do with as many, compiles everything once
into an empty folder, and writes docs/results/performance.json and docs/performance.md. Times are
the shorter of two runs; compile time is left out of them. `--released COMMAND` measures another
program on the smallest size: it is called with the folder of a capture.

    python -m studies.performance --height 1280 --many 1 16 --rounds 3

measures one size with few and with many threads, by turns, on a machine with more cores, and writes
docs/results/performance_cores.json, which the page shows, too.
"""

import ctypes
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import tyro
from studies.limits import best, limits

from anylight.joint.problem.eigenphotos import compress
from anylight.joint.problem.fit import basis_of, evaluate, first_light, linearise, raised
from anylight.joint.problem.packed import pack
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import elimination
from anylight.model.capture import Capture
from anylight.model.method import Progress
from anylight.model.samples import white_level
from anylight.pipeline import iterate
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from anylight.threads import num_threads, quiet_algebra, use_threads

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
    released: str | None = None
    """Command of another program, called with the folder of a capture, to be measured, too."""
    many: tuple[int, ...] = ()
    """With a height: measure these numbers of threads by turns, in this process."""
    rounds: int = 3
    """How often, with `--many`."""
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
        **against_limits(capture, threads),
        "pixels": pixels,
        "threads": num_threads(),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "bytes_per_pixel": round((peak - before) / pixels),
        "shares": shares,
    }


def by_turns(height: int, many: tuple[int, ...], rounds: int) -> dict[str, Any]:
    """One size with several numbers of threads, in this process."""
    capture = render(SynthOptions(height=height, images=20)).capture
    small = render(SynthOptions(height=64, images=20)).capture
    taken: dict[int, list[float]] = {threads: [] for threads in many}
    for k in range(rounds):
        for threads in many:
            if not k:
                for _ in iterate(small, threads=threads):
                    pass  # loads what is compiled
            begin = perf_counter()
            for _ in iterate(capture, threads=threads):
                pass
            taken[threads].append(round(perf_counter() - begin, 2))
            print(threads, taken[threads], flush=True)  # noqa: T201
    most = {threads: limits(threads) for threads in many}
    return {
        "machine": _processor(),
        "cores": os.cpu_count(),
        "pixels": int(capture.mask.sum()),
        "rows": [
            {
                "threads": threads,
                "seconds": taken[threads],
                "gigabytes": round(most[threads].bytes_read / 1e9, 1),
                "gigaflops": round(most[threads].operations / 1e9),
            }
            for threads in many
        ],
    }


def cores_table(found: dict[str, Any]) -> list[str]:
    """What more cores are worth."""
    one = found["rows"][0]
    lines = [
        "",
        f"On a machine with {found['cores']} cores ({found['machine']}), {found['pixels']} pixels; "
        "the shortest and the longest of runs by turns, and how many times as fast the shortest "
        "is, beside what the machine itself gains.",
        "",
        "| threads | seconds | times | reading | multiply-adds |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['threads']} | {min(row['seconds']):.1f} to {max(row['seconds']):.1f} | "
        f"{min(one['seconds']) / min(row['seconds']):.1f} | "
        f"{row['gigabytes'] / one['gigabytes']:.1f} | {row['gigaflops'] / one['gigaflops']:.1f} |"
        for row in found["rows"]
    ]
    apart = [row for row in found["rows"] if "apart" in row]
    if apart:
        said = "; ".join(
            f"{row['threads']} threads {min(row['apart']):.1f} to {max(row['apart']):.1f} s"
            for row in apart
        )
        times = min(apart[0]["apart"]) / min(apart[-1]["apart"])
        lines += [
            "",
            f"In processes of their own on that machine, whose cores are not equally fast: {said}; "
            f"the fastest of these are {times:.1f} times apart.",
        ]
    return lines


def against_limits(capture: Capture, threads: int | None) -> dict[str, Any]:
    """The solver's main pass, the product with the Newton matrix at order 8, and its limit.

    Counted for every pixel: two matrix products between monomials and photos, ten operations for
    every photo's shading; monomials, shading with two derivatives, weight, slopes and their
    gradient are read or written once.
    """
    photos = compress(capture, white_level(capture))
    cover = np.ones(len(photos.values), np.float32)
    level = PyramidLevel(np.array(capture.mask), capture.camera, pack(photos.values), 3, cover)
    surface = np.zeros(level.grid.shape)
    light = raised(level, first_light(level, surface, 1), 8)
    fit = evaluate(level, surface, light)
    at = linearise(level, light, fit, cover, keep=True)
    size, columns = basis_of(level, light).size, light.shape[1]
    change, slope = np.ones((columns, size), np.float32), np.zeros((2, level.size), np.float32)
    passes = elimination.num_passes(level.size)
    gathered = np.empty((passes, size, columns), np.float32)
    use_threads(threads)
    with quiet_algebra():
        seconds = best(
            lambda: elimination.normal_product(
                *at.at, cover, 3, fit.albedo, at.terms, at.shades, change, *slope, slope, gathered
            )
        )
    most = limits(threads)
    operations = level.size * (4 * size * columns + 10 * columns)
    moved = level.size * 4 * (size + 3 * columns + 3 + 5)
    limit = max(operations / most.operations, moved / most.bytes_read)
    return {
        "gigabytes": round(most.bytes_read / 1e9, 1),
        "gigaflops": round(most.operations / 1e9),
        "pass_ms": round(1e3 * seconds, 1),
        "pass_limit_ms": round(1e3 * limit, 1),
    }


def _memory(*, afresh: bool = False) -> int:
    """Largest memory of this process, or since it was last counted afresh (Linux)."""
    if afresh:
        ctypes.CDLL(None).malloc_trim(0)  # what was freed before would hide what is taken next
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


_DEFAULT = (
    "from anylight.pipeline import reconstruct; from anylight.synth.options import SynthOptions; "
    "from anylight.synth.render import render; "
    "reconstruct(render(SynthOptions(height=64, images=20)).capture)"
)


def compiled(*command: str) -> dict[str, Any]:
    """CPU seconds of some work with everything to be compiled, and once that is there."""
    with tempfile.TemporaryDirectory() as folder:
        first, later = (_cpu_seconds(*command, NUMBA_CACHE_DIR=folder) for _ in range(2))
    return {"first_cpu_seconds": round(first, 1), "later_cpu_seconds": round(later, 1)}


def _cpu_seconds(*command: str, **environment: str) -> float:
    """What a program and its children take."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def other_program(command: str, height: int) -> dict[str, Any]:
    """CPU seconds of another program on a capture of this height."""
    with tempfile.TemporaryDirectory() as folder:
        asked = ["synth", "--height", str(height), "--images", "20", "--out", f"{folder}/bust"]
        subprocess.run([sys.executable, "-m", "anylight.cli.main", *asked], check=True)
        seconds = _cpu_seconds(*shlex.split(command), f"{folder}/bust", OMP_NUM_THREADS="1")
    return {"cpu_seconds": round(seconds, 1)}


def page(found: dict[str, Any], cores: dict[str, Any] | None = None) -> str:
    """docs/performance.md; perhaps with what another machine with more cores does."""
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
    lines += [] if cores is None else cores_table(cores)
    other = found.get("released")
    lines += [
        "",
        "The released Python code, on the smallest of these: "
        + (f"{other['cpu_seconds']:.0f} CPU seconds." if other else "not installed here."),
        "",
        "What the machine itself can do, and the pass that takes most of the time (the product "
        "with the Newton matrix at order 8) against it: the longer of its multiply-adds and its "
        "bytes, as if nothing else took time.",
        "",
        "| pixels | threads | GB/s read | GFLOP/s | pass | its limit | times |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['pixels']} | {row['threads']} | {row['gigabytes']:.0f} | {row['gigaflops']:.0f} | "
        f"{row['pass_ms']:.1f} ms | {row['pass_limit_ms']:.1f} ms | "
        f"{row['pass_ms'] / row['pass_limit_ms']:.1f} |"
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
    lines += ["", "Compiling, once:", "", "| | first | later | compiling |", "|---|---|---|---|"]
    for name, spent in found["compiling"].items():
        first, later = spent["first_cpu_seconds"], spent["later_cpu_seconds"]
        lines.append(f"| {name} | {first:.0f} | {later:.0f} | {first - later:.0f} CPU seconds |")
    lines.append("")
    return "\n".join(lines)


def main(study: Study) -> None:
    """Measure, or measure everything in processes of their own."""
    more = study.folder / "results" / "performance_cores.json"
    if study.height is not None and study.many:
        more.parent.mkdir(parents=True, exist_ok=True)
        found = by_turns(study.height, study.many, study.rounds)
        more.write_text(json.dumps(found, indent=1) + "\n")
        return
    if study.height is not None:
        print(json.dumps(measured(study.height, study.threads)))  # noqa: T201
        return
    cores, machine = use_threads(None), _processor()
    results = study.folder / "results" / "performance.json"
    found = json.loads(results.read_text()) if results.exists() else {}
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
    if study.released is not None:
        found["released"] = other_program(study.released, study.heights[0])
    run = (sys.executable, "-c")
    found["compiling"] = {
        "default": compiled(*run, _DEFAULT),
        "default, cast shadows, and the published method (`anylight warm-up`)": compiled(
            sys.executable, "-m", "anylight.cli.main", "warm-up"
        ),
    }
    results.write_text(json.dumps(found, indent=1) + "\n")
    cores_found = json.loads(more.read_text()) if more.exists() else None
    (study.folder / "performance.md").write_text(page(found, cores_found))


def _processor() -> str:
    """What computes."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else os.uname().machine


if __name__ == "__main__":
    main(tyro.cli(Study))

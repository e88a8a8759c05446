"""SIGKILL at random times: runs, batches with their workers, benchmarks.

After every kill the output is what it was before or the new one, whole; at the end one run without
a kill leaves no trace of all the others and gives the bytes of a run that was never disturbed.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .results import QUICK, leftovers, wrong_with

PROGRAM = [sys.executable, "-m", "anylight.cli.main"]
_REMEMBERING = """
import sys
from anylight.io import journal
from anylight.cli.main import main
journal.WORTH = journal.SHORT = 0.0
sys.exit(main(sys.argv[1:]))
"""
"""The program, but every part of the work is remembered, however short it was."""
_PATIENCE = 300.0
"""Seconds that a run without a kill may take."""
_LONGEST = 2.5
"""Seconds after which a short run is killed at the latest."""


def _ended(words: list[str], environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Run a program to its end; gives its code and what it said. No end is a code, too."""
    try:
        run = subprocess.run(
            words, capture_output=True, check=False, timeout=_PATIENCE, env=environment
        )
    except subprocess.TimeoutExpired:
        return -1, f"no end after {_PATIENCE:.0f} s"
    return run.returncode, run.stderr.decode(errors="replace")


def _killed(
    arguments: list[str], chance: random.Random, is_writing: Callable[[], bool]
) -> tuple[bool, int]:
    """Start the program and kill it; whether it was alive, and the number of its session."""
    run = subprocess.Popen(
        [*PROGRAM, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + chance.uniform(0.0, _LONGEST)
    if chance.random() < 0.5:  # half of them while it writes
        end = time.monotonic() + 30
        while not is_writing() and run.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        deadline = time.monotonic() + chance.uniform(0.0, 0.4)
    while time.monotonic() < deadline and run.poll() is None:
        time.sleep(0.002)
    is_alive = run.poll() is None
    run.kill()
    run.wait()
    return is_alive, run.pid


def runs(capture: Path, place: Path, count: int, seed: int = 0) -> dict[str, Any]:
    """Kill single runs into the same folder."""
    chance, out = random.Random(seed), place / "out"
    asked = ["run", str(capture), "--out", str(out), *QUICK]
    subprocess.run([*PROGRAM, *asked], check=True, capture_output=True)
    reference = (out / "result.npz").read_bytes()
    wrong: list[str] = []
    killed = 0
    for number in range(count):
        if number % 10 == 5:  # now and then there is no earlier result
            shutil.rmtree(out, ignore_errors=True)
        killed += _killed([*asked, "--again"], chance, _news_in(place))[0]
        wrong += [f"kill {number}: {fault}" for fault in wrong_with(out)]
    code, said = _ended([*PROGRAM, *asked, "--again"])
    if code or wrong_with(out):
        wrong.append(f"the last run failed: {said[-200:]!r}")
    elif (out / "result.npz").read_bytes() != reference:
        wrong.append("the last run gives other bytes")
    wrong += [f"left over: {name}" for name in leftovers(place)]
    return {"what": "run", "killed": killed, "started": count, "wrong": wrong[:5]}


def resumed(place: Path, count: int, seed: int = 0) -> dict[str, Any]:
    """Kill a run of the default, cast shadows and all, again and again; each goes on.

    Kills come at random times, after a tenth to four tenths of what a whole run takes. The end must
    be in the bytes of a run that was never disturbed, and leave no memories behind.
    """
    capture, out, chance = place / "drapery", place / "out", random.Random(seed)
    asked = ["--shape", "drapery", "--cast-shadows", "--images", "8", "--height", "40"]
    subprocess.run(
        [*PROGRAM, "synth", *asked, "--out", str(capture)], check=True, capture_output=True
    )
    words = [sys.executable, "-c", _REMEMBERING, "run", str(capture), "--only-result", "--out"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(place / "cache")}
    begin, wrong, killed = time.monotonic(), [], 0
    code, said = _ended([*words, str(place / "whole")], environment)
    took = time.monotonic() - begin
    if code:
        return {"what": "resumed", "killed": 0, "started": 0, "wrong": [said[-300:]]}
    while not wrong_with(out) and not out.exists() and killed < count:
        run = subprocess.Popen(
            [*words, str(out)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.wait(chance.uniform(0.1, 0.4) * took)
        killed += run.poll() is None
        run.kill()
        run.wait()
    code, said = _ended([*words, str(out), "--again"], environment)
    if code:
        wrong.append(f"the last run failed: {said[-200:]!r}")
    results = [(place / name / "result.npz") for name in ("whole", "out")]
    if not results[1].is_file() or results[0].read_bytes() != results[1].read_bytes():
        wrong.append("the run that was killed and went on gives other bytes")
    wrong += [f"left over: {path}" for path in (place / "cache").rglob("*.npz")]
    return {"what": "resumed", "killed": killed, "started": killed, "wrong": wrong[:5]}


def batches(capture: Path, place: Path, count: int, seed: int = 0) -> dict[str, Any]:
    """Kill the coordinator of a batch, then go on with it; its workers must end by themselves."""
    captures = [place / f"capture{letter}" for letter in "abc"]
    for folder in captures:
        shutil.copytree(capture, folder)
    names = list(map(str, captures))
    asked = ["batch", *names, "--jobs", "2", "--only-result", *QUICK]
    done = [*PROGRAM, *asked, "--out"]
    subprocess.run([*done, str(place / "whole")], check=True, capture_output=True)
    out = place / "killed"
    wrong, killed = _killed_often([*asked, "--out", str(out)], out, count, seed)
    code, said = _ended([*done, str(out)])
    if code:
        wrong.append(f"the last batch failed: {said[-200:]!r}")
    for folder in captures:
        wrong += wrong_with(out / folder.name)
        pair = [place / way / folder.name / "result.npz" for way in ("whole", "killed")]
        if not pair[1].is_file() or pair[0].read_bytes() != pair[1].read_bytes():
            wrong.append(f"{folder.name} differs from that of an undisturbed batch")
    wrong += [f"left over: {name}" for name in leftovers(out)]
    return {"what": "batch", "killed": killed, "started": count, "wrong": wrong[:5]}


def benchmarks(place: Path, count: int, seed: int = 0) -> dict[str, Any]:
    """Kill the coordinator of a benchmark, then go on with it."""
    asked = ["bench", "--shapes", "tennyson", "--albedos", "white", "bars", "ebsd", "--methods",
             "favaro2012", "paper", "--height", "48", "--jobs", "2", "--out"]  # fmt: skip
    whole, out = place / "whole", place / "killed"
    subprocess.run([*PROGRAM, *asked, str(whole)], check=True, capture_output=True)
    wrong, killed = _killed_often([*asked, str(out)], out, count, seed)
    code, said = _ended([*PROGRAM, *asked, str(out)])
    if code:
        wrong.append(f"the last benchmark failed: {said[-200:]!r}")
    for path in sorted((whole / "cells").glob("*.json")):
        numbers = []
        for folder in (whole, out):
            found = folder / "cells" / path.name
            numbers.append(json.loads(found.read_text())["metrics"] if found.is_file() else None)
        if numbers[0] != numbers[1]:
            wrong.append(f"{path.name} differs from that of an undisturbed benchmark")
    wrong += [f"left over: {name}" for name in leftovers(out)]
    return {"what": "bench", "killed": killed, "started": count, "wrong": wrong[:5]}


def _news_in(place: Path) -> Callable[[], bool]:
    """Tells whether there is a stage that was not there before."""
    known = set(leftovers(place))
    return lambda: bool(set(leftovers(place)) - known)


def _killed_often(arguments: list[str], out: Path, count: int, seed: int) -> tuple[list[str], int]:
    """Kill a coordinator again and again; gives what is wrong, and how often it was killed."""
    chance, killed = random.Random(seed), 0
    wrong: list[str] = []
    for number in range(count):
        was_alive, session = _killed(arguments, chance, _news_in(out))
        killed += was_alive
        deadline = time.monotonic() + 30
        while (workers := _of_session(session)) and time.monotonic() < deadline:
            time.sleep(0.05)
        if workers:
            wrong.append(f"kill {number}: {len(workers)} workers live on")
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        for folder in [path for path in out.glob("*/") if (path / "result.npz").exists()]:
            wrong += [f"kill {number}: {fault}" for fault in wrong_with(folder)]
    return wrong, killed


def _of_session(session: int) -> list[int]:
    """Living processes that were started by one that is dead."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rsplit(")")[-1].split()
        except OSError:
            continue
        if int(words[3]) == session and words[0] != "Z":
            found.append(int(folder.name))
    return found

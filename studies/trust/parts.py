"""Parts of the study in processes of their own, none of which may hang."""

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .corpus import CORPUS, PATIENCE

ROOT = Path(__file__).parents[2]
_LONGEST = 900.0
"""Seconds that any part may take before it counts as hanging."""


def _words(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", f"studies.trust.{module}", *arguments]


def _run(words: list[str], patience: float) -> tuple[int, str, str]:
    """Run a process; no end is a code of its own."""
    try:
        run = subprocess.run(
            words, capture_output=True, text=True, check=False, cwd=ROOT, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return -1, "", f"no end after {patience:.0f} s"
    return run.returncode, run.stdout, run.stderr


def apart(part: str, what: str, good: Path, patience: float = _LONGEST) -> dict[str, Any]:
    """Faults or options in a process of their own."""
    code, said, complaint = _run(_words("apart", part, what, str(good)), patience)
    if code:
        return {"tried": 0, "wrong": [f"{part} {what}: {complaint[-500:]}"]}
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def guided(name: str, seconds: float, seed: int = 0) -> dict[str, Any]:
    """Let atheris look for bytes that reach new code."""
    words = _words("guided", name, str(seconds), str(seed))
    code, _, complaint = _run(words, seconds + 4 * PATIENCE)
    done = [line for line in complaint.splitlines() if line.startswith("Done ")]
    tried = int(done[-1].split()[1]) if done else 0
    wrong = [] if code == 0 else [f"{name}: {complaint[-600:]}"]
    return {"parser": name, "tried": tried, "wrong": wrong}


def corpus(numbers: Sequence[int], good: Path, patience: float = PATIENCE) -> dict[str, Any]:
    """Bad captures by their numbers, one after the other in one process.

    One that hangs, or kills the process, is a fault with a name; the others go on without it.
    """
    left: list[int] = list(numbers)
    wrong: list[str] = []
    while left:
        case, fault = _until_one_hangs(left, good, patience, wrong)
        if case is None:
            break
        wrong.append(f"{CORPUS[case].name}: {fault}")
        left = left[left.index(case) + 1 :]
    return {"tried": len(numbers), "wrong": wrong}


def _until_one_hangs(
    numbers: list[int], good: Path, patience: float, wrong: list[str]
) -> tuple[int | None, str]:
    """Try bad captures; gives the one that did not end, and why."""
    words = _words("apart", "corpus", ",".join(map(str, numbers)), str(good))
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as run:
        lines: queue.Queue[str | None] = queue.Queue()
        assert run.stdout is not None

        def listen(stream: Any = run.stdout) -> None:
            for line in stream:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=listen, daemon=True).start()
        case, ended = numbers[0], 0
        try:
            while (line := lines.get(timeout=patience)) is not None:
                said = json.loads(line)
                if "begun" in said:
                    case = said["begun"]
                else:
                    ended += 1
                    wrong += said["wrong"]
        except queue.Empty:
            run.kill()
            return case, f"no end after {patience:.0f} s"
        code = run.wait()
    return (None, "") if ended == len(numbers) else (case, f"the process ended with {code}")

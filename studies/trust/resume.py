"""What a killed run of some size repeats: `python -m studies.trust.resume CAPTURE [--record]`.

The run is killed (SIGKILL) when everything is solved and nothing is written yet: what it then
repeats is what any kill costs, besides the part that is at work just then.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import tyro

from .parts import ROOT

RESULTS = ROOT / "docs" / "results" / "trust.json"
_CHILD = """
import os, signal, sys, time
from anylight.cli import run
from anylight.io.journal import FileJournal
plain, leave = FileJournal.keep, run.leave

def keep(self, key, memory, seconds):
    begin = time.perf_counter()
    plain(self, key, memory, seconds)
    print("part", seconds, time.perf_counter() - begin, flush=True)

def left(folder, identity, asked, intake, result, *more):
    print("solved", result.seconds["solve"], int(intake.capture.mask.sum()), flush=True)
    if sys.argv[1] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    leave(folder, identity, asked, intake, result, *more)

FileJournal.keep, run.leave = keep, left
from anylight.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


def measured(capture: Path) -> dict[str, Any]:
    """Run, kill, run again; seconds of both, and of the longest part."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
        words = ["run", str(capture.resolve()), "--only-result", "--out", f"{folder}/out"]
        said = []
        for way, code in (("die", -9), ("live", 0)):
            run = subprocess.run(
                [sys.executable, "-c", _CHILD, way, *words],
                capture_output=True, text=True, check=False, env=environment,
            )  # fmt: skip
            if run.returncode != code:
                raise RuntimeError(run.stderr[-500:])
            said.append([line.split() for line in run.stdout.splitlines()])
        parts = [(float(line[1]), float(line[2])) for line in said[0] if line[0] == "part"]
        whole, again = (next(line for line in some if line[0] == "solved") for some in said)
    return {
        "pixels": int(whole[2]),
        "seconds": round(float(whole[1]), 1),
        "repeated_seconds": round(float(again[1]), 1),
        "longest_part_seconds": round(max(seconds for seconds, _ in parts), 1),
        "writing_seconds": round(sum(seconds for _, seconds in parts), 1),
        "load": round(os.getloadavg()[2], 1),
        "cores": os.cpu_count(),
    }


def main(capture: tyro.conf.Positional[Path], record: bool = False) -> None:
    """Measure, and perhaps write it into docs/results/trust.json.

    Args:
        capture: of a size that matters.
        record: keep the figures.
    """
    found = measured(capture)
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    if record:
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps({**kept, "resume": found}, indent=1) + "\n")


if __name__ == "__main__":
    tyro.cli(main)

"""The corpus: bad captures, built anew every time, each with its exit code and a phrase.

    python -m studies.trust.corpus FOLDER     # builds all of them to look at

A case fails if the program ends with another code, does not say the phrase, shows a traceback,
takes more than a minute, leaves something where nothing should be, or writes NaN into a result.
"""

import contextlib
import io
import re
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

from anylight.cli.main import main as program

from .bad_files import FILES
from .bad_photos import PHOTOS
from .case import Bad

CORPUS: list[Bad] = [*PHOTOS, *FILES]
PATIENCE = 60.0
"""Seconds."""
Call = Callable[[list[str]], tuple[int, str]]
"""Runs the program; gives its exit code and what it said."""


def good_capture(folder: Path) -> Path:
    """Render the capture that is spoiled: six photos, mask, intrinsics, notes."""
    asked = ["--shape", "vase", "--albedo", "voronoi", "--images", "6", "--height", "32"]
    if program(["synth", *asked, "--out", str(folder)]) != 0:
        raise RuntimeError("the good capture could not be rendered")
    shutil.rmtree(folder / "preview")
    (folder / "truth.npz").unlink()
    (folder / "capture.toml").unlink()
    return folder


def in_a_process(arguments: list[str]) -> tuple[int, str]:
    """Run the program as a user does."""
    try:
        run = subprocess.run(
            [sys.executable, "-m", "anylight.cli.main", *arguments],
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, f"no end after {PATIENCE:.0f} s"
    return run.returncode, run.stderr.decode(errors="replace")


def in_this_process(arguments: list[str]) -> tuple[int, str]:
    """Run the program here: faster, and as good where nothing dies."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = program(arguments)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        except Exception:  # noqa: BLE001
            code = 1
            said.write(traceback.format_exc())
    return code, said.getvalue()


def tried(case: Bad, good: Path, place: Path, call: Call = in_a_process) -> list[str]:
    """Build a bad capture in an empty place and run it; gives what is wrong with how it ended."""
    capture, out = place / "capture", place / "out"
    shutil.copytree(good, capture)
    case.build(capture)
    before = _everything(place)
    words = {"CAPTURE": str(capture), "OUT": str(out), "PLACE": str(place)}
    pattern = re.compile("|".join(words))
    arguments = [pattern.sub(lambda m: words[m[0]], word) for word in case.arguments]
    code, said = call(arguments)
    wrong = []
    if code != case.code:
        wrong.append(f"exit code {code} instead of {case.code}: {said[-300:]}")
    if "Traceback" in said:
        wrong.append(f"a traceback: {said[-300:]}")
    if case.phrase not in said:
        wrong.append(f"does not say '{case.phrase}': {said[-300:]}")
    if case.code == 2 and _everything(place) != before:
        wrong.append("something was written or removed")
    if case.code == 2 and len(_last_sentence(said)) != 1:
        wrong.append(f"more than one sentence: {said[-300:]}")
    if case.code == 0:
        wrong += _not_finite(out)
    return wrong


def _last_sentence(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("anylight: ")]


def _everything(place: Path) -> dict[str, int]:
    return {str(path): path.stat().st_size for path in place.rglob("*") if path.is_file()}


def _not_finite(out: Path) -> list[str]:
    """Arrays of a result that are not finite on the object."""
    with np.load(out / "result.npz", allow_pickle=False) as archive:
        mask = archive["mask"]
        fields = {name: archive[name] for name in ("depth", "normals", "albedo", "lighting")
                  if name in archive}  # fmt: skip
    return [
        f"NaN in {name}"
        for name, values in fields.items()
        if not np.isfinite(values if name == "lighting" else values[mask]).all()
    ]


def main() -> None:
    """Build the corpus."""
    place = Path(sys.argv[1])
    good = good_capture(place / "good")
    for case in CORPUS:
        folder = place / case.name.replace(" ", "_").replace("/", "_")
        shutil.copytree(good, folder / "capture")
        case.build(folder / "capture")
    sys.stdout.write(f"{len(CORPUS)} bad captures: {place}\n")


if __name__ == "__main__":
    main()

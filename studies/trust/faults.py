"""A disk that is full, a folder that may not be written, at every single write of a run.

Python tells of every file that is opened, made or moved before it happens; there the fault is
raised, at the first such moment, then the second, until the run gets through. Images, which a
library writes by itself, fail where they are handed to it; and every file fails by a limit on its
size, which the system enforces.
"""

import errno
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from anylight.io import images

from .corpus import PATIENCE, in_this_process
from .results import QUICK, leftovers, wrong_with

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
SIZES = (0, 100, 1_000, 4_000, 10_000, 16_000, 40_000, 60_000)
"""Bytes that a file may have."""


class _Saboteur:
    """Raises a fault at the n-th write below a folder."""

    def __init__(self) -> None:
        self.place, self.code, self.left, self.struck = "", 0, -1, ""
        self._is_installed = False

    def arm(self, place: Path, code: int, count: int) -> None:
        """Let so many writes pass, then strike once."""
        if not self._is_installed:
            sys.addaudithook(self._heard)
            plain = images._write

            def struck(path: Path, *more: Any) -> None:
                self._heard("image", (path,))
                plain(path, *more)

            images._write = struck  # type: ignore[assignment]
            self._is_installed = True
        self.place, self.code, self.left, self.struck = str(place), code, count, ""

    def disarm(self) -> None:
        """Let everything pass."""
        self.left = -1

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.left < 0 or event not in ("open", "image", "os.mkdir", "os.rename"):
            return
        path = str(arguments[0])
        writes = event != "open" or (arguments[2] or 0) & _WRITES
        if not writes or self.place not in path:
            return
        if self.left == 0:
            self.left, self.struck = -1, f"{event} {Path(path).name}"
            raise OSError(self.code, os.strerror(self.code), path)
        self.left -= 1


SABOTEUR = _Saboteur()


def at_every_write(capture: Path, place: Path, code: int, step: int = 1) -> dict[str, Any]:
    """Strike every write of a run in turn; an earlier result must stay whole."""
    out, wrong, count = place / "out", [], 0
    asked = ["run", str(capture), "--out", str(out), *QUICK]
    in_this_process(asked)
    before = (out / "run.json").read_bytes()
    for strike in range(0, 10_000, step):
        SABOTEUR.arm(place, code, strike)
        ended, said = in_this_process([*asked, "--again"])
        SABOTEUR.disarm()
        if not SABOTEUR.struck:
            break
        count += 1
        faults = wrong_with(out)
        if ended not in (0, 2) or "Traceback" in said:
            faults.append(f"ended with {ended}: {said[-200:]}")
        if ended == 2 and (out / "run.json").read_bytes() != before:
            faults.append("the earlier result was replaced")
        before = (out / "run.json").read_bytes()
        faults += leftovers(place)
        wrong += [f"{errno.errorcode[code]} at {SABOTEUR.struck}: {fault}" for fault in faults]
    return {"fault": errno.errorcode[code], "tried": count, "wrong": wrong[:5]}


def at_every_size(capture: Path, place: Path) -> dict[str, Any]:
    """Let files grow only so far, whoever writes them."""
    out, wrong = place / "out", []
    for size in SIZES:
        run = subprocess.run(
            [sys.executable, "-m", "anylight.cli.main", "run", str(capture), "--out", str(out),
             *QUICK],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size)),
        )  # fmt: skip
        faults = leftovers(place)
        if run.returncode != 2 or "Traceback" in run.stderr or out.exists():
            faults.append(f"ended with {run.returncode}: {run.stderr[-200:]}")
        wrong += [f"files of {size} bytes: {fault}" for fault in faults]
    return {"fault": "EFBIG", "tried": len(SIZES), "wrong": wrong[:5]}

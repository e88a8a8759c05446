"""The long form: everything by turns, in small portions with ever new seeds, until time is over."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from . import fuzz, kills, parts
from .corpus import CORPUS
from .parsers import PARSERS

Portion = tuple[str, Callable[[], dict[str, Any]]]
Found = dict[str, list[dict[str, Any]]]
_CODES = ("ENOSPC", "EACCES", "EIO", "EFBIG")
_CASES = 10
"""Bad captures of a portion."""
_FUZZ_SECONDS = 4.0
_GUIDED_SECONDS = 10.0
_OPTION_SECONDS = 8.0
_TASTES = 3
"""Parsers that a portion fuzzes."""


def portions(good: Path, place: Path) -> Iterator[Portion]:
    """What to do next, for ever."""
    names = list(PARSERS)
    for turn in count(1):
        folder = place / str(turn)
        folder.mkdir()

        def new(name: str, folder: Path = folder) -> Path:
            (folder / name).mkdir()
            return folder / name

        some = [names[(_TASTES * turn + k) % len(names)] for k in range(_TASTES)]
        cases = [(_CASES * turn + k) % len(CORPUS) for k in range(_CASES)]
        yield "kills", partial(kills.runs, good, new("runs"), 8, turn)
        for name in some:
            yield "fuzz", partial(fuzz.in_a_process, name, _FUZZ_SECONDS, 10**9, turn)
        yield "corpus", partial(parts.corpus, cases, good)
        yield "guided", partial(parts.guided, some[0], _GUIDED_SECONDS, turn)
        yield "options", partial(parts.apart, "options", f"{_OPTION_SECONDS}/{turn}", good)
        match turn % 4:
            case 0:
                yield "kills", partial(kills.batches, good, new("batches"), 2, turn)
            case 1:
                yield "kills", partial(kills.resumed, new("resumed"), 4, turn)
            case 2:
                yield "kills", partial(kills.benchmarks, new("benchmarks"), 2, turn)
            case _:
                code = _CODES[turn // 4 % len(_CODES)]
                yield "faults", partial(parts.apart, "faults", code, good)
        shutil.rmtree(folder)


def soak(good: Path, place: Path, minutes: float, rest: float) -> tuple[Found, float]:
    """Take portions until the time is over; gives what was found, and seconds of work.

    Args:
        good: the capture that is spoiled.
        place: for everything else.
        minutes: to go on for.
        rest: seconds of rest after every second of work.
    """
    found: Found = {}
    work, end = 0.0, time.monotonic() + 60 * minutes
    for part, portion in portions(good, place):
        begin = time.monotonic()
        try:
            result = portion()
        except Exception as error:  # noqa: BLE001
            result = {"tried": 0, "wrong": [f"{type(error).__name__}: {error}"]}
        took = time.monotonic() - begin
        work += took
        found.setdefault(part, []).append(result)
        for fault in result["wrong"]:
            sys.stdout.write(f"{part}: {fault}\n")
        sys.stdout.write(f"{(end - time.monotonic()) / 60:.0f} minutes left: {part}\n")
        sys.stdout.flush()
        if time.monotonic() + rest * took > end:
            break
        time.sleep(rest * took)
    return found, work

"""Parts that need a process of their own: `python -m studies.trust.apart PART WHAT CAPTURE`."""

import errno
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import faults, options
from .corpus import CORPUS, in_this_process, tried


def _corpus(numbers: str, good: Path, place: Path) -> None:
    """Bad captures by their numbers, "3,9,12"; a line before each, and a line after it."""
    for number in map(int, numbers.split(",")):
        _say({"begun": number})
        (place / str(number)).mkdir()
        found = tried(CORPUS[number], good, place / str(number), in_this_process)
        _say({"wrong": [f"{CORPUS[number].name}: {fault}" for fault in found]})


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run a part and print what it found."""
    part, what, good = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if part == "corpus":
            _corpus(what, good, place)
            return
        if part == "options":
            seconds, _, seed = what.partition("/")
            found = options.tried(good, float(seconds), 10**9, int(seed or 0))
        elif what == "EFBIG":
            found = faults.at_every_size(good, place)
        else:
            found = faults.at_every_write(good, place, getattr(errno, what))
    _say(found)


if __name__ == "__main__":
    main()

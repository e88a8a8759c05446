"""Parts that need a process of their own: `python -m studies.trust.apart PART WHAT CAPTURE`."""

import errno
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import faults, options
from .corpus import CORPUS, in_this_process, tried


def _corpus(numbers: str, good: Path, place: Path) -> dict[str, Any]:
    """Every so many-th bad capture, from the so many-th on: "begin/step"."""
    begin, step = map(int, numbers.split("/"))
    wrong, cases = [], CORPUS[begin::step]
    for number, case in enumerate(cases):
        (place / str(number)).mkdir()
        faults_found = tried(case, good, place / str(number), in_this_process)
        wrong += [f"{case.name}: {fault}" for fault in faults_found]
    return {"tried": len(cases), "wrong": wrong}


def main() -> None:
    """Run a part and print what it found."""
    part, what, good = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if part == "corpus":
            found = _corpus(what, good, place)
        elif part == "options":
            found = options.tried(good, float(what), 10**9)
        elif what == "EFBIG":
            found = faults.at_every_size(good, place)
        else:
            found = faults.at_every_write(good, place, getattr(errno, what))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

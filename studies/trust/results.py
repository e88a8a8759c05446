"""Whether what lies in an output folder is whole."""

import hashlib
import json
import os
import re
from pathlib import Path

_OURS = re.compile(r"\..*\.anylight-")

QUICK = ("--preset", "paper", "--iterations", "2", "--first-order-iterations", "1")
"""A run of a second."""


def wrong_with(out: Path) -> list[str]:
    """What is missing or damaged in the result of a run; a result that is not there is whole."""
    if not out.exists():
        return []
    try:
        files = json.loads((out / "run.json").read_text())["files"]
    except (OSError, ValueError, KeyError) as error:
        return [f"{out.name} has no sound run.json ({error})"]
    there = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()} - {"run.json"}
    wrong = [f"{name} is missing" for name in files.keys() - there]
    wrong += [f"{name} should not be there" for name in there - files.keys()]
    for name in files.keys() & there:
        if hashlib.sha256((out / name).read_bytes()).hexdigest() != files[name]:
            wrong.append(f"{name} is damaged")
    return wrong


def leftovers(place: Path) -> list[str]:
    """Hidden files and folders of ours."""
    found = []
    for _, folders, files in os.walk(place):  # unlike rglob, not disturbed by what vanishes
        found += [name for name in (*folders, *files) if _OURS.match(name)]
    return found

"""Bytes that are nearly right: cut, flipped, doubled, exchanged, mixed with words that matter.

Every parser is fuzzed in a process of its own with bounded memory, so that a crash of a library
below us is seen and named, not suffered.
"""

import argparse
import contextlib
import json
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from .parsers import PARSERS, Parser

MEMORY = 6 * 2**30
"""Address space of a process that fuzzes."""
SLOW = 10.0
"""Seconds that one file may take."""
HANGS = 300.0
"""Seconds beyond its time after which a process that fuzzes is thought to hang."""


def mutated(chance: random.Random, parser: Parser) -> bytes:
    """A good file with a few faults."""
    content = bytearray(parser.seed)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        size = len(content)
        at = chance.randrange(size + 1)
        match chance.randrange(8):
            case 0:
                del content[at:]
            case 1 if size:
                content[at % size] ^= 1 << chance.randrange(8)
            case 2 if size:
                content[at % size] = chance.choice((0, 1, 127, 128, 255, 45, 57))
            case 3:
                content[at:at] = chance.randbytes(chance.choice((1, 4, 64)))
            case 4 if parser.tokens:
                word = chance.choice(parser.tokens)
                content[at : at + chance.choice((0, len(word)))] = word
            case 5:
                end = min(size, at + chance.choice((1, 8, 100)))
                del content[at:end]
            case 6:
                piece = content[at : at + chance.choice((4, 32, 256))]
                other = chance.randrange(len(content) + 1)
                content[other:other] = piece
            case _ if size >= 4:
                number = chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, 65536))
                order = chance.choice(("little", "big"))
                start = at % (size - 3)
                content[start : start + 4] = number.to_bytes(4, order)  # type: ignore[arg-type]
            case _:
                content += b"\0"
    return bytes(content)


def fuzz(parser: Parser, seconds: float, most: int, seed: int, place: Path) -> dict[str, Any]:
    """Try as many files as so much of a core's time allows; gives how many, and what is wrong."""
    chance = random.Random(seed)
    deadline, count = time.process_time() + seconds, 0
    wrong: list[str] = []
    while count < most and time.process_time() < deadline and len(wrong) < 5:
        content = parser.seed if count == 0 else mutated(chance, parser)
        (place / "last").write_bytes(content)
        begin = time.monotonic()
        fault = parser.holds(content, place)
        took = time.monotonic() - begin
        count += 1
        if count == 1 and fault:
            wrong.append(f"the good file itself: {fault}")
        if fault or took > SLOW:
            wrong.append(
                f"{fault or f'took {took:.0f} s'} ({content[:60]!r}, {len(content)} bytes)"
            )
    return {"parser": parser.name, "tried": count, "wrong": wrong}


def in_a_process(name: str, seconds: float, most: int, seed: int = 0) -> dict[str, Any]:
    """Fuzz a parser in a process; its death is a fault that names the file."""
    with tempfile.TemporaryDirectory() as place:
        asked = ["--parser", name, "--seconds", str(seconds), "--most", str(most)]
        how, said = "", ""
        try:
            run = subprocess.run(
                [sys.executable, "-m", "studies.trust.fuzz", *asked, "--seed", str(seed), place],
                capture_output=True,
                text=True,
                check=False,
                cwd=Path(__file__).parents[2],
                timeout=seconds + HANGS,
            )
        except subprocess.TimeoutExpired:
            how = f"no end after {seconds + HANGS:.0f} s"
        else:
            if run.returncode == 0:
                found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
                return found
            died = run.returncode < 0
            how = signal.Signals(-run.returncode).name if died else f"code {run.returncode}"
            said = (run.stderr.strip().splitlines() or [""])[-1]
        last = Path(place) / "last"
        content = last.read_bytes() if last.exists() else b""
        kept = Path(tempfile.gettempdir()) / f"anylight-fuzz-{name.replace(' ', '_')}"
        kept.write_bytes(content)
        return {"parser": name, "tried": 0, "wrong": [f"{how} {said} (file kept as {kept})"]}


def main() -> None:
    """Fuzz one parser here."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--parser", choices=list(PARSERS))
    asked.add_argument("--seconds", type=float, default=5.0)
    asked.add_argument("--most", type=int, default=10**9)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("place", type=Path)
    given = asked.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        found = fuzz(PARSERS[given.parser], given.seconds, given.most, given.seed, given.place)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

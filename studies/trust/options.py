"""Options thrown together at random, sensible and not: an end with a code, never a traceback."""

import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from .corpus import PATIENCE, in_this_process

NUMBERS = ("0", "1", "2", "-1", "0.5", "1e-9", "1e12", "nan", "inf", "50mm", "")
FLAGS: dict[str, tuple[str, ...]] = {
    "--focal-35mm": (*NUMBERS, "50"),
    "--focal-px": (*NUMBERS, "300"),
    "--fov": (*NUMBERS, "40"),
    "--distance": (*NUMBERS, "600"),
    "--object-size": (*NUMBERS, "80"),
    "--downscale": ("1", "2", "3", "0", "99", "x"),
    "--transfer": ("linear", "srgb", "gamma"),
    "--mask": ("2,2 30,2 30,30 2,30", "1,1", "mask.png", ""),
    "--intrinsics": ("CAPTURE/K.txt", "CAPTURE/mask.png", "nowhere"),
    "--depth-prior": ("CAPTURE/mask.png", "nowhere.exr"),
    "--scale-points": ("3,3,20,20,15", "1,2,3", "nan,1,2,3,4"),
    "--init": ("balloon", "constant", "favaro2012", "nowhere.npz", "hemisphere:"),
    "--use": ("3", "5", "2", "99"),
    "--threads": ("1", "2", "0", "-3"),
    "--volume": (*NUMBERS, "0.1"),
    "--normal-format": ("opengl", "directx", "camera", "other"),
    "--iterations": ("1", "2", "0", "-1", "x"),
    "--method": ("paper", "favaro2012", "peng2017", "mo2018", "woodham", "magic"),
}
SWITCHES = ("--crop", "--align", "--orthographic", "--only-result", "--fit", "--flip", "--json")
COMMANDS = ("run", "run", "run", "info", "mask")


def combination(chance: random.Random, capture: Path, out: Path) -> list[str]:
    """A command with some options."""
    command = chance.choice(COMMANDS)
    words = [command, str(capture)]
    if command == "run":
        words += ["--preset", "paper", "--iterations", "2", "--first-order-iterations", "1"]
    for flag in chance.sample(list(FLAGS), chance.choice((0, 1, 1, 2, 3, 5))):
        words += [flag, chance.choice(FLAGS[flag]).replace("CAPTURE", str(capture))]
    words += chance.sample(SWITCHES, chance.choice((0, 0, 1, 2)))
    return words if command == "info" else [*words, "--out", str(out)]


def tried(capture: Path, seconds: float, most: int, seed: int = 0) -> dict[str, Any]:
    """Try as many as so much of a core's time allows."""
    chance, deadline, count = random.Random(seed), time.process_time() + seconds, 0
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out"
        while count < most and time.process_time() < deadline and len(wrong) < 5:
            words = combination(chance, capture, out)
            begin = time.monotonic()
            code, said = in_this_process(words)
            took = time.monotonic() - begin
            count += 1
            if code not in (0, 2, 3) or "Traceback" in said or took > PATIENCE:
                wrong.append(f"{' '.join(words)}: {code} after {took:.0f} s: {said[-300:]}")
            if code == 2 and (out.exists() or any(Path(place).iterdir())):
                wrong.append(f"{' '.join(words)}: left something behind")
            shutil.rmtree(out, ignore_errors=True)
    return {"tried": count, "wrong": wrong}

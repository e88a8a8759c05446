"""Build the wheel, install it into clean environments, and use it: `make wheel-check`.

Every supported Python that is on the path is tried. Nothing of the clone is in reach: the program
must work from the wheel alone.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
_SYNTH = ["synth", "--shape", "vase", "--images", "6", "--height", "48", "--out", "vase"]
_STEPS: tuple[list[str], ...] = (
    ["--version"],
    ["--help"],
    _SYNTH,
    ["info", "vase"],
    ["run", "vase", "--preset", "paper", "--iterations", "3", "--first-order-iterations", "1"],
    ["eval", "vase_result", "--truth", "vase", "--json"],
)


def built(folder: Path) -> Path:
    """The wheel of this clone."""
    asked = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*asked, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def wrong_with(wheel: Path) -> list[str]:
    """What a wheel holds that it should not, or lacks."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    foreign = [n for n in names if not n.startswith("anylight") or "__pycache__" in n]
    needed = (
        "anylight/__init__.pyi",
        "anylight/py.typed",
        "anylight/report/page.js",
        "anylight/viewer/view.js",
        "anylight/studio/page/main.js",
    )
    return [f"holds {n}" for n in foreign] + [f"lacks {n}" for n in needed if n not in names]


def used(python: str, wheel: Path, place: Path) -> str:
    """Install a wheel into a new environment and go through the first steps of a user."""
    subprocess.run([python, "-m", "venv", str(place / "env")], check=True, capture_output=True)
    program = place / "env" / "bin"
    subprocess.run(
        [str(program / "pip"), "install", "--quiet", str(wheel)], check=True, capture_output=True
    )
    (place / "work").mkdir()
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    said = ""
    for step in _STEPS:
        said = subprocess.run(
            [str(program / "anylight"), *step],
            cwd=place / "work", env=plain, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    return f"{json.loads(said)['mae_deg']:.2f} degrees after three steps"


def _is_there(python: str) -> bool:
    """Whether a Python can be run; a name on the path is not enough."""
    if shutil.which(python) is None:
        return False
    return subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode == 0


def main() -> None:
    """Check the wheel with every Python there is."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = built(Path(folder) / "wheel")
        faults = wrong_with(wheel)
        for python in PYTHONS:
            if not _is_there(python):
                sys.stdout.write(f"{python}: not on this machine\n")
                continue
            place = Path(folder) / python
            place.mkdir()
            sys.stdout.write(f"{python}: {used(python, wheel, place)}\n")
    sys.stdout.write("".join(f"the wheel {fault}\n" for fault in faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

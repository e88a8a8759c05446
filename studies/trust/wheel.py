"""Build the wheel, install it into clean environments, and use it: `make wheel-check`.

Every supported Python that is found is tried: on the path, those of pyenv, those of uv. Nothing of
the clone is in reach: the program must work from the wheel alone.
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


def found(python: str) -> str | None:
    """A Python of this version that can be run; a name on the path is not enough."""
    root = Path(os.environ.get("PYENV_ROOT", Path("~/.pyenv").expanduser()))
    kept = sorted(map(str, root.glob(f"versions/*/bin/{python}")))
    if shutil.which("uv"):
        asked = ["uv", "python", "find", "--no-python-downloads", python.removeprefix("python")]
        run = subprocess.run(asked, check=False, capture_output=True, text=True)
        kept += run.stdout.split()
    for candidate in (shutil.which(python), *kept):
        if candidate is not None and _runs(candidate, python):
            return candidate
    return None


def _runs(candidate: str, python: str) -> bool:
    words = [candidate, "-c", "import sys, venv; print('python%d.%d' % sys.version_info[:2])"]
    run = subprocess.run(words, check=False, capture_output=True, text=True)
    return run.stdout.strip() == python


def main() -> None:
    """Check the wheel with every Python there is."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = built(Path(folder) / "wheel")
        faults = [f"the wheel {fault}" for fault in wrong_with(wheel)]
        tried = 0
        for python in PYTHONS:
            interpreter = found(python)
            if interpreter is None:
                sys.stdout.write(f"{python}: not on this machine\n")
                continue
            place = Path(folder) / python
            place.mkdir()
            tried += 1
            try:
                words = used(interpreter, wheel, place)
            except subprocess.CalledProcessError as error:
                last = (error.stderr or b"")[-600:]
                told = last if isinstance(last, str) else last.decode(errors="replace")
                faults.append(f"{python}: {' '.join(map(str, error.cmd[:4]))}: {told}")
                words = "failed"
            sys.stdout.write(f"{python}: {words}\n")
            sys.stdout.flush()
        if not tried:
            faults.append("no supported Python was found")
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

"""Captures that studies need: rendered once, kept for the next time."""

from pathlib import Path

from anylight.cli.main import main as anylight_main


def rendered(folder: Path, mesh: Path, lights: Path, *more: str) -> Path:
    """Render a mesh under a folder of lights unless it is there; further arguments of `synth`."""
    if not (folder / "truth.npz").exists():
        asked = ["--shape", str(mesh), "--lights", str(lights), *more, "--out", str(folder)]
        code = anylight_main(["synth", *asked])
        if code:
            raise SystemExit(code)
    return folder

"""Prepare meshes and light maps for the benchmark, and compare them with those measured here.

    python -m studies.bench_data mesh SCAN.ply MESHES/lucy.ply --up z --front -y
    python -m studies.bench_data light MAP.hdr LIGHTS/map.hdr
    python -m studies.bench_data check MESHES LIGHTS

docs/results/bench_data.json lists every file with its source, its licence and its SHA-256.
"""

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import trimesh
import tyro

from anylight.io.images import read_image, save_environment

LIST = Path(__file__).parents[1] / "docs" / "results" / "bench_data.json"
Axis = Literal["x", "y", "z", "-x", "-y", "-z"]


@dataclass(frozen=True)
class Mesh:
    """Weld a scan, reduce it, turn it upright, put it into the unit ball."""

    scan: tyro.conf.Positional[Path]
    out: tyro.conf.Positional[Path]
    up: Axis = "y"
    """Axis of the scan that points up."""
    front: Axis = "z"
    """Axis of the scan that points to the viewer."""
    faces: int = 100_000
    """Most faces; reducing to them needs the package fast-simplification."""

    def run(self) -> None:
        """Prepare it."""
        loaded: Any = trimesh.load(self.scan, force="mesh", process=True)
        if len(loaded.faces) > self.faces:
            loaded = loaded.simplify_quadric_decimation(face_count=self.faces)
        up, front = _axis(self.up), _axis(self.front)
        turn = np.stack([np.cross(up, front), up, front])
        points = loaded.vertices @ turn.T
        points = points - (points.min(axis=0) + points.max(axis=0)) / 2
        points = points / np.linalg.norm(points, axis=1).max()
        trimesh.Trimesh(points, loaded.faces, process=False).export(self.out)


@dataclass(frozen=True)
class Light:
    """Reduce a latitude-longitude map to 512×256, keeping the light of every region."""

    map: tyro.conf.Positional[Path]
    out: tyro.conf.Positional[Path]

    def run(self) -> None:
        """Prepare it."""
        image = read_image(self.map).astype(np.float64)
        height, width, channels = image.shape
        step = height // 256
        if width != 2 * height or height % 256:
            sys.exit(f"{self.map}: {width}×{height}; its height must be a multiple of 256.")
        blocks = image.reshape(256, step, 512, step, channels).mean(axis=(1, 3))
        save_environment(self.out, blocks)


@dataclass(frozen=True)
class Check:
    """Compare files with those that docs/benchmark.md was measured with."""

    folders: tyro.conf.Positional[tuple[Path, ...]]

    def run(self) -> None:
        """Say of every file whether it is the same; ends with 1 if one is missing or differs."""
        bad = 0
        for row in json.loads(LIST.read_text()):
            found = [folder / row["file"] for folder in self.folders]
            found = [path for path in found if path.is_file()]
            same = any(_digest(path) == row["sha256"] for path in found)
            bad += not same
            state = "same" if same else "differs" if found else f"missing: {row['source']}"
            sys.stdout.write(f"{row['file']}: {state}\n")
        sys.exit(1 if bad else 0)


def _axis(name: str) -> np.ndarray:
    sign = -1.0 if name.startswith("-") else 1.0
    return sign * np.eye(3)["xyz".index(name[-1])]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def data_table() -> str:
    """All files, for docs/benchmark.md."""
    lines = ["| file | source | licence | SHA-256 |", "|---|---|---|---|"]
    for row in json.loads(LIST.read_text()):
        lines.append(f"| {row['file']} | {row['source']} | {row['licence']} | `{row['sha256']}` |")
    return "\n".join(lines)


Command = (
    Annotated[Mesh, tyro.conf.subcommand("mesh")]
    | Annotated[Light, tyro.conf.subcommand("light")]
    | Annotated[Check, tyro.conf.subcommand("check")]
)

if __name__ == "__main__":
    tyro.cli(Command, prog="bench_data").run()

"""Measure the published method: error against volume, smoothness and number of photos.

    python -m studies.paper --meshes DIR --lights DIR --work DIR

renders what is needed (protocol depth, forward differences, 480 pixels high, 25 photos of which 20
are used), runs `--preset paper` on it and appends every number to docs/results/paper.json. Cells
that are there already are not run again. `make tables` makes docs/paper.md and its figures from it.
"""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
import tyro
from studies.cells import Cells

from anylight.cli.main import main as anylight_main
from anylight.initial.options import BalloonOptions
from anylight.initial.start import balloon_start
from anylight.intake.load import load_capture
from anylight.io.archive import load_reconstruction, save_reconstruction
from anylight.metrics import evaluate
from anylight.model.capture import Capture
from anylight.model.reconstruction import Reconstruction
from anylight.paper.alternate import Report
from anylight.pipeline import reconstruct

SHAPES = ("armadillo", "lucy", "tennyson", "gargoyle")
ALBEDOS = ("white", "voronoi", "bars", "natural")
VOLUMES = (0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.27, 0.40)
PAIRS = (
    ("armadillo", "white"),
    ("tennyson", "ebsd"),
    ("lucy", "hippie"),
    ("gargoyle", "voronoi"),
)
"""The paper's four, tennyson and gargoyle in place of Joyful Yell and Thai Statue."""
SMOOTHNESSES = (0.0014, 0.0045, 0.014, 0.045, 0.14, 0.45, 1.4)
NUMBERS = (4, 6, 8, 10, 15, 20, 25)
VARIANTS: dict[str, dict[str, float]] = {
    "as published": {},
    "40 iterations": {"iterations": 40},
    "100 iterations": {"iterations": 100},
    "second order from the start": {"first_order_iterations": 0},
    "λ = 1": {"cauchy_scale": 1.0},
    "μ / 10": {"albedo_smoothness": 0.0045},
    "10 μ": {"albedo_smoothness": 0.45},
}
"""What else might be to blame for the error of the two shapes that keep most of it."""
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "paper.json"


@dataclass(frozen=True)
class Study:
    """Run the cells that are missing."""

    meshes: Path
    """Folder with armadillo.ply, lucy.ply, tennyson.ply, gargoyle.ply."""
    lights: Path
    """Folder of environment maps."""
    work: Path
    """Folder for rendered captures."""
    height: int = 480
    """Height of the photos."""


def capture_of(study: Study, shape: str, albedo: str) -> tuple[Capture, Reconstruction]:
    """Render a capture unless it is there."""
    folder = study.work / f"{shape}_{albedo}_{study.height}"
    if not (folder / "truth.npz").exists():
        code = anylight_main(
            ["synth", "--shape", str(study.meshes / f"{shape}.ply"), "--albedo", albedo,
             "--lights", str(study.lights), "--protocol", "depth", "--stencil", "forward",
             "--height", str(study.height), "--out", str(folder)]
        )  # fmt: skip
        if code:
            raise SystemExit(code)
    return load_capture(folder), load_reconstruction(folder / "truth.npz")


def run_cell(
    capture: Capture,
    truth: Reconstruction,
    key: dict[str, object],
    choices: dict[str, Any],
    keep: Path | None = None,
) -> dict[str, object]:
    """Run one cell."""
    begin = perf_counter()
    result = reconstruct(capture, method="paper", **choices)
    seconds = perf_counter() - begin
    trace: list[Report] = [progress.report for progress in result.trace]
    energies = [e for r in trace for e in (r.after_albedo, r.after_lighting, r.energy)]
    rises = int((np.diff(energies) > 1e-6 * energies[0]).sum())
    if keep is not None:
        save_reconstruction(keep, result.reconstruction)
    return {
        **key,
        **msgspec.structs.asdict(evaluate(result.reconstruction, truth)),
        "energy": trace[-1].energy,
        "energy_rises": rises,
        "pixels": int(capture.mask.sum()),
        "seconds": round(seconds, 2),
    }


def with_start(work: Path, capture: Capture, shape: str, volume: float) -> Path:
    """The balloon of a silhouette, computed once for all albedos."""
    path = work / f"start_{shape}_{volume}.npz"
    if not path.exists():
        domain = capture.domain()
        start = balloon_start(capture.camera, domain, BalloonOptions(volume=volume))
        scene = Reconstruction(
            np.array(capture.mask), capture.camera, depth=domain.scatter(start.depth)
        )
        save_reconstruction(path, scene)
    return path


def run_volumes(study: Study, cells: Cells, shape: str, albedo: str) -> None:
    """One set at every volume."""
    for volume in VOLUMES:
        key: dict[str, object] = {"study": "volume", "shape": shape, "albedo": albedo}
        key["volume"] = volume
        if cells.has(**key):
            continue
        capture, truth = capture_of(study, shape, albedo)
        start = with_start(study.work, capture, shape, volume)
        cells.add(run_cell(capture, truth, key, {"use": 20, "init": str(start)}))


def main(study: Study) -> None:
    """Run every missing cell."""
    study.work.mkdir(parents=True, exist_ok=True)
    cells = Cells(RESULTS)
    for shape in SHAPES:
        for albedo in ALBEDOS:
            run_volumes(study, cells, shape, albedo)
    for shape, albedo in PAIRS:
        volume = best_volume(cells.rows, shape)
        studies = [("smoothness", mu, 20) for mu in SMOOTHNESSES]
        studies += [("photos", 0.045, num) for num in NUMBERS]
        for kind, mu, num in studies:
            key = {"study": kind, "shape": shape, "albedo": albedo, "smoothness": mu, "photos": num}
            if cells.has(**key):
                continue
            capture, truth = capture_of(study, shape, albedo)
            start = with_start(study.work, capture, shape, volume)
            choices = {"use": num, "init": str(start), "albedo_smoothness": mu}
            cells.add({**run_cell(capture, truth, key, choices), "volume": volume})
        run_volumes(study, cells, shape, albedo)
        key = {"study": "constant", "shape": shape, "albedo": albedo}
        if not cells.has(**key):
            capture, truth = capture_of(study, shape, albedo)
            cells.add(run_cell(capture, truth, key, {"use": 20, "init": "constant"}))
    run_variants(study, cells)


def run_variants(study: Study, cells: Cells) -> None:
    """Change one number at a time where the error is largest."""
    for shape in ("tennyson", "gargoyle"):
        volume = best_volume(cells.rows, shape)
        for name, changes in VARIANTS.items():
            key: dict[str, object] = {"study": "variant", "shape": shape, "variant": name}
            key["albedo"] = "white"
            if cells.has(**key):
                continue
            capture, truth = capture_of(study, shape, "white")
            start = with_start(study.work, capture, shape, volume)
            choices = {"use": 20, "init": str(start), **changes}
            cells.add({**run_cell(capture, truth, key, choices), "volume": volume})


def best_volume(rows: list[dict[str, object]], shape: str) -> float:
    """The volume with the least mean error over the albedos of the table."""
    means = {
        volume: np.mean(
            [
                float(str(row["mae_fd_deg"]))
                for row in rows
                if row["study"] == "volume"
                and row["shape"] == shape
                and row["volume"] == volume
                and row["albedo"] in ALBEDOS
            ]
        )
        for volume in VOLUMES
    }
    return min(means, key=lambda volume: float(means[volume]))


if __name__ == "__main__":
    main(tyro.cli(Study, description=__doc__))

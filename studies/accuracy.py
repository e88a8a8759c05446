"""Measure the default method and the published one on rendered and real captures.

    python -m studies.accuracy --meshes DIR --lights DIR --real DIR --work DIR

renders what is needed (480 pixels high, 25 photos of which 20 are used), runs every cell that is
missing from docs/results/accuracy.json and appends it. `make tables` makes docs/method.md from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import tyro
from studies.captures import rendered
from studies.cells import Cells

from anylight.intake.load import load_capture
from anylight.io.archive import find_truth, load_reconstruction
from anylight.metrics import evaluate
from anylight.pipeline import reconstruct

SHAPES = ("armadillo", "lucy", "tennyson", "gargoyle", "laurana", "nefertiti")
ALBEDOS = ("white", "voronoi", "bars", "natural")
PAPER_VOLUMES = (0.03, 0.05, 0.08, 0.12, 0.18, 0.27)
START_VOLUMES = (0.05, 0.1, 0.2, 0.35)
REAL = ("ball", "bear", "cat")
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "accuracy.json"
RENDERINGS: dict[str, tuple[str, ...]] = {
    "A": (),
    "B": ("--protocol", "depth"),
    "B forward": ("--protocol", "depth", "--stencil", "forward"),
    "noise": ("--noise", "0.01", "--bits", "8"),
    "shadows": ("--cast-shadows",),
}


@dataclass(frozen=True)
class Study:
    """Run the cells that are missing."""

    meshes: Path
    """Folder with the meshes."""
    lights: Path
    """Folder of environment maps."""
    real: Path
    """Folder with ball, bear, cat (photos, mask, K.txt, gt.npz)."""
    work: Path
    """Folder for rendered captures."""
    albedos: tuple[str, ...] = ("voronoi",)
    """Albedos of the variations of set A; A and B take all four."""
    only: tuple[str, ...] = ()
    """Sets to run; all if not given."""


def capture_of(study: Study, rendering: str, shape: str, albedo: str) -> Path:
    """Render a capture unless it is there."""
    folder = study.work / rendering.replace(" ", "_") / f"{shape}_{albedo}"
    more = ("--albedo", albedo, *RENDERINGS[rendering])
    return rendered(folder, study.meshes / f"{shape}.ply", study.lights, *more)


def measure(cells: Cells, key: dict[str, Any], folder: Path, **choices: Any) -> None:
    """Run one cell unless it is there."""
    if cells.has(**key):
        return
    capture, truth = load_capture(folder), load_reconstruction(find_truth(folder))
    begin = perf_counter()
    result = reconstruct(capture, **choices)
    row = {
        **key,
        **msgspec.structs.asdict(evaluate(result.reconstruction, truth)),
        "pixels": int(capture.mask.sum()),
        "seconds": round(perf_counter() - begin, 2),
        "energy": result.record.get("energy"),
        "chosen": result.record.get("chosen"),
        "gauge": result.record.get("gauge"),
    }
    cells.add(row)
    print({name: row[name] for name in (*key, "mae_deg", "mae_fd_deg", "seconds")}, flush=True)  # noqa: T201


def run_default(study: Study, cells: Cells, name: str, rendering: str, **options: Any) -> None:
    """The default method on one set."""
    whole = name in ("A", "B")
    shapes = SHAPES[:4] if name.startswith("B") else SHAPES
    for albedo in ALBEDOS if whole else study.albedos:
        for shape in shapes:
            folder = capture_of(study, rendering, shape, albedo)
            extra = {"init": str(folder)} if name == "truth start" else {}
            key = {"set": name, "method": "default", "shape": shape, "albedo": albedo}
            measure(cells, key, folder, **{"use": 20, **options, **extra})


def run_paper(study: Study, cells: Cells, name: str, albedos: tuple[str, ...]) -> None:
    """The published method at several volumes."""
    for albedo in albedos:
        for shape in SHAPES:
            folder = capture_of(study, name, shape, albedo)
            for volume in PAPER_VOLUMES:
                key = {"set": name, "method": "paper", "shape": shape, "albedo": albedo,
                       "volume": volume}  # fmt: skip
                measure(cells, key, folder, method="paper", volume=volume, use=20)


def main(study: Study) -> None:
    """Run everything."""
    cells = Cells(RESULTS)
    steps: dict[str, Callable[[], None]] = {
        "A": lambda: run_default(study, cells, "A", "A"),
        "real": lambda: run_real(study, cells),
        "B": lambda: run_default(study, cells, "B", "B"),
        "paper": lambda: run_paper(study, cells, "A", ALBEDOS),
        "noise": lambda: run_default(study, cells, "noise", "noise"),
        "M = 10": lambda: run_default(study, cells, "M = 10", "A", use=10),
        "M = 6": lambda: run_default(study, cells, "M = 6", "A", use=6),
        "shadows": lambda: run_default(study, cells, "shadows", "shadows"),
        "paper shadows": lambda: run_paper(study, cells, "shadows", study.albedos),
        "truth start": lambda: run_default(study, cells, "truth start", "A"),
        "volumes": lambda: run_volumes(study, cells),
        "B forward": lambda: run_default(study, cells, "B forward", "B forward"),
    }
    for name, step in steps.items():
        if not study.only or name in study.only:
            step()


def run_volumes(study: Study, cells: Cells) -> None:
    """Starts from balloons of very different volume."""
    for albedo in study.albedos:
        for shape in ("tennyson", "laurana"):
            for volume in START_VOLUMES:
                key = {"set": "volumes", "method": "default", "shape": shape, "albedo": albedo,
                       "volume": volume}  # fmt: skip
                folder = capture_of(study, "A", shape, albedo)
                measure(cells, key, folder, volume=volume, use=20)


def run_real(study: Study, cells: Cells) -> None:
    """Photographs of real objects, with a long lens."""
    for shape in REAL:
        key = {"set": "real", "shape": shape}
        measure(cells, {**key, "method": "default"}, study.real / shape)
        paper = {"method": "paper", "volume": 0.15}
        measure(cells, {**key, "method": "paper"}, study.real / shape, **paper)


if __name__ == "__main__":
    main(tyro.cli(Study))

"""Measure what an unknown lens costs, and whether the stated play tells it.

    python -m studies.lenses --meshes DIR --lights DIR --real DIR --work DIR

runs every scene with its lens known and unknown, and appends what is missing to
docs/results/lenses.json. `make tables` makes its table in docs/method.md.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tyro
from studies.captures import rendered
from studies.cells import Cells

from anylight.geometry.camera import Perspective
from anylight.geometry.normals import angles_deg
from anylight.intake.intrinsics import FRAME_35MM, guessed_camera
from anylight.intake.load import load_capture
from anylight.io.archive import find_truth, load_reconstruction
from anylight.pipeline import reconstruct

SHAPES = ("armadillo", "gargoyle", "tennyson", "lucy", "nefertiti", "laurana")
OTHERS = (
    ("bunny", 0.78),
    ("laurana", 0.78),
    ("armadillo", 2.9),
    ("nefertiti", 2.9),
    ("bunny", 9.0),
)
"""Shapes behind other lenses: focal lengths over the image's height."""
REAL = ("bear", "cat")
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "lenses.json"


@dataclass(frozen=True)
class Study:
    """Run the scenes that are missing."""

    meshes: Path
    """Folder with the meshes."""
    lights: Path
    """Folder of environment maps."""
    real: Path
    """Folder with bear and cat (photos, mask, K.txt, gt.npz)."""
    work: Path
    """Folder for rendered captures."""


def capture_of(study: Study, shape: str, focal: float | None, cast: bool) -> Path:
    """Render a capture unless it is there."""
    name = f"{shape}_{'natural_cast' if cast else 'voronoi_none'}"
    name += "" if focal is None else f"_{focal:g}"
    return rendered(
        study.work / name, study.meshes / f"{shape}.ply", study.lights,
        "--albedo", "natural" if cast else "voronoi", "--height", "320", "--images", "20",
        *(["--cast-shadows"] if cast else []), *([] if focal is None else ["--focal", str(focal)]),
    )  # fmt: skip


def measure(cells: Cells, key: dict[str, object], folder: Path) -> None:
    """Run a scene twice unless it is there."""
    if cells.has(**key):
        return
    capture, truth = load_capture(folder), load_reconstruction(find_truth(folder))
    camera = capture.camera
    assert isinstance(camera, Perspective)
    assert truth.normals is not None
    unknown = replace(capture, camera=guessed_camera(capture.mask.shape).camera, lens_known=False)
    results = [reconstruct(one) for one in (capture, unknown)]
    found = []
    for result in results:
        assert result.reconstruction.normals is not None
        found.append(result.reconstruction.normals)
    known = capture.mask & np.isfinite(truth.normals).all(axis=-1)
    errors = [float(angles_deg(normals, truth.normals)[known].mean()) for normals in found]
    lens, gauge = results[1].record["lens"], results[1].record["gauge"]
    row = {
        **key,
        "true_35mm": round(camera.focal_px[0] / max(capture.mask.shape) * FRAME_35MM, 1),
        "chosen_35mm": lens["focal_35mm"],
        "possible_35mm": lens["possible_35mm"],
        "known_deg": round(errors[0], 2),
        "unknown_deg": round(errors[1], 2),
        "apart_deg": round(float(angles_deg(found[1], found[0])[capture.mask].mean()), 2),
        "stated_deg": max(gauge[name] for name in ("tilt_u_deg", "tilt_v_deg", "relief_deg")),
    }
    cells.add(row)
    print(row, flush=True)  # noqa: T201


def main(study: Study) -> None:
    """Run everything."""
    cells = Cells(RESULTS)
    for shape in REAL:
        measure(cells, {"set": "photographs", "shape": shape}, study.real / shape)
    for shape in SHAPES:
        folder = capture_of(study, shape, None, False)
        measure(cells, {"set": "no shadows", "shape": shape}, folder)
    for shape, focal in OTHERS:
        folder = capture_of(study, shape, focal, False)
        measure(cells, {"set": "other lenses", "shape": shape, "focal": focal}, folder)
    for shape in ("laurana", "armadillo", "happy_buddha"):
        folder = capture_of(study, shape, None, True)
        measure(cells, {"set": "cast shadows", "shape": shape}, folder)


if __name__ == "__main__":
    main(tyro.cli(Study))

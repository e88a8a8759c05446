"""Measure what explaining cast shadows is worth, and whether confidence tells the truth.

    python -m studies.shadows --meshes DIR --lights DIR --real DIR --work DIR

renders what is needed (320 pixels high, 20 photos), runs every cell that is missing from
docs/results/shadows.json and appends it. `make tables` makes its tables in docs/method.md.
"""

from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, Literal

import numpy as np
import tyro
from scipy.stats import spearmanr
from studies.captures import rendered
from studies.cells import Cells

from anylight.geometry.normals import angles_deg
from anylight.intake.load import load_capture
from anylight.io.archive import find_truth, load_reconstruction
from anylight.metrics import evaluate
from anylight.model.reconstruction import Reconstruction
from anylight.pipeline import reconstruct

SHAPES = ("armadillo", "gargoyle", "tennyson", "lucy", "nefertiti", "laurana")
FURTHER = ("bunny", "happy_buddha")
"""Shapes that no number was chosen on."""
GLOSSY = ("armadillo", "laurana", "nefertiti", "lucy")
ALBEDOS = ("voronoi", "natural")
REAL = ("ball", "bear", "cat")
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "shadows.json"
CLASSES = 8
"""Of pixels, by confidence, whose mean error is told."""
TOO_BRIGHT, WRONG_DEG = 2.0, 30.0
"""Paint and normal of a pixel that fell into a hole of the light."""


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
    only: tuple[Literal["shadows", "none", "further", "real", "traced", "gloss"], ...] = ()
    """Sets to run; all if not given. Traced ones take hours to render without a graphics card."""


WORLDS = {
    "none": (),
    "cast": ("--cast-shadows",),
    "traced": ("--bounces", "6"),
    "traced_gloss": ("--bounces", "6", "--gloss", "0.2"),
}
"""How a capture is rendered."""


def capture_of(study: Study, shape: str, albedo: str, world: str) -> Path:
    """Render a capture unless it is there."""
    return rendered(
        study.work / f"{shape}_{albedo}_{world}", study.meshes / f"{shape}.ply", study.lights,
        "--albedo", albedo, "--height", "320", "--images", "20", *WORLDS[world],
    )  # fmt: skip


def measure(cells: Cells, key: dict[str, Any], folder: Path, **choices: Any) -> None:
    """Run one cell unless it is there."""
    if cells.has(**key):
        return
    capture, truth = load_capture(folder), load_reconstruction(find_truth(folder))
    begin = process_time()
    result = reconstruct(capture, **choices)
    seconds = process_time() - begin
    scene = result.reconstruction
    assert scene.normals is not None
    assert scene.confidence is not None
    assert truth.normals is not None
    angle = angles_deg(scene.normals, truth.normals)
    known = scene.mask & np.isfinite(angle)
    error, sure = angle[known], scene.confidence[known]
    order = np.argsort(sure)
    classes = [
        (round(float(sure[some].mean()), 3), round(float(error[some].mean()), 2))
        for some in np.array_split(order, CLASSES)
    ]
    dark = [] if scene.openness is None else _by_openness(error, scene.openness[known])
    row = {
        **key,
        "mae_deg": round(float(error.mean()), 3),
        "mae_fd_deg": evaluate(scene, truth).mae_fd_deg,
        "rank": round(float(spearmanr(-sure, error).statistic), 3),
        "confidence": round(float(sure.mean()), 3),
        "classes": classes,
        "by_openness": dark,
        "collapsed": collapsed(scene, truth),
        "true_gauge": true_gauge(scene, truth),
        "pixels": int(capture.mask.sum()),
        "cpu_seconds": round(seconds, 1),
        "shadows": result.record.get("shadows"),
        "gauge": result.record.get("gauge"),
    }
    cells.add(row)
    shown = (*key, "mae_deg", "rank", "confidence", "cpu_seconds")
    print({name: row[name] for name in shown}, flush=True)  # noqa: T201


def _by_openness(error: np.ndarray, openness: np.ndarray) -> list[tuple[float, float]]:
    """Mean openness and mean error of four equal parts, the darkest first."""
    parts = np.array_split(np.argsort(openness), 4)
    return [(round(float(openness[p].mean()), 3), round(float(error[p].mean()), 2)) for p in parts]


def collapsed(scene: Reconstruction, truth: Reconstruction) -> float | None:
    """Share of pixels with a wrong normal and paint that is far too bright: holes of the light."""
    if truth.albedo is None or scene.albedo is None or scene.normals is None:
        return None
    assert truth.normals is not None
    angle = angles_deg(scene.normals, truth.normals)
    known = scene.mask & np.isfinite(angle)
    ratio = scene.albedo[known].mean(-1) / np.maximum(truth.albedo[known].mean(-1), 1e-3)
    bright = ratio > TOO_BRIGHT * np.median(ratio)
    return round(float((bright & (angle[known] > WRONG_DEG)).mean()), 5)


def true_gauge(scene: Reconstruction, truth: Reconstruction) -> dict[str, float]:
    """Error of the mean normal: what tilt and relief really are off by, in degrees."""
    assert scene.normals is not None
    assert truth.normals is not None
    known = scene.mask & np.isfinite(truth.normals).all(-1) & np.isfinite(scene.normals).all(-1)
    off = np.rad2deg((scene.normals[known] - truth.normals[known]).mean(0))
    return {
        "tilt_u_deg": round(float(off[0]), 2),
        "tilt_v_deg": round(float(off[1]), 2),
        "relief_deg": round(float(off[2] * np.sqrt(2)), 2),
    }


def main(study: Study) -> None:
    """Run everything."""
    cells = Cells(RESULTS)
    wanted = study.only or ("shadows", "none", "further", "real", "traced", "gloss")
    for kind, shapes, albedos, world in (
        ("shadows", SHAPES, ALBEDOS, "cast"),
        ("traced", SHAPES, ALBEDOS, "traced"),
        ("gloss", GLOSSY, ALBEDOS[1:], "traced_gloss"),
        ("further", FURTHER, ALBEDOS[1:], "cast"),
        ("none", SHAPES, ALBEDOS[:1], "none"),
    ):
        if kind not in wanted:
            continue
        for mode in ("auto",) if world == "none" else ("auto", "off"):
            for albedo in albedos:
                for shape in shapes:
                    key = {"set": kind, "shape": shape, "albedo": albedo, "mode": mode}
                    measure(cells, key, capture_of(study, shape, albedo, world), shadows=mode)
    for shape in REAL if "real" in wanted else ():
        for shadows in ("auto", "off"):
            key = {"set": "real", "shape": shape, "mode": shadows}
            measure(cells, key, study.real / shape, shadows=shadows)


if __name__ == "__main__":
    main(tyro.cli(Study))

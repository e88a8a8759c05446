"""Measure near lamps and hard ones.

    python -m studies.lamps --meshes DIR --lights DIR --raw DIR --work DIR

renders six shapes under lamps at two object sizes, runs them with and without the question whether
lamps are near, and one-lamp photographs with and without the phase that explains samples one by
one; appends what is missing to docs/results/lamps.json. `make tables` makes its tables in
docs/method.md.
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from studies.captures import rendered
from studies.cells import Cells

from anylight.geometry.normals import angles_deg
from anylight.intake.load import load_capture
from anylight.io.archive import find_truth, load_reconstruction
from anylight.joint.course.plan import Plan
from anylight.joint.explanation import Explanation, explain
from anylight.joint.options import DefaultOptions
from anylight.model.capture import Capture
from anylight.model.orders import orders_for
from anylight.model.samples import white_level
from anylight.pipeline import reconstruct

SHAPES = ("armadillo", "gargoyle", "tennyson", "lucy", "nefertiti", "laurana")
RAW = ("ball", "bear", "cat")
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "lamps.json"


@dataclass(frozen=True)
class Study:
    """Run the scenes that are missing."""

    meshes: Path
    """Folder with the meshes."""
    lights: Path
    """Folder of environment maps."""
    raw: Path
    """Folder with ball, bear and cat, one lamp per photo (photos, mask, K.txt, gt.npz)."""
    work: Path
    """Folder for rendered captures."""


def _without_asking(capture: Capture) -> Explanation:
    """The default for far lamps, whatever the photos say."""
    plan = Plan(orders=orders_for(capture.num_photos), near=False)
    steps: Generator[Any, None, Explanation] = explain(
        capture, white_level(capture), DefaultOptions(shadows="off"), plan=plan
    )
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Explanation = end.value
            return found


def _error(normals: np.ndarray, truth: np.ndarray, mask: np.ndarray) -> float:
    known = mask & np.isfinite(truth).all(axis=-1)
    return round(float(angles_deg(normals, truth)[known].mean()), 2)


def near(study: Study, shape: str) -> dict[str, Any]:
    """A shape under lamps at two object sizes, and under the same lamps far away."""
    mesh = study.meshes / f"{shape}.ply"
    asked = ("--albedo", "voronoi", "--height", "320", "--images", "20")
    far_folder = rendered(study.work / f"{shape}_voronoi_none", mesh, study.lights, *asked)
    folder = rendered(
        study.work / f"{shape}_near", mesh, study.lights, *asked, "--lamp-distance", "2"
    )
    capture, truth = load_capture(folder), load_reconstruction(find_truth(folder))
    assert truth.normals is not None
    ignored = np.full(truth.normals.shape, np.nan)
    ignored[capture.mask] = _without_asking(capture).normals.T
    found = reconstruct(capture)
    far = reconstruct(load_capture(far_folder))
    assert found.reconstruction.normals is not None
    assert far.reconstruction.normals is not None
    return {
        "far_deg": _error(far.reconstruction.normals, truth.normals, capture.mask),
        "far_is_near": far.record["lamp_distance"] is not None,
        "ignored_deg": _error(ignored, truth.normals, capture.mask),
        "mae_deg": _error(found.reconstruction.normals, truth.normals, capture.mask),
        "lamp_distance": found.record["lamp_distance"],
    }


def hard(folder: Path) -> dict[str, Any]:
    """Photographs with one lamp each."""
    capture, truth = load_capture(folder), load_reconstruction(find_truth(folder))
    assert truth.normals is not None
    results = [reconstruct(capture, shadows=mode) for mode in ("off", "auto")]
    errors = []
    for result in results:
        assert result.reconstruction.normals is not None
        errors.append(_error(result.reconstruction.normals, truth.normals, capture.mask))
    return {
        "photos": capture.num_photos,
        "off_deg": errors[0],
        "mae_deg": errors[1],
        "verdict": results[1].record["shadows"]["verdict"],
    }


def main(study: Study) -> None:
    """Run everything."""
    cells = Cells(RESULTS)
    for shape in RAW:
        key = {"set": "one lamp", "shape": shape}
        if not cells.has(**key):
            cells.add({**key, **hard(study.raw / shape)})
            print(cells.rows[-1], flush=True)  # noqa: T201
    for shape in SHAPES:
        key = {"set": "near", "shape": shape}
        if not cells.has(**key):
            cells.add({**key, **near(study, shape)})
            print(cells.rows[-1], flush=True)  # noqa: T201


if __name__ == "__main__":
    main(tyro.cli(Study))

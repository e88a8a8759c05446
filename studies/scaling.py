"""Measure seconds and memory of the default method against the number of pixels.

    python -m studies.scaling [--shape MESH] [--work DIR]

renders an object at three sizes (8 bit, 20 photos), runs each in a process of its own and writes
docs/results/scaling.json. `make tables` makes docs/method.md from it.
"""

import json
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from time import perf_counter, process_time

import tyro
from studies.cells import Cells

from anylight.cli.main import main as anylight_main
from anylight.intake.load import load_capture
from anylight.io.archive import find_truth, load_reconstruction
from anylight.metrics import evaluate
from anylight.pipeline import reconstruct

HEIGHTS = (900, 1800, 3600)
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "scaling.json"


@dataclass(frozen=True)
class Study:
    """Run the sizes that are missing."""

    shape: str = "bust"
    """Embedded shape, or a mesh."""
    work: Path = Path(gettempdir()) / "anylight-scaling"
    """Folder for rendered captures."""
    capture: Path | None = None
    """Measure this capture and print the numbers, instead."""


def peak() -> int:
    """Largest resident size of this process so far, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(folder: Path) -> dict[str, float | None]:
    """Seconds, memory and error of one capture; compiled code is loaded by a small run first."""
    capture = load_capture(folder)
    small = capture.photos[:, ::8, ::8].copy(), capture.mask[::8, ::8].copy(), capture.camera
    reconstruct(type(capture)(*small))
    del small
    before = peak()
    begin, worked = perf_counter(), process_time()
    result = reconstruct(capture)
    seconds, worked = perf_counter() - begin, process_time() - worked
    after = peak()
    found = evaluate(result.reconstruction, load_reconstruction(find_truth(folder)))
    return {
        "pixels": int(capture.mask.sum()),
        "seconds": seconds,
        "cpu_seconds": worked,
        "before": before,
        "peak": after,
        "photo_bytes": capture.photos.nbytes,
        "mae_deg": found.mae_deg,
    }


def main(study: Study) -> None:
    """Run everything."""
    if study.capture is not None:
        print(json.dumps(measure(study.capture)))  # noqa: T201
        return
    cells = Cells(RESULTS)
    for height in HEIGHTS:
        key = {"shape": Path(study.shape).stem, "height": height}
        if cells.has(**key):
            continue
        folder = study.work / f"{key['shape']}_{height}"
        if not (folder / "truth.npz").exists():
            anylight_main(
                ["synth", "--shape", study.shape, "--albedo", "voronoi", "--images", "20",
                 "--bits", "8", "--supersample", "1", "--height", str(height),
                 "--out", str(folder)]
            )  # fmt: skip
        command = [sys.executable, "-m", "studies.scaling", "--capture", str(folder)]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        cells.add({**key, **json.loads(said.stdout.splitlines()[-1])})
        print(cells.rows[-1], flush=True)  # noqa: T201


if __name__ == "__main__":
    main(tyro.cli(Study))

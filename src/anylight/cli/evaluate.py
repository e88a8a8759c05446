"""`anylight eval`: measure a result against a known answer."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import rich.console
import rich.table
import tyro

from anylight.io.archive import find_truth, load_reconstruction
from anylight.io.results import Frame, load_result
from anylight.metrics import Metrics, evaluate


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Measure a result against the truth.

    Angles are in degrees over the truth's mask; a pixel the result lacks counts 90.
    Try: anylight eval out/vase --truth vase
    """

    result: tyro.conf.Positional[Path]
    """Folder with result.npz (or the file itself); or what another program made: a normal map
    (PNG, EXR, TIFF, .npy, .npz) or a depth (one-channel image, .npy, .npz)."""
    truth: Path
    """Truth: an .npz file, or a folder with truth.npz or gt.npz."""
    frame: Frame = "opengl"
    """Of a normal map: opengl (x right, y up, z to the viewer), directx (y down) or camera (x
    right, y down, z away); files that say it themselves are believed."""
    json: bool = False
    """Print one flat JSON object instead of a table; unknown numbers are null."""

    def run(self, console: rich.console.Console) -> None:
        """Measure and print."""
        del console
        result = load_result(self.result, self.frame)
        truth = load_reconstruction(find_truth(self.truth))
        if result.camera is None:
            result = replace(result, camera=truth.camera)
        metrics = evaluate(result, truth)
        if self.json:
            sys.stdout.write(msgspec.json.encode(metrics).decode() + "\n")
        else:
            rich.console.Console().print(_table(metrics))


def _table(metrics: Metrics) -> rich.table.Table:
    table = rich.table.Table("metric", "value", box=None)
    for name, value in msgspec.structs.asdict(metrics).items():
        table.add_row(name, "unknown" if value is None else f"{value:.4f}")
    return table

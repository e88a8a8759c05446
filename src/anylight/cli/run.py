"""`anylight run`: reconstruct a capture."""

import csv
import hashlib
import platform
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import rich.console
import tyro
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from anylight.geometry.camera import kind_of
from anylight.io.archive import save_reconstruction
from anylight.io.capture import load_capture
from anylight.io.folder import Owned, check_output, staged_folder
from anylight.io.images import save_environment, write_image
from anylight.joint.newton import NewtonReport
from anylight.model.capture import Capture
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.environment import panorama
from anylight.pictures import contact_sheet, radiance_picture, scene_pictures
from anylight.pipeline import Result, RunOptions, reconstruct
from anylight.solve.alternate import Report, Status

from .progress import say, shown_progress

OWNED = Owned(
    marker="run.json",
    patterns=(
        "result.npz",
        "trace.csv",
        "run.json",
        "preview/*.png",
        "lights/*.hdr",
        "lights/*.exr",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """Reconstruct shape, albedo and light from a capture.

    Writes result.npz, trace.csv, previews and, last, run.json. Ctrl-C keeps what has been reached.
    Try: anylight run vase --out out/vase
    """

    capture: tyro.conf.Positional[Path]
    """Folder with photos, mask.png and K.txt (docs/formats.md)."""
    out: Path
    """Folder to write; it must be new, empty, or from an earlier run."""
    options: RunOptions = field(default_factory=RunOptions)

    def run(self, console: rich.console.Console) -> None:
        """Load, solve, write."""
        check_output(self.out, OWNED)
        with shown_progress(console) as report:
            capture = load_capture(self.capture, lambda done, of: report("read", done / of))
        if not console.is_terminal:
            say(console, "solving (the first run ever compiles for up to a minute)")
        result = _shown(console, capture, self.options)
        for warning in result.warnings:
            say(console, f"warning: {warning}", style="yellow")
        with _undisturbed(), staged_folder(self.out, OWNED) as stage:
            write_result(stage, result, capture, self.options)
        say(
            console,
            f"{result.status}; {len(result.trace)} steps in {result.seconds['solve']:.1f} s: "
            f"{self.out}",
        )
        if result.status is Status.INTERRUPTED:
            raise SystemExit(130)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a finished solve be written even if Ctrl-C is pressed once more."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _line(report: Report | NewtonReport, options: RunOptions) -> str:
    if isinstance(report, NewtonReport):
        return (
            f"{report.start}, level {report.level}, order {report.order}, step {report.iteration}: "
            f"energy {report.energy:.4g} per pixel"
        )
    return (
        f"iteration {report.iteration}/{options.paper.iterations}, order {report.order}: "
        f"energy {report.energy.total:.6g} = data {report.energy.data:.6g} "
        f"+ smoothness {report.energy.smoothness:.6g}"
    )


def _shown(console: rich.console.Console, capture: Capture, options: RunOptions) -> Result:
    if not console.is_terminal:
        return reconstruct(capture, options, lambda r, _: say(console, _line(r, options)))
    columns = (BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("starting (the first run ever compiles for up to a minute)", total=1.0)
        return reconstruct(
            capture,
            options,
            lambda r, share: bars.update(task, completed=share, description=_line(r, options)),
        )


def write_result(folder: Path, result: Result, capture: Capture, options: RunOptions) -> None:
    """Write everything a run leaves; run.json last, so that its presence means completeness."""
    save_reconstruction(folder / "result.npz", result.reconstruction)
    _write_trace(folder / "trace.csv", result.trace)
    (folder / "preview").mkdir()
    _write_previews(folder / "preview", result.reconstruction)
    (folder / "lights").mkdir()
    assert result.reconstruction.lighting is not None
    suffix = ".hdr" if capture.num_channels in (1, 3) else ".exr"
    for index, light in enumerate(panorama(result.reconstruction.lighting)):
        save_environment(folder / "lights" / f"light_{index:02d}{suffix}", light)
    record = msgspec.json.encode(_record(result, capture, options))
    (folder / "run.json").write_bytes(msgspec.json.format(record, indent=2) + b"\n")


def _write_trace(path: Path, trace: tuple[Report, ...] | tuple[NewtonReport, ...]) -> None:
    rows = [_row(report) for report in trace]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["iteration"])
        writer.writeheader()
        writer.writerows(rows)


def _row(report: Report | NewtonReport) -> dict[str, Any]:
    row = {**asdict(report), "seconds": f"{report.seconds:.4f}"}
    if isinstance(report, Report):
        terms = report.energy
        row |= {"energy": terms.total, "data": terms.data, "smoothness": terms.smoothness}
    return row


def _write_previews(folder: Path, scene: Reconstruction) -> None:
    for name, picture in scene_pictures(scene).items():
        write_image(folder / f"{name}.png", picture)
    assert scene.lighting is not None
    lights = [
        radiance_picture(np.maximum(light, 0), max(float(np.quantile(light, 0.98)), 1e-12))
        for light in panorama(scene.lighting)
    ]
    for index, light in enumerate(lights):
        write_image(folder / f"light_{index:02d}.png", light)
    write_image(folder / "lights.png", contact_sheet(lights, columns=min(5, len(lights))))


def _record(result: Result, capture: Capture, options: RunOptions) -> dict[str, Any]:
    photos = result.reconstruction.photos
    assert photos is not None
    return {
        "status": str(result.status),
        "warnings": list(result.warnings),
        "options": options,
        "preset": result.preset,
        "start": {"kind": options.init, "volumes": list(result.start.volumes)},
        "orders": sorted({report.order for report in result.trace}),
        **_course(result.trace),
        **result.findings,
        "photos": [capture.names[i] if capture.names else str(i) for i in photos],
        "inputs": {
            "photos_sha256": _digest(capture.photos[photos]),
            "mask_sha256": _digest(capture.mask),
            "K": capture.camera.matrix.tolist(),
            "camera": kind_of(capture.camera),
            "init_sha256": _file_digest(Path(options.init)),
        },
        "threads": result.threads,
        "seconds": result.seconds,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("anylight", "numpy", "scipy", "numba")},
        },
    }


def _course(trace: tuple[Report, ...] | tuple[NewtonReport, ...]) -> dict[str, Any]:
    published = [report for report in trace if isinstance(report, Report)]
    steps = [report for report in trace if isinstance(report, NewtonReport)]
    if steps:
        return {
            "energies": [report.energy for report in steps],
            "steps_refused": sum(report.refused for report in steps),
        }
    return {
        "energies": [report.energy.total for report in published],
        "depth_steps_rejected": sum(report.depth_rejected for report in published),
        "blocks_rejected": sum(report.blocks_rejected for report in published),
    }


def _digest(array: np.ndarray) -> str:
    digest = hashlib.sha256(f"{array.dtype} {array.shape}".encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _file_digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None

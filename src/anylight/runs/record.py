"""What a run leaves besides meshes and maps: its trace, its record, the story for the report."""

import csv
import hashlib
import platform
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from anylight.geometry.camera import kind_of
from anylight.intake.fingerprint import fingerprint
from anylight.intake.load import Intake
from anylight.model.capture import Capture
from anylight.model.finding import Finding
from anylight.model.method import Progress
from anylight.model.reconstruction import Reconstruction
from anylight.model.result import Result
from anylight.photometry.harmonics import order_of
from anylight.pipeline import RunOptions
from anylight.report.story import Story

Findings = tuple[tuple[Finding, ...], tuple[Finding, ...]]
"""Of the doctor before and after the run."""


def write_trace(path: Path, trace: tuple[Progress, ...]) -> None:
    """One row per step."""
    rows = [_row(progress) for progress in trace]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["iteration"])
        writer.writeheader()
        writer.writerows(rows)


def _row(progress: Progress) -> dict[str, Any]:
    row = _numbers(progress)
    return {k: f"{v:.4f}" if k == "seconds" else v for k, v in row.items()}


def _numbers(progress: Progress) -> dict[str, Any]:
    """A method's own numbers of a step: a dataclass, or a dictionary."""
    report = progress.report
    if is_dataclass(report) and not isinstance(report, type):
        return asdict(report)
    return dict(report) if isinstance(report, Mapping) else {"report": str(report)}


def plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as JSON has them, the rest in words."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


def record(
    result: Result, intake: Intake, asked: dict[str, msgspec.Struct], findings: Findings
) -> dict[str, Any]:
    """Everything about a run, as plain values.

    Args:
        result: of the run.
        intake: what it started from.
        asked: every set of options by its name; "options" are those of the solver.
        findings: of the doctor.
    """
    scene, capture = result.reconstruction, intake.capture
    photos = scene.photos
    assert photos is not None
    options = asked["options"]
    assert isinstance(options, RunOptions)
    return {
        **result.record,
        "status": str(result.status),
        "warnings": [*intake.warnings, *result.warnings],
        **asked,
        "method": result.method,
        "unit": scene.unit,
        "pixel_mm": scene.pixel_mm,
        "capture": intake.record(),
        "findings": {"before": list(findings[0]), "after": list(findings[1])},
        "init": options.init,
        **_course(result.trace),
        "photos": _names(capture, photos),
        "inputs": {
            "photos_sha256": _digest(capture.some(photos).photos),
            "mask_sha256": _digest(capture.mask),
            "K": capture.camera.matrix.tolist(),
            "camera": kind_of(capture.camera),
            "named_files": named_files(asked),
            "depth_sha256": None if capture.depth is None else _digest(capture.depth),
        },
        "threads": result.threads,
        "seconds": result.seconds,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Of everything that a number may depend on."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in ("anylight", "numpy", "scipy", "numba")},
    }


def story(
    result: Result, intake: Intake, asked: dict[str, msgspec.Struct], findings: Findings
) -> Story:
    """A run as its report tells it; arguments as for `record`."""
    scene, capture = result.reconstruction, intake.capture
    assert scene.photos is not None
    facts = {
        "status": str(result.status),
        "method": result.method,
        "photos": f"{len(scene.photos)} of {capture.num_photos}, {intake.stored}",
        "pixels": f"{np.count_nonzero(scene.mask)}",
        "camera": f"{kind_of(capture.camera)}, from {intake.camera.source}",
        "values": f"{intake.coding.coding} ({intake.coding.source})",
        "mask": intake.mask_source,
        "unit of depth": scene.unit or "free",
        "start": str(result.record.get("chosen", getattr(asked["options"], "init", "unknown"))),
        "order of the light": _order(scene),
        "seconds": f"{sum(result.seconds.values()):.1f}",
    }
    return Story(
        title=intake.source.name,
        scene=scene,
        photos=capture.some(scene.photos).photos,
        full_scale=capture.full_scale,
        names=tuple(_names(capture, scene.photos)),
        before=findings[0],
        after=findings[1],
        energies=energies(result),
        facts=facts,
        options={
            f"{group}.{name}" if group != "options" else name: value
            for group, options in asked.items()
            for name, value in msgspec.to_builtins(options).items()
        },
        versions=versions(),
    )


def _order(scene: Reconstruction) -> str:
    return "unknown" if scene.lighting is None else str(order_of(scene.lighting.shape[-1]))


def energies(result: Result) -> tuple[tuple[str, float], ...]:
    """Stage and energy of every step."""
    return tuple(
        (progress.stage, progress.energy)
        for progress in result.trace
        if progress.energy is not None
    )


def _course(trace: tuple[Progress, ...]) -> dict[str, Any]:
    """Energies, and how many steps of every kind were not taken."""
    rows = [_numbers(progress) for progress in trace]
    refused = {name for row in rows for name in row if name.endswith(("refused", "rejected"))}
    return {
        "energies": [progress.energy for progress in trace],
        "not_taken": {name: sum(row.get(name, 0) for row in rows) for name in sorted(refused)},
    }


def _names(capture: Capture, photos: np.ndarray) -> list[str]:
    return [capture.names[i] if capture.names else str(i) for i in photos]


def _digest(array: np.ndarray) -> str:
    digest = hashlib.sha256(f"{array.dtype} {array.shape}".encode())
    for part in array:
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def named_files(asked: dict[str, msgspec.Struct]) -> dict[str, str]:
    """Fingerprint of every file or folder that an option names, by the option."""
    values = {
        name: getattr(options, name, None)
        for options in asked.values()
        for name in ("mask", "intrinsics", "depth_prior", "init")
        if getattr(options, name, None) is not None
    }
    paths = {name: Path(str(value).removeprefix("hemisphere:")) for name, value in values.items()}
    return {name: fingerprint(path) for name, path in paths.items() if _exists(path)}


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a polygon is too long for a name
        return False

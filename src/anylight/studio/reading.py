"""Reading a capture, in a child process: what the files hold, and a session folder made of them."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from anylight.doctor.before import examine
from anylight.doctor.photos import photo_findings
from anylight.geometry.camera import Perspective, kind_of
from anylight.intake.fingerprint import fingerprint
from anylight.intake.intrinsics import FRAME_35MM
from anylight.intake.load import Intake, load
from anylight.intake.silhouette import find_silhouette
from anylight.io.capture import MASK_NAME, MATRIX_NAME, NOTES_NAME, is_mask, save_capture
from anylight.io.folder import Owned, staged_folder
from anylight.io.images import write_image
from anylight.model.finding import Finding
from anylight.synth.options import SynthOptions
from anylight.synth.render import render

from .child import Line

PHOTOS, MASK, FACTS = "photos.npy", "mask.npy", "studio.json"
"""Photos and mask in the private folder; facts and choices in the session's."""
OWNED = Owned(marker=FACTS, patterns=("*",))
_SIDECARS = (".txt", ".lp")
_SIDECAR_BYTES = 1_000_000
EXAMPLE = "example"
"""Stands for the fingerprint of the example."""
_EXAMPLE = SynthOptions(shape="bust", albedo="voronoi", images=12, height=240)


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out about a capture."""

    name: str
    fingerprint: str
    names: tuple[str, ...]
    """Of the photos, as files of the session folder."""
    width: int
    height: int
    stored: str
    """Size and depth of the photos, in words."""
    coding: str
    camera_kind: str
    camera_matrix: tuple[tuple[float, ...], ...]
    camera_source: str
    lens_known: bool
    focal_35mm: float | None
    """None behind parallel rays."""
    mask_source: str
    findings: tuple[Finding, ...]
    photo_findings: tuple[tuple[Finding, ...], ...]
    white: float
    """Stored value that is shown as white."""
    full_scale: float


def read(line: Line, source: str, folder: str, cache: str) -> dict[str, Any]:
    """Read a capture, examine it, and make its session folder unless it is one.

    Args:
        line: to the parent.
        source: the capture; empty: render the example.
        folder: of the session.
        cache: private folder for photos and mask as arrays.
    """

    def tell(task: str, share: float) -> None:
        line.tell("share", task=task, share=share)

    target, private = Path(folder), Path(cache)
    is_example = not source
    if is_example:
        rendering = render(_EXAMPLE, tell)
        (private / "example").mkdir()
        save_capture(private / "example", rendering.capture)
        source = str(private / "example")
    if (Path(source) / FACTS).is_file():
        _list_all(Path(source))
    intake = load(source, None, tell)
    examination = examine(intake, tell)
    capture = intake.capture
    np.save(private / PHOTOS, capture.photos)
    np.save(private / MASK, capture.mask)
    names = capture.names
    if not target.exists():
        with staged_folder(target, OWNED) as stage:
            names = _laid_out(intake, stage)
            (stage / FACTS).write_text("{}", encoding="utf-8")
    height, width = capture.mask.shape
    camera = capture.camera
    facts = Facts(
        name=target.name.removesuffix("_studio") if target.exists() else intake.source.name,
        fingerprint=EXAMPLE if is_example else fingerprint(Path(source)),
        names=names,
        width=width,
        height=height,
        stored=intake.stored,
        coding=intake.coding.coding,
        camera_kind=kind_of(camera),
        camera_matrix=tuple(tuple(row) for row in camera.matrix.tolist()),
        camera_source=intake.camera.source,
        lens_known=capture.lens_known,
        focal_35mm=camera.focal_px[0] / max(height, width) * FRAME_35MM
        if isinstance(camera, Perspective)
        else None,
        mask_source=intake.mask_source,
        findings=examination.findings,
        photo_findings=photo_findings(intake, examination),
        white=_white(capture.photos),
        full_scale=capture.full_scale,
    )
    return msgspec.to_builtins(facts)


def propose(line: Line, cache: str) -> None:
    """Make a mask from the photos that were read."""
    photos = np.load(Path(cache) / PHOTOS, mmap_mode="r", allow_pickle=False)
    found = find_silhouette(photos, lambda share: line.tell("share", task="mask", share=share))
    np.save(Path(cache) / "proposal.npy", found.mask)


def _laid_out(intake: Intake, folder: Path) -> tuple[str, ...]:
    """Put the photos and what belongs to them into a folder that `anylight run` understands."""
    source, capture = intake.source, intake.capture
    beside = [path for path in source.photos if path.parent == source.folder]
    if source.arrays is not None or len(beside) < len(source.photos):
        save_capture(folder, capture)
        return tuple(json.loads(_files(folder / NOTES_NAME)))
    for path in source.photos:
        _link(path, folder / path.name)
    for path in source.folder.iterdir():
        is_small = path.is_file() and path.stat().st_size < _SIDECAR_BYTES
        if path.suffix.lower() in _SIDECARS and is_small and path.name != MATRIX_NAME:
            shutil.copyfile(path, folder / path.name)
    write_mask(folder, np.asarray(capture.mask))
    return tuple(path.name for path in source.photos)


def write_mask(folder: Path, mask: np.ndarray) -> None:
    """Write the mask of a session; it appears whole or not at all."""
    for path in folder.iterdir():
        if is_mask(path) and path.name != MASK_NAME:
            path.unlink()
    part = folder / ".mask.part.png"
    write_image(part, np.where(mask, np.uint8(255), np.uint8(0))[..., None])
    os.replace(part, folder / MASK_NAME)


def _list_all(folder: Path) -> None:
    """List all photos of a session again, also those that were switched off."""
    names = json.loads((folder / FACTS).read_bytes()).get("facts", {}).get("names")
    notes = folder / NOTES_NAME
    if names and notes.is_file():
        lines = notes.read_text(encoding="utf-8").splitlines()
        files = "files = " + json.dumps(names, ensure_ascii=False)
        lines = [files if line.startswith("files = ") else line for line in lines]
        notes.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _files(notes: Path) -> str:
    """The list of photos in a capture.toml that we have written ourselves."""
    line = next(line for line in notes.read_text(encoding="utf-8").splitlines() if "files" in line)
    return line.partition("=")[2]


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source.resolve(), target)
    except OSError:  # another disk, or one without links
        shutil.copyfile(source, target)


def _white(photos: np.ndarray) -> float:
    """What is shown as white: bright parts of the brighter photos."""
    some = photos[:, :: max(1, photos.shape[1] // 100), :: max(1, photos.shape[2] // 100)]
    levels = [float(np.quantile(np.nan_to_num(photo), 0.99)) for photo in some]
    return max(float(np.quantile(levels, 0.75)), 1e-12)

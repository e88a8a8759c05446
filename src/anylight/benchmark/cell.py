"""One cell of the comparison: a method on a data set, as plain values in and out.

A cell is a pure function of its description, so that it gives the same numbers wherever it runs.
"""

import hashlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

import anylight
from anylight.arrays import DepthMap
from anylight.errors import InvalidInputError
from anylight.geometry.normals import depth_normals
from anylight.initial.start import hemisphere_start
from anylight.intake.load import load_capture
from anylight.io.archive import TRUTH_NAMES, load_reconstruction, save_reconstruction
from anylight.io.cache import user_cache
from anylight.io.capture import save_capture
from anylight.io.folder import Owned, staged_folder
from anylight.io.images import png_bytes
from anylight.io.results import load_result
from anylight.io.room import peak_memory
from anylight.metrics import evaluate
from anylight.model.capture import Capture
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.environment import panorama
from anylight.pictures import (
    Picture,
    albedo_picture,
    error_picture,
    normal_picture,
    radiance_picture,
    shrink,
)
from anylight.pipeline import RunOptions, reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render

from .mixing import mix, true_normals

_PICTURE = 200
_ERROR_DEG = 40.0
"""Angle that the error maps show as white."""
_CACHE = "ANYLIGHT_BENCH_CACHE"
_KEPT = Owned("truth.npz", ("*.png", "*.tif", "*.exr", "K.txt", "capture.toml", "truth.npz"))
"""Environment variable that names the folder for rendered scenes."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A data set: rendered, or photos on disk."""

    name: str
    synth: SynthOptions | None = None
    folder: str | None = None
    """Folder of photos, with gt.npz or truth.npz beside them if the answer is known."""
    mixed: int = 0
    """Mix one-light photos into so many under general light (see `mixing`)."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A method on a data set."""

    method: str
    """Name in the catalogue, or of a study."""
    scene: Scene
    options: RunOptions
    settings: dict[str, Any] = {}
    """Options of the method itself."""
    made: str | None = None
    """A result that was made elsewhere, to be measured instead of running anything."""
    stamp: str = ""
    """Size and time of that file, or of the program of another package's method: another file under
    the same name is another result."""
    wants_truth: bool = False
    """Start from the hemisphere around the true points."""
    study: str = "main"
    value: float | None = None
    """What a study varies."""

    @property
    def key(self) -> str:
        """File name of the cell: readable, and different for whatever differs."""
        digest = hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:10]
        return f"{self.study}-{self.scene.name}-{self.method}-{digest}"


@dataclass(frozen=True)
class Outcome:
    """What a cell gives: numbers, and pictures as PNG files."""

    record: dict[str, Any]
    pictures: dict[str, bytes]


def run_cell(cell: Cell, sharing: int = 1) -> Outcome:
    """Run a cell; a method that cannot run says so in the record.

    Args:
        cell: what to run.
        sharing: number of processes that share the machine.
    """
    capture, truth = scene_of(cell.scene)
    options = cell.options
    if sharing > 1:
        share = max(1, (os.cpu_count() or 1) // sharing)
        options = msgspec.structs.replace(options, threads=share)
    if options.use is not None and options.use > capture.num_photos:
        options = msgspec.structs.replace(options, use=None)
    record: dict[str, Any] = {
        "key": cell.key,
        "method": cell.method,
        "scene": cell.scene.name,
        "study": cell.study,
        "value": cell.value,
        "options": {**msgspec.to_builtins(options), **cell.settings},
        "rendering": _described(cell.scene.synth),
        "pixels": int(capture.mask.sum()),
        "photos": options.use or capture.num_photos,
        "versions": {"anylight": anylight.__version__, "numpy": np.__version__},
    }
    if cell.made is not None:
        return _measured(cell, record, capture, truth)
    begin = perf_counter()
    try:
        start: dict[str, Any] = {}
        if cell.wants_truth:
            start = {"start": _hemisphere(capture, truth)}
        result = reconstruct(capture, **msgspec.structs.asdict(options), **cell.settings, **start)
    except (InvalidInputError, np.linalg.LinAlgError) as error:
        return Outcome({**record, "status": "cannot", "message": str(error)}, {})
    record |= {
        "status": "done",
        "seconds": round(perf_counter() - begin, 2),
        "peak_memory_mb": round(peak_memory() / 1e6, 1),
        "warnings": list(result.warnings),
        "diagnostics": result.record.get("diagnostics", {}),
        "metrics": None if truth is None else _metrics(result.reconstruction, truth),
        "ran_on": {"host": socket.gethostname(), "pid": os.getpid()},
    }
    return Outcome(record, _pictures(result.reconstruction, capture, truth))


def _described(synth: SynthOptions | None) -> dict[str, Any] | None:
    """How a scene was rendered, without the folders of one machine."""
    if synth is None:
        return None
    names = {name: Path(getattr(synth, name)).name for name in ("shape", "lights")}
    return {**msgspec.to_builtins(synth), **names}


def _metrics(scene: Reconstruction, truth: Reconstruction) -> dict[str, Any]:
    return dict(msgspec.structs.asdict(evaluate(scene, truth)))


def _measured(
    cell: Cell, record: dict[str, Any], capture: Capture, truth: Reconstruction | None
) -> Outcome:
    """A result that was made elsewhere; a depth alone is judged by its finite differences."""
    assert cell.made is not None
    try:
        scene = load_result(Path(cell.made))
        if truth is not None and scene.camera is None:
            scene = replace(scene, camera=truth.camera)
        if scene.normals is None and scene.depth is not None and scene.camera is not None:
            synth = cell.scene.synth
            stencil = synth.stencil if synth and synth.protocol == "depth" else "central"
            normals = depth_normals(scene.camera, scene.depth, scene.mask, stencil)
            scene = replace(scene, normals=normals)
        metrics = None if truth is None else _metrics(scene, truth)
    except InvalidInputError as error:
        return Outcome({**record, "status": "cannot", "message": str(error)}, {})
    record |= {"status": "done", "seconds": None, "options": {}, "metrics": metrics}
    return Outcome(record, _pictures(scene, capture, truth))


def _hemisphere(capture: Capture, truth: Reconstruction | None) -> DepthMap:
    if truth is None:
        raise InvalidInputError("the hemisphere start needs the true depth.")
    domain = capture.domain()
    return domain.scatter(hemisphere_start(capture.camera, domain, truth).depth)


@lru_cache(maxsize=1)
def scene_of(scene: Scene) -> tuple[Capture, Reconstruction | None]:
    """Read or render a data set; renderings are kept in a cache folder for the next cell."""
    if scene.synth is not None:
        return _rendered(scene.synth)
    assert scene.folder is not None
    folder = Path(scene.folder)
    capture = load_capture(folder)
    truths = [folder / name for name in TRUTH_NAMES if (folder / name).is_file()]
    truth = load_reconstruction(truths[0]) if truths else None
    if truth is None:
        truth = true_normals(folder)
    if scene.mixed:
        capture = mix(capture, scene.mixed)
    return capture, truth


def _rendered(options: SynthOptions) -> tuple[Capture, Reconstruction]:
    digest = hashlib.sha256(msgspec.json.encode(options) + _stamp(options)).hexdigest()[:24]
    folder = cache_folder() / digest
    if not (folder / "truth.npz").is_file():
        made = render(options)
        with staged_folder(folder, _KEPT) as stage:
            save_capture(stage, made.capture)
            save_reconstruction(stage / "truth.npz", made.truth)
    return load_capture(folder), load_reconstruction(folder / "truth.npz")


def cache_folder() -> Path:
    """Where renderings are kept between cells: in the user's cache, which only the user writes."""
    given = os.environ.get(_CACHE)
    return Path(given) if given else user_cache("bench")


def _stamp(options: SynthOptions) -> bytes:
    """Size and time of the mesh: another file under the same name is another scene."""
    mesh = Path(options.shape)
    if not mesh.is_file():
        return b""
    facts = mesh.stat()
    return f"{facts.st_size} {facts.st_mtime_ns}".encode()


def _pictures(
    scene: Reconstruction, capture: Capture, truth: Reconstruction | None
) -> dict[str, bytes]:
    """What a page shows of a cell."""
    window = _window(scene.mask)
    white = float(np.quantile(capture.photos[0][capture.mask], 0.995)) or 1.0
    made: dict[str, Callable[[], Picture]] = {
        "input": lambda: radiance_picture(capture.photos[0].astype(np.float32), white)
    }
    if scene.normals is not None:
        normals = scene.normals
        made["normals"] = lambda: normal_picture(np.nan_to_num(normals), scene.mask)
    if scene.albedo is not None:
        albedo = scene.albedo
        made["albedo"] = lambda: albedo_picture(albedo, scene.mask)
    if truth is not None and truth.normals is not None:
        exact = truth.normals
        made["truth"] = lambda: normal_picture(np.nan_to_num(exact), truth.mask)
        if scene.normals is not None:
            made["error"] = lambda: error_picture(normals, exact, truth.mask, _ERROR_DEG)
    if truth is not None and truth.albedo is not None:
        paint = truth.albedo
        made["true_albedo"] = lambda: albedo_picture(paint, truth.mask)
    pictures = {name: png_bytes(shrink(make()[window], _PICTURE)) for name, make in made.items()}
    for name, known in (
        ("light", scene.lighting),
        ("true_light", None if truth is None else truth.lighting),
    ):
        if known is not None and known.shape[1] in (1, 3):
            light = np.maximum(panorama(known[:1], 32)[0], 0)
            top = max(float(np.quantile(light, 0.98)), 1e-12)
            pictures[name] = png_bytes(radiance_picture(light, top))
    return pictures


def _window(mask: np.ndarray) -> tuple[slice, slice]:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)

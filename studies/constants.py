"""Measure what every tuned constant of the default method does: halve it, double it.

    python -m studies.constants            # runs what is missing from docs/results/constants.json
    python -m studies.constants --jobs 2

Seven embedded scenes; `make tables` makes docs/constants.md of the results.
"""

import importlib
import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import msgspec
import numpy as np
import tyro
from scipy import ndimage
from studies.cells import Cells
from studies.declared import Declared, declared

from anylight.joint.options import DefaultOptions
from anylight.metrics import evaluate
from anylight.model.capture import Capture
from anylight.model.options import descriptions
from anylight.model.reconstruction import Reconstruction
from anylight.pipeline import reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "constants.json"
_BASE = SynthOptions(height=96, images=12, albedo="voronoi")
_DARK = 0.6
"""Exposure that makes the brightest tenth of a scene saturate is one over this."""


@dataclass(frozen=True)
class StudyScene:
    """A rendering and what is done to it."""

    synth: SynthOptions
    colour: bool = False
    """Keep all channels, not green alone; one is five times as fast."""
    clipped: bool = False
    known_depth: bool = False
    shadows: str = "off"
    """What the run is asked."""


SCENES = {
    "bust": StudyScene(_BASE),
    "coral, natural paint": StudyScene(
        msgspec.structs.replace(_BASE, shape="coral", albedo="natural")
    ),
    "drapery, fills the frame": StudyScene(
        msgspec.structs.replace(_BASE, shape="drapery", albedo="bars")
    ),
    "vase, long lens": StudyScene(msgspec.structs.replace(_BASE, shape="vase", focal=10.0)),
    "rings, noise and 8 bit": StudyScene(
        msgspec.structs.replace(_BASE, shape="rings", noise=0.01, bits=8)
    ),
    "bust, colour, saturated": StudyScene(
        msgspec.structs.replace(_BASE, albedo="natural", bits=8), colour=True, clipped=True
    ),
    "coral, shadows, known depth": StudyScene(
        msgspec.structs.replace(_BASE, shape="coral", cast_shadows=True), known_depth=True
    ),
}
SHADOW_SCENES = {
    "coral, natural paint, cast shadows": StudyScene(
        msgspec.structs.replace(
            _BASE, shape="coral", albedo="natural", height=64, images=10, cast_shadows=True
        ),
        shadows="auto",
    ),
}
"""Scenes for the rooms that know about cast shadows; the others run without that phase."""
NEAR_SCENES = {
    "medallion, near lamps, colour": StudyScene(
        msgspec.structs.replace(_BASE, shape="medallion", height=64, lamp_distance=2.0),
        colour=True,
    ),
}
"""Scenes for what is only asked where lamps may be near; without colour they are not found."""
NEAR_ROOMS = ("joint.course.closeness.", "joint.course.attempts._NEAR_STEPS", "joint.nearby.")
SHADOW_ROOMS = ("joint.shadows.", "joint.record.", "sky.")
LARGE = "bust, 240 pixels"
"""A scene of more pixels, for numbers of pixels that the others do not reach."""
SCENES_OF_SIZE = {LARGE: StudyScene(msgspec.structs.replace(_BASE, height=240))}
_EVERY = SCENES | SHADOW_SCENES | NEAR_SCENES | SCENES_OF_SIZE
BY_SIZE = ("joint.course.plan.FIRST_PIXELS", "joint.course.plan.START_PIXELS")
"""Constants that are measured on it as well."""
TRIED = {"joint.terms.gauge.MEAN_FACING": (0.5, 0.9)}
"""What is tried where half or double is no possible value."""
BASE = "as it is"
ROUND = 6
"""Counts the versions of the solver that were measured: a number is compared with what the same
version does as it is. (definition)"""
METRICS = ("mae_deg", "mae_fd_deg", "albedo_rmse", "lighting_error")


def scenes_for(key: str) -> tuple[str, ...]:
    """Scenes that a constant is measured on."""
    if key.startswith(NEAR_ROOMS):
        return tuple(NEAR_SCENES)
    return tuple(SHADOW_SCENES if key.startswith(SHADOW_ROOMS) else SCENES)


@cache
def scene_of(name: str) -> tuple[Capture, Reconstruction]:
    """Render a scene."""
    asked = _EVERY[name]
    made = render(asked.synth)
    capture = made.capture
    photos = capture.photos
    if not asked.colour:
        photos = np.ascontiguousarray(photos[..., 1:2])
    if asked.clipped:
        top = np.iinfo(photos.dtype).max
        photos = np.minimum(photos / _DARK, top).astype(photos.dtype)
    depth = None
    if asked.known_depth and made.truth.depth is not None:
        depth = _sensed(made.truth.depth, capture.mask)
    truth = made.truth
    if not asked.colour and truth.albedo is not None:
        truth = replace(truth, albedo=truth.albedo[..., 1:2])
    return replace(capture, photos=photos, depth=depth), truth


def _sensed(depth: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """A depth as a cheap sensor would deliver it: blurred, noisy, with strays and holes."""
    rng = np.random.default_rng(0)
    relief = float(depth[mask].std())
    filled = np.where(mask, depth, np.median(depth[mask]))
    sensed = ndimage.gaussian_filter(filled, 2.0) + 0.05 * relief * rng.standard_normal(mask.shape)
    sensed[rng.random(mask.shape) < 0.02] += relief
    return np.where(mask & (rng.random(mask.shape) > 0.1), sensed, np.nan)


@dataclass(frozen=True)
class Change:
    """A constant (or an option) at another value."""

    key: str
    module: str
    """Empty for an option."""
    name: str
    change: str
    value: Any


def tuned() -> list[Declared]:
    """Constants with a unit, and the numbers among the options."""
    options = [
        Declared("anylight.joint.options", name, str(value), text, "option", "")
        for name, text in descriptions(DefaultOptions).items()
        if type(value := getattr(DefaultOptions(), name)) is int and name != "order"
    ]
    return [constant for constant in declared() if constant.unit] + options


def changes() -> Iterator[Change]:
    """Every constant halved and doubled, integers rounded."""
    for constant in tuned():
        is_option = constant.unit == "option"
        module = "" if is_option else constant.module
        now = (
            getattr(DefaultOptions(), constant.name)
            if is_option
            else getattr(importlib.import_module(constant.module), constant.name)
        )
        tries = TRIED.get(constant.key, (_times(now, 0.5), _times(now, 2.0)))
        for change, value in zip(("halved", "doubled"), tries, strict=True):
            yield Change(constant.key, module, constant.name, change, value)


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, tuple):
        return tuple(_times(part, factor) for part in value)
    if isinstance(value, int):
        return max(1, round(value * factor))
    return type(value)(value * factor)


def measured(task: tuple[Change | None, str]) -> dict[str, Any]:
    """One constant at one value on one scene."""
    change, name = task
    capture, truth = scene_of(name)
    asked = _EVERY[name]
    settings: dict[str, Any] = {"shadows": asked.shadows}
    module, before = None, None
    if change is not None and not change.module:
        settings[change.name] = change.value
    elif change is not None:
        module = importlib.import_module(change.module)
        before = getattr(module, change.name)
        setattr(module, change.name, change.value)
    begin = process_time()
    try:
        result = reconstruct(capture, threads=1, **settings)
    finally:
        if module is not None and change is not None:
            setattr(module, change.name, before)
    found = msgspec.structs.asdict(evaluate(result.reconstruction, truth))
    return {
        "key": BASE if change is None else change.key,
        "change": BASE if change is None else change.change,
        "value": None if change is None else np.asarray(change.value).tolist(),
        "scene": name,
        "round": ROUND,
        "cpu_seconds": round(process_time() - begin, 2),
        **{metric: found[metric] for metric in METRICS},
    }


@dataclass(frozen=True)
class Constants:
    """Run what is missing."""

    jobs: int = 2
    """Processes, of one thread each."""


def main(options: Constants) -> None:
    """Run every constant on every scene."""
    cells = Cells(RESULTS)
    wanted: list[tuple[Change | None, str]] = [
        (change, name)
        for name in SCENES | SHADOW_SCENES | NEAR_SCENES
        for change in (None, *changes())
        if change is None or name in scenes_for(change.key)
    ]
    wanted += [
        (change, name)
        for name in SCENES_OF_SIZE
        for change in (None, *changes())
        if change is None or change.key in BY_SIZE
    ]
    tasks: list[tuple[Change | None, str]] = [
        (change, name)
        for change, name in wanted
        if change is not None and not cells.has(key=change.key, change=change.change, scene=name)
    ]
    for name in dict.fromkeys(name for _, name in tasks):
        if not cells.has(key=BASE, scene=name, round=ROUND):
            tasks.insert(0, (None, name))
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for number, row in enumerate(pool.imap(measured, tasks, chunksize=4), start=1):
            cells.add(row)
            print(f"{number}/{len(tasks)}", row["key"], row["change"], row["scene"],  # noqa: T201
                  round(row["mae_deg"], 3), row["cpu_seconds"], flush=True)  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Constants))

"""A run in a child process: it tells every step, shows what it has, and can be paused."""

from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from anylight.doctor.after import diagnose
from anylight.doctor.before import examine
from anylight.errors import InvalidInputError
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.io.folder import staged_folder
from anylight.model.capture import Capture
from anylight.model.method import Iteration, Progress, StopRequestedError
from anylight.model.result import Result
from anylight.model.scale import ScaleOptions, check_scale, to_scale
from anylight.pipeline import RunOptions, choose_photos, steps
from anylight.runs.folder import OWNED, leave, troubles
from anylight.runs.place import Identity

from .child import Line
from .choices import Choices
from .glimpse import glimpse
from .packing import packed_scene

PAUSE, RESUME, STOP = "pause", "resume", "stop"
_BETWEEN = 0.5
"""Seconds between two glimpses, at the least, and …"""
_EFFORT = 10.0
"""… this many times what the last one took."""
_VERTICES, _SIDE = 40_000, 400


def solve(line: Line, folder: str, out: str, choices: dict[str, Any]) -> dict[str, Any]:
    """Run a session, as `anylight run` would, and write the folder of its result.

    Args:
        line: to the parent.
        folder: of the session.
        out: of the result.
        choices: as builtin values.
    """
    asked = msgspec.convert(choices, Choices).asked()
    options, reading, scale = asked["options"], asked["intake"], asked["scale"]
    assert isinstance(options, RunOptions)
    assert isinstance(reading, IntakeOptions)
    assert isinstance(scale, ScaleOptions)

    def tell(task: str, share: float) -> None:
        line.tell("share", task=task, share=share)

    intake = load(folder, reading, tell)
    examination = examine(intake, tell)
    size = (intake.corner, intake.downscale, reading.distance)
    check_scale(scale, intake.capture, *size)
    intake = replace(intake, warnings=(*intake.warnings, *troubles(examination)))
    running = Iteration(steps(intake.capture, options, asked["settings"]))
    result = _driven(line, intake.capture.some(choose_photos(intake.capture, options.use)), running)
    result = replace(result, reconstruction=to_scale(result.reconstruction, scale, *size))
    after = diagnose(result, intake.capture, examination)
    with staged_folder(Path(out), OWNED) as stage:
        findings = (examination.findings, after)
        leave(stage, Identity.of(Path(folder)), asked, intake, result, findings, tell)
    return {"status": str(result.status)}


def _driven(line: Line, capture: Capture, running: Iteration[Result]) -> Result:
    """Run to the end, or until it is told to stop."""
    due, stopped = monotonic(), False
    try:
        for progress in running:
            line.tell(
                "step",
                share=progress.share,
                line=progress.line,
                stage=progress.stage,
                energy=progress.energy,
            )
            if monotonic() >= due:
                due = _shown(line, capture, progress)
            if not stopped and _is_stopped(line):
                stopped = True
                running.stop()
        return running.result
    except StopRequestedError as error:
        raise InvalidInputError("stopped before there was anything to keep.") from error


def _shown(line: Line, capture: Capture, progress: Progress) -> float:
    """Show what there is; when to do so again."""
    begin = monotonic()
    scene = glimpse(capture, progress.state)
    if scene is not None:
        frame = packed_scene(scene, _VERTICES, _SIDE, kind="glimpse")
        if frame is not None:
            line.tell("frame", frame=frame)
    return monotonic() + max(_BETWEEN, _EFFORT * (monotonic() - begin))


def _is_stopped(line: Line) -> bool:
    """Hear what the parent wants; a pause ends with another word."""
    word = line.heard()
    while word == PAUSE:
        line.tell("paused")
        word = line.heard(wait=True)
        if word == RESUME:
            line.tell("resumed")
    return word == STOP

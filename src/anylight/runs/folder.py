"""The folder of a run: what is said of it, and everything that it leaves."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from anylight.doctor.before import Examination
from anylight.errors import InvalidInputError
from anylight.export.folder import EXPORTED, scene_writers, write_previews
from anylight.intake.load import Intake
from anylight.io.archive import save_reconstruction
from anylight.io.folder import Owned
from anylight.io.images import write_image
from anylight.model.finding import Finding
from anylight.model.result import Result
from anylight.pictures import Sheet, mask_picture, shrink
from anylight.report.page import report_html
from anylight.report.story import Story
from anylight.threads import side_by_side

from .place import Identity, digests
from .record import Findings, plain, record, story, write_trace

OWNED = Owned(
    marker="run.json",
    patterns=("result.npz", "trace.csv", "run.json", "report.html", *EXPORTED),
)


_PREVIEW = 1600
_ONLY_HERE = ("movement", "sharpness", "darkness", "mask", "lights")
"""Topics that only the examination before a run knows."""


class OutputOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to write."""

    normal_format: Literal["opengl", "directx", "camera"] = "opengl"
    """Normal maps: opengl (x right, y up, z to the viewer), directx (green flipped), or camera
    (x right, y down, z away)."""
    only_result: bool = False
    """Write result.npz, trace.csv, previews and run.json alone: no meshes, maps and report."""


def untold(findings: Iterable[Finding], told: tuple[str, ...]) -> list[str]:
    """Bad findings that no warning has said yet."""
    return [
        " ".join(part for part in (finding.text, finding.remedy) if part)
        for finding in findings
        if finding.severity in ("problem", "warning")
        and finding.topic != "run"
        and finding.text.lower() not in {text.lower() for text in told}
    ]


def troubles(examination: Examination) -> list[str]:
    """Bad findings that nothing else warns of; far movement ends it here."""
    found = [
        finding
        for finding in examination.findings
        if finding.severity in ("problem", "warning") and finding.topic in _ONLY_HERE
    ]
    for finding in found:
        if finding.severity == "problem" and finding.topic == "movement":
            raise InvalidInputError(f"{finding.text} {finding.remedy}")
    return [f"{finding.text} {finding.remedy}" for finding in found]


def mask_preview(intake: Intake) -> Sheet:
    """The brightest of all photos with the surroundings tinted."""
    return shrink(mask_picture(intake.capture.photos, intake.capture.mask), _PREVIEW)


def leave(
    folder: Path,
    identity: Identity,
    asked: dict[str, msgspec.Struct],
    intake: Intake,
    result: Result,
    findings: Findings,
    progress: Callable[[str, float], None],
) -> None:
    """Write everything a run leaves; run.json last, so that its presence means completeness.

    Args:
        folder: where to; it exists and is empty.
        identity: of what was read.
        asked: all options by the name that the record has for them.
        intake: what it started from.
        result: of the run.
        findings: of the doctor, before and after.
        progress: told what is done, and the share of the work so far.
    """
    output = asked["output"]
    assert isinstance(output, OutputOptions)
    scene = result.reconstruction
    progress("write", 0.0)
    (folder / "preview").mkdir()
    write_trace(folder / "trace.csv", result.trace)
    tasks: dict[str, Callable[[], Any]] = {"previews": lambda: write_previews(folder, scene)}
    if not output.only_result:
        tasks = scene_writers(folder, scene, intake.capture.names, output.normal_format)
        tasks["report"] = lambda: _write_report(folder, story(result, intake, asked, findings))
    tasks |= {
        "archive": lambda: save_reconstruction(folder / "result.npz", scene),
        "mask": lambda: write_image(folder / "preview" / "mask.png", mask_preview(intake)),
        "record": lambda: record(result, intake, asked, findings),
    }
    done = side_by_side(tasks, lambda _, share: progress("write", 0.95 * share))
    told_all = {
        "fingerprint": identity.fingerprint,
        "place": identity.place,
        **done["record"],
        "files": digests(folder),
    }
    everything = msgspec.json.encode(told_all, enc_hook=plain)
    (folder / "run.json").write_bytes(msgspec.json.format(everything, indent=2) + b"\n")
    progress("write", 1.0)


def _write_report(folder: Path, told: Story) -> None:
    (folder / "report.html").write_text(report_html(told), encoding="utf-8")

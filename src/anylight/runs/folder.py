"""The folder of a run: what is said of it, and everything that it leaves."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import msgspec

from anylight.doctor.before import Examination
from anylight.errors import InvalidInputError
from anylight.export.folder import EXPORTED, export_scene, write_previews
from anylight.intake.load import Intake
from anylight.io.archive import save_reconstruction
from anylight.io.folder import Owned
from anylight.io.images import write_image
from anylight.model.finding import Finding
from anylight.model.result import Result
from anylight.pictures import Sheet, mask_picture, shrink
from anylight.report.page import report_html

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
    scene, capture = result.reconstruction, intake.capture
    progress("write", 0.0)
    save_reconstruction(folder / "result.npz", scene)
    write_trace(folder / "trace.csv", result.trace)
    (folder / "preview").mkdir()
    write_image(folder / "preview" / "mask.png", mask_preview(intake))
    if output.only_result:
        write_previews(folder, scene)
    else:
        export_scene(
            folder,
            scene,
            capture.names,
            output.normal_format,
            lambda _, share: progress("write", 0.1 + 0.6 * share),
        )
        told = story(result, intake, asked, findings)
        page = report_html(told, progress=lambda _, share: progress("write", 0.7 + 0.29 * share))
        (folder / "report.html").write_text(page, encoding="utf-8")
    told_all = {
        "fingerprint": identity.fingerprint,
        "place": identity.place,
        **record(result, intake, asked, findings),
        "files": digests(folder),
    }
    everything = msgspec.json.encode(told_all, enc_hook=plain)
    (folder / "run.json").write_bytes(msgspec.json.format(everything, indent=2) + b"\n")
    progress("write", 1.0)

"""What was read or taken for granted: which photos, which coding, which camera, which mask."""

import numpy as np

from anylight.geometry.camera import Orthographic, Perspective
from anylight.intake.intrinsics import LENS_REMEDY
from anylight.intake.load import Intake
from anylight.intake.photo import FOREIGN_SUFFIXES
from anylight.model.finding import Finding

from .sentences import FEW_PHOTOS

_FEW, _MANY = FEW_PHOTOS, 25
_FEW_PIXELS = 400


def about_photos(intake: Intake) -> list[Finding]:
    """How many photos, which were left out, how they were exposed."""
    capture = intake.capture
    text = f"{capture.num_photos} photos, {intake.stored} ({intake.source.dialect})."
    findings = [Finding("good", "photos", text)]
    if capture.num_photos < _FEW:
        findings.append(
            Finding(
                "warning",
                "photos",
                f"{capture.num_photos} photos leave much of light and shape open.",
                f"Take {_FEW} or more; 10 to {_MANY} under clearly different light work best.",
            )
        )
    if intake.source.left_out:
        names = ", ".join(intake.source.left_out[:3])
        foreign = any(n.lower().endswith(FOREIGN_SUFFIXES) for n in intake.source.left_out)
        findings.append(
            Finding(
                "warning" if foreign else "note",
                "photos",
                f"Left out: {names}"
                + (
                    f" and {len(intake.source.left_out) - 3} more."
                    if len(intake.source.left_out) > 3
                    else "."
                ),
                "HEIC and video are not read; convert them if they belong to it."
                if foreign
                else "",
            )
        )
    exposures = np.array(capture.exposures)
    if len(exposures) and np.ptp(exposures) > 0.02 * exposures.mean():
        text = f"Exposure differs by a factor {exposures.max() / exposures.min():.2g}; "
        findings.append(Finding("note", "exposure", text + "the light was divided by it.", ""))
    return findings


def about_coding(intake: Intake) -> list[Finding]:
    """How stored values were made into light."""
    coding = intake.coding
    text = {"linear": "Values are taken as linear", "srgb": "The sRGB curve was undone"}
    remedy = (
        "If that is wrong, give --transfer " + ("srgb." if coding.coding == "linear" else "linear.")
        if coding.is_judged
        else ""
    )
    severity = "note" if coding.is_judged else "good"
    return [Finding(severity, "gamma", f"{text[coding.coding]} ({coding.source}).", remedy)]  # type: ignore[arg-type]


def about_camera(intake: Intake) -> list[Finding]:
    """Which lens."""
    camera = intake.capture.camera
    if isinstance(camera, Orthographic):
        text = f"Parallel rays (from {intake.camera.source})."
    else:
        assert isinstance(camera, Perspective)
        longer = max(intake.capture.mask.shape)
        angle = 2 * np.degrees(np.arctan(longer / 2 / camera.focal_px[0]))
        text = (
            f"Focal length {camera.focal_px[0]:.0f} pixels, {angle:.0f}° across (from "
            f"{intake.camera.source})."
        )
        if intake.camera.guessed:
            text = "Nothing says which lens took the photos, and they hardly tell it themselves."
    findings = [
        Finding(
            "warning" if intake.camera.guessed else "good",
            "camera",
            text,
            LENS_REMEDY if intake.camera.guessed else "",
        )
    ]
    known = [w for w in intake.camera.warnings if not w.startswith("NOTHING")]
    return findings + [Finding("warning", "camera", warning) for warning in known]


def about_mask(intake: Intake) -> list[Finding]:
    """What is object."""
    mask = intake.capture.mask
    pieces = intake.capture.domain().num_components
    text = f"{100 * mask.mean():.0f} % of the frame is object ({intake.mask_source})."
    if mask.sum() < _FEW_PIXELS:
        text = f"Only {mask.sum()} pixels are on the object."
        remedy = "Come closer, or do not reduce the photos so much."
        return [Finding("problem", "mask", text, remedy)]
    made = intake.mask_source == "made from the photos"
    findings = [
        Finding(
            "note" if made or mask.all() else "good",
            "mask",
            text,
            "Look at it with `anylight mask`, or give --mask." if made or mask.all() else "",
        )
    ]
    if pieces > 1:
        findings.append(
            Finding(
                "note",
                "mask",
                f"The mask has {pieces} pieces; each has a scale of its own.",
                "Join them in the mask if they are one object.",
            )
        )
    return findings

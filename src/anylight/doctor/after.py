"""After a run: does the result explain every photo, and can its shape be trusted?"""

import numpy as np
from jaxtyping import Float

from anylight.model.capture import Capture
from anylight.model.finding import Finding, Severity, worst_first
from anylight.model.misfit import photo_misfits
from anylight.model.result import Result

from .before import Examination
from .sentences import is_firm

_ODD = 4.0
"""A photo is odd if its misfit exceeds the median by so many robust standard deviations …"""
_ODD_AT_LEAST, _ODD_RATIO = 0.03, 1.6
"""… and by this share of its brightness, and by this factor."""
_BAD_FIT = 0.15
_HALF = 0.5
"""Share of its sky below which a pixel is said to be hidden."""
_TIE = 1.05
"""Energies closer than this factor do not decide between two shapes …"""
_OUTWARD = 0.3
"""… but a rim that plainly faces outwards does: objects bulge."""


def diagnose(
    result: Result, capture: Capture, examination: Examination | None = None
) -> tuple[Finding, ...]:
    """Say what can be said about a result.

    Args:
        result: of a run.
        capture: the photos it started from, all of them.
        examination: what was found before the run, to name causes.
    """
    scene = result.reconstruction
    findings = []
    assert scene.photos is not None
    misfits = photo_misfits(scene, capture.some(scene.photos).photos, capture.full_scale)
    if misfits is not None:
        findings += _about_fit(misfits, result, capture, examination)
    findings += [
        *_about_shape(result),
        *(Finding("warning", "run", warning) for warning in result.warnings),
    ]
    findings += _about_shadows(result)
    findings += _about_lamps(result)
    sentence = result.record.get("gauge", {}).get("sentence")
    if sentence and sentence not in result.warnings:
        severity: Severity = "good" if is_firm(result.record["gauge"]) else "warning"
        findings.append(Finding(severity, "overall shape", sentence[0].upper() + sentence[1:]))
    return worst_first(findings)


def _about_fit(
    misfits: Float[np.ndarray, " M"],
    result: Result,
    capture: Capture,
    examination: Examination | None,
) -> list[Finding]:
    usual = float(np.median(misfits))
    spread = 1.4826 * float(np.median(np.abs(misfits - usual))) + 1e-6
    numbers = result.reconstruction.photos
    assert numbers is not None
    findings = []
    for place in np.flatnonzero(
        (misfits > usual + _ODD * spread)
        & (misfits > usual + _ODD_AT_LEAST)
        & (misfits > _ODD_RATIO * usual)
    ):
        photo = int(numbers[place])
        name = capture.names[photo] if capture.names else f"photo {photo}"
        findings.append(
            Finding(
                "warning",
                "fit",
                f"{name} does not fit: {100 * misfits[place]:.0f} % of it is unexplained, the "
                f"others leave {100 * usual:.0f} %; {_cause(photo, examination)}.",
                "Leave it out, or take it again.",
            )
        )
    text = f"Albedo and light explain the photos to {100 * usual:.1f} % of their brightness."
    if usual > _BAD_FIT:
        findings.append(
            Finding(
                "warning",
                "fit",
                text,
                "That is much: gloss, cast shadows or a wrong mask or curve (--transfer) are "
                "likely.",
            )
        )
    else:
        findings.append(Finding("good", "fit", text))
    return findings


def _cause(photo: int, examination: Examination | None) -> str:
    if examination is not None:
        moved = examination.shifts.lengths[photo]
        if moved > 1.5:
            return f"it moved by about {moved:.1f} pixels"
        if examination.clipped[photo] > 0.05:
            return f"{100 * examination.clipped[photo]:.0f} % of it is clipped"
        if examination.black[photo] > 0.5:
            return "most of it is black"
    return "it moved, is clipped, or holds a hard shadow"


def _about_shadows(result: Result) -> list[Finding]:
    """What the object hides from itself."""
    said, openness = result.record.get("shadows"), result.reconstruction.openness
    if said is None:
        return []
    verdict = str(said["verdict"])
    text = verdict[0].upper() + verdict[1:]
    if openness is None:
        return [Finding("note", "shadows", text)]
    seen = openness[np.isfinite(openness)]
    return [
        Finding(
            "note",
            "shadows",
            f"{text} {100 * float(seen.mean()):.0f} % of an even sky reaches the surface in the "
            f"mean; {100 * float((seen < _HALF).mean()):.0f} % of the pixels see less than half of "
            "their sky (dark in the picture of openness), and their normals are less certain.",
        )
    ]


def _about_lamps(result: Result) -> list[Finding]:
    """Lamps that are near."""
    distance = result.record.get("lamp_distance")
    if distance is None:
        return []
    return [
        Finding(
            "warning",
            "light",
            f"The lamps are near: light that falls off as from {distance:g} object sizes away "
            "explains the photos far better than light from afar. The overall tilt and relief are "
            "less certain by several degrees.",
            "Move the lamps to five object sizes or more.",
        )
    ]


def _about_shape(result: Result) -> list[Finding]:
    """Flat, bowl or flip: the three ways in which such shapes go wrong."""
    starts = {start["name"]: start for start in result.record.get("starts", [])}
    chosen = starts.get(result.record.get("chosen", ""))
    if chosen is None:
        return []
    findings = []
    if chosen["rim_outward"] < 0:
        findings.append(
            Finding(
                "warning",
                "shape",
                "A bowl is suspected, because the object's rim faces inwards: true for a dish, "
                "wrong for anything that bulges towards the camera.",
                "If it should bulge, check the mask's outline, and photograph from closer by with "
                "a shorter lens.",
            )
        )
    name = str(result.record["chosen"])
    other = starts.get(name.removesuffix(" flipped") if "flipped" in name else f"{name} flipped")
    is_tie = other is not None and other["energy"] < _TIE * chosen["energy"]
    if other is not None and is_tie and chosen["rim_outward"] < _OUTWARD:
        findings.append(
            Finding(
                "warning",
                "shape",
                "A flip is possible, because hills and hollows explain the photos equally well "
                f"({other['energy'] / chosen['energy']:.2f} times the misfit when flipped).",
                "--flip takes the other one; a shorter lens from closer by tells them apart.",
            )
        )
    return findings

"""Before a run: what the photos are, what is wrong with them, what the run will need."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Shaped

from anylight.geometry.camera import Orthographic, Perspective
from anylight.intake.forecast import (
    SECONDS_AT_LEAST,
    SECONDS_PER_PIXEL,
    SHADOW_SECONDS,
    SHADOW_SECONDS_PER_PIXEL,
    bytes_in_all,
)
from anylight.intake.intrinsics import LENS_REMEDY
from anylight.intake.load import Intake
from anylight.intake.photo import FOREIGN_SUFFIXES
from anylight.intake.shifts import Shifts, find_shifts
from anylight.intake.stack import silent
from anylight.model.capture import Capture
from anylight.model.finding import Finding, worst_first
from anylight.model.orders import orders_for
from anylight.model.samples import is_saturated

from .sentences import FEW_PHOTOS

_SAMPLES = 20_000
_CLIPPED = 0.02
"""Share of saturated samples from where it is worth a word."""
_RUINED = 0.4
"""Share of saturated samples that ruins a result."""
MOVED_PX = 1.5
"""Movement below this is within what changing shadows pretend."""
_MOVED_FAR = 0.01
"""Share of the longer side from where movement makes a result worthless."""
BLACK = 0.95
"""Share of black samples from which a photo is black."""
_FEW, _MANY = FEW_PHOTOS, 25
_FEW_PIXELS = 400
_BRIGHT, _DARK = 0.95, 0.02
"""A photo is far too dark if this share of its samples lies below this share of white."""
_BLURRED, _SOFT = 0.5, 0.14
"""A photo is blurred if its finest detail is less than this share of what is usual. All are soft if
pixels bend by less than this share of what blocks of four by four do: sharp photographs have 0.25
and more, a blur of 1.5 pixels leaves 0.1."""
_NOISE_FLOOR = 3e-3
"""Relative strength below which a combination of the photos is noise or gloss."""


@dataclass(frozen=True, eq=False)
class Examination:
    """What was measured on a capture, and what to make of it."""

    findings: tuple[Finding, ...]
    clipped: Float[np.ndarray, " M"]
    """Share of saturated samples on the object, per photo."""
    black: Float[np.ndarray, " M"]
    shifts: Shifts
    strengths: Float[np.ndarray, " M"]
    """Singular values of the photos on the object, paint divided out, the largest one."""
    independent: int
    """Combinations of the photos above the noise."""
    order: int
    """Order of the harmonics that a run will use: what so many photos support."""
    bytes_needed: int
    seconds_needed: float

    def record(self, intake: Intake) -> dict[str, object]:
        """Everything as plain values, for `--json`."""
        capture = intake.capture
        return {
            **intake.record(),
            "photos": [
                {
                    "name": name,
                    "clipped": round(float(clipped), 5),
                    "black": round(float(black), 5),
                    "shift_px": [round(float(x), 3) for x in offset],
                    "shift_sureness": round(float(sure), 2),
                }
                for name, clipped, black, offset, sure in zip(
                    capture.names or map(str, range(capture.num_photos)),
                    self.clipped,
                    self.black,
                    self.shifts.offsets,
                    self.shifts.sureness,
                    strict=True,
                )
            ],
            "size": [capture.mask.shape[1], capture.mask.shape[0]],
            "channels": capture.num_channels,
            "pixels": int(capture.mask.sum()),
            "K": capture.camera.matrix.tolist(),
            "singular_values": [round(float(x), 6) for x in self.strengths],
            "independent_lights": self.independent,
            "order": self.order,
            "bytes_needed": self.bytes_needed,
            "seconds_needed": round(self.seconds_needed, 1),
            "findings": list(self.findings),
        }


def examine(intake: Intake, progress: Callable[[str, float], None] | None = None) -> Examination:
    """Measure a capture and say what was found, problems first."""
    capture = intake.capture
    tell = progress or silent
    samples = _samples(capture)
    clipped = is_saturated(samples).mean(axis=(1, 2))
    black = (samples <= 0).mean(axis=(1, 2))
    strengths, independent = _lights(samples)
    tell("examine", 0.4)
    shifts = find_shifts(_window(capture))
    tell("examine", 1.0)
    pixels = int(capture.mask.sum())
    order = orders_for(capture.num_photos)[-1]
    bytes_needed = bytes_in_all(capture.photos.nbytes, pixels)
    seconds = max(SECONDS_PER_PIXEL * pixels, SECONDS_AT_LEAST)
    shadows = SHADOW_SECONDS + SHADOW_SECONDS_PER_PIXEL * pixels
    findings = [
        *_about_photos(intake),
        *_about_coding(intake),
        *_about_clipping(capture, clipped, black, np.quantile(samples, _BRIGHT, axis=(1, 2))),
        *_about_movement(capture, shifts),
        *_about_sharpness(capture),
        *_about_lights(capture.num_photos, independent),
        *_about_camera(intake),
        *_about_mask(intake),
        Finding(
            "note",
            "forecast",
            f"{pixels:,}".replace(",", " ")
            + f" pixels on the object: about {bytes_needed / 2**30:.1f} GiB of memory and "
            f"{_duration(seconds)} on two cores, {_duration(shadows)} more if it shadows itself.",
            "Use --downscale 2 for a quick look." if seconds > 120 else "",
        ),
    ]
    return Examination(
        worst_first(findings),
        clipped,
        black,
        shifts,
        strengths,
        independent,
        order,
        bytes_needed,
        seconds,
    )


def _samples(capture: Capture) -> Shaped[np.ndarray, "M n C"]:
    places = np.flatnonzero(capture.mask)
    places = places[:: max(1, len(places) // _SAMPLES)]
    return capture.photos.reshape(capture.num_photos, -1, capture.num_channels)[:, places]


def _window(capture: Capture) -> Shaped[np.ndarray, "M h w C"]:
    """The object and some surroundings, whose outline does not depend on the light."""
    rows, columns = np.flatnonzero(capture.mask.any(1)), np.flatnonzero(capture.mask.any(0))
    grow = max(len(rows), len(columns)) // 6 + 8
    return capture.photos[
        :,
        max(rows[0] - grow, 0) : rows[-1] + grow,
        max(columns[0] - grow, 0) : columns[-1] + grow,
    ]


def _lights(samples: Shaped[np.ndarray, "M n C"]) -> tuple[Float[np.ndarray, " M"], int]:
    """How many independent lights: singular values with paint and strength divided out."""
    values = samples.mean(axis=2, dtype=float)
    lit = values.mean(axis=0) > 0.02 * values.mean()
    if not lit.any():
        return np.zeros(len(values)), 0
    values = values[:, lit]
    values = values / np.maximum(np.linalg.norm(values, axis=0), 1e-12)
    values = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-12)
    singular = np.linalg.svd(values, compute_uv=False)
    strengths: Float[np.ndarray, " M"] = singular / max(float(singular[0]), 1e-12)
    noise = max(_NOISE_FLOOR, 2.0 * float(np.median(strengths[len(strengths) // 2 :])))
    noise = min(noise, 0.02)
    return strengths, int((strengths > noise).sum())


def _about_photos(intake: Intake) -> list[Finding]:
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


def _about_coding(intake: Intake) -> list[Finding]:
    coding = intake.coding
    text = {"linear": "Values are taken as linear", "srgb": "The sRGB curve was undone"}
    remedy = (
        "If that is wrong, give --transfer " + ("srgb." if coding.coding == "linear" else "linear.")
        if coding.is_judged
        else ""
    )
    severity = "note" if coding.is_judged else "good"
    return [Finding(severity, "gamma", f"{text[coding.coding]} ({coding.source}).", remedy)]  # type: ignore[arg-type]


def _about_clipping(
    capture: Capture, clipped: np.ndarray, black: np.ndarray, bright: np.ndarray
) -> list[Finding]:
    findings = []
    if clipped.mean() > _CLIPPED:
        worst = [int(i) for i in np.argsort(-clipped)[:3]]
        names = ", ".join(f"{_name(capture, i)} ({100 * clipped[i]:.0f} %)" for i in worst)
        findings.append(
            Finding(
                "problem" if clipped.mean() > _RUINED else "warning",
                "clipping",
                f"{100 * clipped.mean():.1f} % of the samples on the object are saturated; most in "
                f"{names}.",
                "They carry no weight; expose darker next time.",
            )
        )
    elif capture.photos.dtype.kind == "u":
        text = f"{100 * clipped.mean():.2f} % of the samples on the object are saturated."
        findings.append(Finding("good", "clipping", text))
    is_black = black > BLACK
    findings += [
        Finding("problem", "darkness", f"{_name(capture, i)} is black.", "Leave it out.")
        for i in map(int, np.flatnonzero(is_black))
    ]
    if capture.photos.dtype.kind == "u":
        level = bright / capture.full_scale
        dark = [int(i) for i in np.flatnonzero(~is_black & (level < _DARK))]
        if dark:
            names = ", ".join(f"{_name(capture, i)} ({100 * level[i]:.1f} %)" for i in dark[:3])
            more = f" and {len(dark) - 3} more" if len(dark) > 3 else ""
            findings.append(
                Finding(
                    "warning",
                    "darkness",
                    f"Far too dark: the bright parts of {names}{more} reach no more of white.",
                    "Expose longer: rounding hides the shape in dark photos.",
                )
            )
    return findings


def _about_movement(capture: Capture, shifts: Shifts) -> list[Finding]:
    lengths = shifts.lengths
    far = _MOVED_FAR * max(capture.mask.shape)
    moved = [i for i in map(int, np.argsort(-lengths)) if lengths[i] > MOVED_PX]
    if not moved:
        if not shifts.are_sure.any():
            return [Finding("note", "movement", "Whether a photo moved cannot be told here.")]
        text = f"No photo moved by more than {max(lengths.max(), 0.1):.1f} pixels."
        return [Finding("good", "movement", text)]
    names = ", ".join(f"{_name(capture, i)} by {lengths[i]:.1f}" for i in moved[:4])
    worst = lengths[moved[0]]
    return [
        Finding(
            "problem" if worst > max(far, 2 * MOVED_PX) else "warning",
            "movement",
            f"The camera seems to have moved: {names} pixels"
            + (f" and {len(moved) - 4} more." if len(moved) > 4 else "."),
            "Try --align for small shifts; use a tripod and a remote release. Hard shadows that "
            "wander can look like movement of a pixel or two.",
        )
    ]


def blurred_photos(capture: Capture) -> list[int]:
    """Numbers of the photos that are less sharp than is usual here."""
    sharp = _sharpnesses(capture)
    if sharp is None or float(np.nanmedian(sharp)) < _SOFT:
        return []
    return [int(i) for i in np.flatnonzero(sharp < _BLURRED * float(np.nanmedian(sharp)))]


def _sharpnesses(capture: Capture) -> Float[np.ndarray, " M"] | None:
    """Fine detail against coarse detail, photo by photo; None if it cannot be told."""
    window = _window(capture)
    if min(window.shape[1:3]) < 32:
        return None
    sharp = np.array([_sharpness(photo.mean(axis=2, dtype=np.float32)) for photo in window])
    return sharp if np.isfinite(sharp).any() else None


def _about_sharpness(capture: Capture) -> list[Finding]:
    """Blur takes the fine detail away."""
    sharp = _sharpnesses(capture)
    if sharp is None:
        return []
    if float(np.nanmedian(sharp)) < _SOFT:
        return [
            Finding(
                "warning",
                "sharpness",
                "The photos are soft: neighbouring pixels hardly differ.",
                "Focus on the object, and close the aperture; --downscale 2 loses nothing here.",
            )
        ]
    blurred = blurred_photos(capture)
    if not blurred:
        return [Finding("good", "sharpness", "All photos are equally sharp.")]
    names = ", ".join(_name(capture, i) for i in blurred[:4])
    more = f" and {len(blurred) - 4} more" if len(blurred) > 4 else ""
    return [
        Finding(
            "warning",
            "sharpness",
            f"Less sharp than the others: {names}{more}.",
            "Leave them out, unless soft light made them smooth; keep focus fixed, use a tripod.",
        )
    ]


def _sharpness(image: Float[np.ndarray, "h w"]) -> float:
    """Second difference of pixels over that of blocks of four by four; NaN if there is none."""
    height, width = (4 * (n // 4) for n in image.shape)
    blocks = image[:height, :width].reshape(height // 4, 4, width // 4, 4).mean(axis=(1, 3))
    fine, coarse = (np.abs(np.diff(part, 2, axis=1)).mean() for part in (image, blocks))
    return float(fine / coarse) if coarse > 0 else np.nan


def _about_lights(photos: int, independent: int) -> list[Finding]:
    text = f"{independent} of {photos} photos show independent light"
    if independent >= 4:
        return [Finding("good", "lights", f"{text}, which is enough.")]
    return [
        Finding(
            "problem" if independent < 3 else "warning",
            "lights",
            f"{text}: shape, paint and light can hardly be told apart.",
            "Move the lamp further between photos: left, right, above, and close to the lens.",
        )
    ]


def _about_camera(intake: Intake) -> list[Finding]:
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


def _about_mask(intake: Intake) -> list[Finding]:
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


def _name(capture: Capture, index: int) -> str:
    return capture.names[index] if capture.names else f"photo {index}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

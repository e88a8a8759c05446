"""What a user is told about a run: photos that say little, shapes that the photos leave open."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Int

from anylight.geometry.camera import Orthographic
from anylight.model.capture import Capture
from anylight.model.method import Solution
from anylight.model.orders import PHOTOS_FOR, orders_for
from anylight.model.samples import is_saturated, scaled, white_level
from anylight.model.status import Status

FEW_PHOTOS = 8
_SAMPLES = 5_000
_VARIES = 0.02
"""Photos whose relative change over the lights stays below this share carry no shape."""
_BLACK = 0.01
"""Photos and channels that stay below this share of white are black."""
_CLIPPED = 0.02
"""Share of saturated samples from where it is worth a word."""
_GUESS_DEG = 10.0
_VAGUE_DEG = 4.0
_FLAT = 0.03
"""Variety below which the photos do not show any relief."""
_MANY_STEPS = 0.3
_GAUGE = ("tilt_u_deg", "tilt_v_deg", "relief_deg")
_ASSUMED = (
    "nothing says which lens took the photos: 50 mm on 35 mm film was assumed, and tilt and relief "
    "are wrong by 10 degrees and more if it was another. Give --focal-35mm, or --distance with "
    "--object-size."
)
_GUESS = "the guess that the object is about as deep as it is wide and faces the camera."


def told(solution: Solution, capture: Capture, numbers: Int[np.ndarray, " M"]) -> Solution:
    """A solution with everything that is to be said about it.

    Args:
        solution: of any method.
        capture: the photos it used.
        numbers: of these photos among all.
    """
    record = dict(solution.record)
    if "gauge" in record:
        record["gauge"] = {
            **record["gauge"],
            "sentence": gauge_sentence(record["gauge"], record.get("lamp_distance")),
        }
    if record.get("lens") is not None:
        record["gauge"]["sentence"] = lens_sentence(record["lens"], record["gauge"])
    elif "gauge" in record and not capture.lens_known:
        record["gauge"]["sentence"] = _ASSUMED
    warnings = [
        *photo_warnings(capture, numbers),
        *solution.warnings,
        *shape_warnings(record, capture),
    ]
    if not capture.lens_known and "gauge" not in record:
        warnings.append(_ASSUMED)
    if solution.status.is_failure or solution.status is Status.INTERRUPTED:
        warnings.append(f"{solution.status}.")
    return replace(solution, warnings=tuple(warnings), record=record)


def gauge_sentence(gauge: dict[str, Any], lamp_distance: float | None = None) -> str:
    """Say how firmly the photos hold the overall shape, and what would hold it better.

    Args:
        gauge: the play of tilt and relief.
        lamp_distance: of lamps that are near.
    """
    worst = max(gauge[name] for name in _GAUGE)
    if worst < _VAGUE_DEG:
        return f"the photos fix the overall tilt and relief to about {worst:.1f} degrees."
    remedy = "A shorter lens from closer by" if lamp_distance is None else "Lamps farther away"
    plural = "" if lamp_distance is not None else "s"
    if worst < _GUESS_DEG:
        return (
            f"the photos leave about {worst:.0f} degrees of play in the overall tilt or relief; "
            f"fine detail is more certain. {remedy} pin{plural} it down."
        )
    return (
        "the photos do not decide the overall tilt and relief (about "
        f"{min(worst, 45):.0f} degrees of play): they follow {_GUESS} {remedy} decide{plural} it."
    )


def is_firm(gauge: dict[str, Any]) -> bool:
    """Whether the photos hold the overall shape well enough to be called good."""
    return max(gauge[name] for name in _GAUGE) < _VAGUE_DEG


def lens_sentence(lens: dict[str, Any], gauge: dict[str, Any]) -> str:
    """Say which lens was taken, and what the others leave open."""
    short, long = lens["possible_35mm"]
    worst = max(gauge[name] for name in _GAUGE)
    return (
        f"nothing says which lens took the photos; they support one of about "
        f"{lens['focal_35mm']:.0f} mm on 35 mm film, and {short:g} to {long:g} mm remain possible, "
        f"which leaves about {min(worst, 45):.0f} degrees of play in the overall tilt and relief. "
        "Give --focal-35mm, or --distance with --object-size."
    )


def shape_warnings(record: dict[str, Any], capture: Capture) -> list[str]:
    """Sentences about what the photos could not tell, as far as the method measured it."""
    warnings = []
    gauge = record.get("gauge")
    if gauge is not None and isinstance(capture.camera, Orthographic):
        warnings.append(
            "with parallel rays the overall tilt and relief cannot be told from the photos: they "
            f"follow {_GUESS}"
        )
    elif gauge is not None and (
        max(gauge[name] for name in _GAUGE) >= _VAGUE_DEG or not capture.lens_known
    ):
        warnings.append(gauge["sentence"])
    pieces = capture.domain().num_components
    if gauge is not None and pieces > 1:
        warnings.append(
            f"the mask has {pieces} separate pieces: each has its own free scale; all were put at "
            "the same mean depth."
        )
    top = orders_for(capture.num_photos)[-1]
    used = (record.get("orders") or [top])[-1]
    if gauge is not None and top < 6 and used == top:
        most, needed = next(iter(PHOTOS_FOR.items()))
        warnings.append(
            f"{capture.num_photos} photos support light of order {top} only; with {needed} or more "
            f"the order is {most} and the shape is truer."
        )
    if record.get("variety", np.inf) < _FLAT:
        warnings.append(
            "the object looks flat: all its points answer to the lights alike, so the shape drawn "
            "is a guess; photograph something with relief, or move lamps nearer and lower."
        )
    elif record.get("facets_over_steps", 0.0) > _MANY_STEPS:
        warnings.append(
            f"{100 * record['facets_over_steps']:.0f} % of the facets do not fit one surface: "
            "check that camera and object did not move between the photos."
        )
    return warnings


def photo_warnings(capture: Capture, numbers: Int[np.ndarray, " M"]) -> list[str]:
    """Sentences about photos that say little."""
    places = np.flatnonzero(capture.mask)
    places = places[:: max(1, len(places) // _SAMPLES)]
    stored = capture.photos.reshape(capture.num_photos, -1, capture.num_channels)[:, places]
    sample = scaled(stored.astype(np.float32), white_level(capture))
    warnings = []
    shape = sample - sample.mean(axis=0)
    if np.sqrt((shape**2).mean()) < _VARIES * np.sqrt((sample**2).mean()):
        warnings.append(
            "the light hardly changes between the photos: shape cannot be told from paint; "
            "move the lamp between shots."
        )
    for index in np.flatnonzero(sample.reshape(len(sample), -1).max(axis=1) < _BLACK):
        name = capture.names[index] if capture.names else f"photo {numbers[index]}"
        warnings.append(f"{name} is black on the object; leave it out.")
    if any(float(sample[..., c].max()) < _BLACK for c in range(capture.num_channels)):
        warnings.append("a channel is black in all photos; it says nothing about the shape.")
    if capture.num_photos < FEW_PHOTOS:
        warnings.append(
            f"{capture.num_photos} photos leave much of the light open; 10 to 25 work best."
        )
    saturated = float(is_saturated(stored).mean())
    if saturated > _CLIPPED:
        warnings.append(
            f"{100 * saturated:.0f} % of the samples on the object are saturated; "
            "expose darker next time."
        )
    return warnings

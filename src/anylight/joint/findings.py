"""What a run found out about itself: for the record, and in sentences for the user."""

from typing import Any

import numpy as np

from anylight.geometry.camera import Orthographic
from anylight.model.capture import Capture

from .gauge import SPREAD, GaugeKnowledge
from .run import Explanation
from .schedule import orders_for

_GUESS_DEG = 10.0
_VAGUE_DEG = 4.0
_FLAT = 0.03
"""Variety below which the photos do not show any relief."""
_MANY_STEPS = 0.3


def gauge_deg(knowledge: GaugeKnowledge) -> dict[str, float]:
    """Standard deviation of tilt (two axes) and relief that the photos leave, in degrees.

    A strain moves the mean normal by so much; at the mean slant of 45 degrees a change of n_z
    turns the normals by √2 times as much.
    """
    left = knowledge.spreads() * SPREAD
    tilt = np.rad2deg(left[:2])
    relief = np.rad2deg(left[2] * np.sqrt(2))
    return {
        "tilt_u_deg": round(float(min(tilt[0], 90)), 2),
        "tilt_v_deg": round(float(min(tilt[1], 90)), 2),
        "relief_deg": round(float(min(relief, 90)), 2),
    }


def gauge_sentence(knowledge: GaugeKnowledge) -> str:
    """Say how firmly the photos hold the overall shape."""
    degrees = gauge_deg(knowledge)
    worst = max(degrees.values())
    if worst < _VAGUE_DEG:
        return f"the photos fix the overall tilt and relief to about {worst:.1f} degrees."
    if worst < _GUESS_DEG:
        return (
            f"the photos leave about {worst:.0f} degrees of play in the overall tilt or relief; "
            "fine detail is more certain. A shorter lens from closer by pins it down."
        )
    return (
        "the photos do not decide the overall tilt and relief (about "
        f"{min(worst, 45):.0f} degrees of play): they follow the guess that the object is about as "
        "deep as it is wide and faces the camera. A shorter lens from closer by decides it."
    )


def findings(found: Explanation) -> dict[str, Any]:
    """Everything worth keeping, as plain values."""
    course = found.course
    return {
        "orders": list(course.orders),
        "levels": list(course.levels),
        "starts": [
            {
                "name": attempt.name,
                "volume": attempt.volume,
                "order": attempt.order,
                "energy": attempt.energy,
                "rim_outward": attempt.faces_outward,
            }
            for attempt in course.attempts
        ],
        "chosen": course.chosen.name,
        "volume": course.chosen.volume,
        "energy": course.state.energy,
        "gauge": {
            **gauge_deg(found.course.knowledge),
            "curvature": np.round(found.course.knowledge.curvature, 8).tolist(),
            "sentence": gauge_sentence(found.course.knowledge),
        },
        "noise": found.noise,
        "unusable_samples": found.bad_share,
        "facets_over_steps": float(found.spans_step.mean()),
        "variety": course.variety,
        "confidence_mean": float(found.confidence.mean()),
    }


def scene_warnings(found: Explanation, capture: Capture) -> list[str]:
    """Sentences about what the photos could not tell."""
    warnings = []
    if isinstance(capture.camera, Orthographic):
        warnings.append(
            "with parallel rays the overall tilt and relief cannot be told from the photos: they "
            "follow the guess that the object is about as deep as it is wide and faces the camera."
        )
    elif max(gauge_deg(found.course.knowledge).values()) >= _VAGUE_DEG:
        warnings.append(gauge_sentence(found.course.knowledge))
    pieces = capture.domain().num_components
    if pieces > 1:
        warnings.append(
            f"the mask has {pieces} separate pieces: each has its own free scale; all were put at "
            "the same mean depth."
        )
    top = orders_for(capture.num_photos)[-1]
    if top < 6:
        warnings.append(
            f"{capture.num_photos} photos support light of order {top} only; with 10 or more the "
            "order is 8 and the shape is truer."
        )
    if found.course.variety < _FLAT:
        warnings.append(
            "the object looks flat: all its points answer to the lights alike, so the shape drawn "
            "is a guess; photograph something with relief, or move lamps nearer and lower."
        )
    elif found.spans_step.mean() > _MANY_STEPS:
        warnings.append(
            f"{100 * found.spans_step.mean():.0f} % of the facets do not fit one surface: check "
            "that camera and object did not move between the photos."
        )
    return warnings

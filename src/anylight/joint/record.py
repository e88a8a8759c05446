"""What a run of the default method found out about itself, as plain values."""

from typing import Any

import numpy as np

from anylight.joint.explanation import Explanation
from anylight.joint.terms.gauge import GaugeKnowledge, spread

_MODEL_PLAY_DEG = 6.0
"""Play of tilt and relief where the model's own errors, not noise, are what is left. [degrees]"""
_NEAR_PLAY_DEG = 4.0
"""Play of tilt and relief under near lamps: the usual error of six rendered shapes. (definition)"""
_MODEL_NOISE = 0.02
"""Residual from which this is so. [share of white]"""


def gauge_deg(
    knowledge: GaugeKnowledge, noise: float = 0.0, lens_deg: float = 0.0
) -> dict[str, float]:
    """Standard deviation of tilt (two axes) and relief that the photos leave, in degrees.

    A strain moves the mean normal by so much; at the mean slant of 45 degrees a change of n_z
    turns the normals by √2 times as much. Residuals that are errors of the model, not noise, are
    alike over many pixels, and the more there are of them the less the energy's curvature says.

    Args:
        knowledge: the energy's curvature.
        noise: usual residual, relative to white.
        lens_deg: play that an unknown lens or near lamps add.
    """
    left = knowledge.spreads() * spread()
    wrong = np.hypot(_MODEL_PLAY_DEG * min(1.0, noise / _MODEL_NOISE), lens_deg)
    tilt = np.hypot(np.rad2deg(left[:2]), wrong)
    relief = np.hypot(np.rad2deg(left[2] * np.sqrt(2)), wrong)
    return {
        "tilt_u_deg": round(float(min(tilt[0], 90)), 2),
        "tilt_v_deg": round(float(min(tilt[1], 90)), 2),
        "relief_deg": round(float(min(relief, 90)), 2),
    }


def record(found: Explanation) -> dict[str, Any]:
    """Everything worth keeping."""
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
                "ended": str(attempt.state.status),
            }
            for attempt in course.attempts
        ],
        "chosen": course.chosen.name,
        "volume": course.chosen.volume,
        "energy": course.state.energy,
        "ended": str(course.state.status),
        "lens": _lens(found),
        "lamp_distance": None if found.near is None else round(1 / found.near.closeness, 2),
        "gauge": {
            **gauge_deg(
                course.knowledge,
                found.first_noise,
                _apart(found),
            ),
            "curvature": np.round(course.knowledge.curvature, 8).tolist(),
        },
        "noise": found.noise,
        "unusable_samples": found.bad_share,
        "facets_over_steps": float(found.spans_step.mean()),
        "variety": course.variety,
        "shadows": _shadows(found),
        "confidence_mean": float(found.confidence.mean()),
    }


def _apart(found: Explanation) -> float:
    """Play that an unknown lens and near lamps add."""
    lens = 0.0 if found.lens is None else found.lens.play_deg
    return float(np.hypot(lens, 0.0 if found.near is None else _NEAR_PLAY_DEG))


def _lens(found: Explanation) -> dict[str, Any] | None:
    """Which lens the photos support; None if it was known, or nobody looked."""
    lens = found.lens
    if lens is None:
        return None
    return {
        "focal_35mm": round(lens.focal_35mm, 1),
        "possible_35mm": list(lens.possible),
        "weights": {f"{name:g}": round(weight, 3) for name, weight in lens.weights.items()},
        "play_deg": round(lens.play_deg, 1),
    }


def _shadows(found: Explanation) -> dict[str, Any] | None:
    """What was found about cast shadows; None if nobody looked."""
    if found.seen is None:
        return None
    openness = found.openness
    return {
        "verdict": found.seen.verdict,
        "explained": openness is not None,
        "log_energy": {name: round(energy, 4) for name, energy in found.seen.energies},
        "openness_mean": None if openness is None else round(float(openness.mean()), 4),
    }

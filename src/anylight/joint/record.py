"""What a run of the default method found out about itself, as plain values."""

from typing import Any

import numpy as np

from anylight.joint.explanation import Explanation
from anylight.joint.terms.gauge import GaugeKnowledge, spread


def gauge_deg(knowledge: GaugeKnowledge) -> dict[str, float]:
    """Standard deviation of tilt (two axes) and relief that the photos leave, in degrees.

    A strain moves the mean normal by so much; at the mean slant of 45 degrees a change of n_z
    turns the normals by √2 times as much.
    """
    left = knowledge.spreads() * spread()
    tilt = np.rad2deg(left[:2])
    relief = np.rad2deg(left[2] * np.sqrt(2))
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
        "gauge": {
            **gauge_deg(course.knowledge),
            "curvature": np.round(course.knowledge.curvature, 8).tolist(),
        },
        "noise": found.noise,
        "unusable_samples": found.bad_share,
        "facets_over_steps": float(found.spans_step.mean()),
        "variety": course.variety,
        "confidence_mean": float(found.confidence.mean()),
    }

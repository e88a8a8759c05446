"""Photos that are too bright or too dark."""

import numpy as np
from jaxtyping import Shaped

from anylight.model.capture import Capture
from anylight.model.finding import Finding

from .places import photo_name

_CLIPPED = 0.02
"""Share of saturated samples from where it is worth a word."""
_RUINED = 0.4
"""Share of saturated samples that ruins a result."""
BLACK = 0.95
"""Share of black samples from which a photo is black."""
_BRIGHT, _DARK = 0.95, 0.02
"""A photo is far too dark if this share of its samples lies below this share of white."""


def about_clipping(
    capture: Capture, clipped: np.ndarray, black: np.ndarray, samples: Shaped[np.ndarray, "M n C"]
) -> list[Finding]:
    """Saturated samples, black photos, photos that are far too dark."""
    findings = []
    if clipped.mean() > _CLIPPED:
        worst = [int(i) for i in np.argsort(-clipped)[:3]]
        names = ", ".join(f"{photo_name(capture, i)} ({100 * clipped[i]:.0f} %)" for i in worst)
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
        Finding("problem", "darkness", f"{photo_name(capture, i)} is black.", "Leave it out.")
        for i in map(int, np.flatnonzero(is_black))
    ]
    if capture.photos.dtype.kind == "u":
        level = np.quantile(samples, _BRIGHT, axis=(1, 2)) / capture.full_scale
        dark = [int(i) for i in np.flatnonzero(~is_black & (level < _DARK))]
        if dark:
            names = ", ".join(
                f"{photo_name(capture, i)} ({100 * level[i]:.1f} %)" for i in dark[:3]
            )
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

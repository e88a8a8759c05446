"""Photos that moved."""

import numpy as np

from anylight.intake.shifts import Shifts
from anylight.model.capture import Capture
from anylight.model.finding import Finding

from .places import photo_name

MOVED_PX = 1.5
"""Movement below this is within what changing shadows pretend."""
_MOVED_FAR = 0.01
"""Share of the longer side from where movement makes a result worthless."""


def about_movement(capture: Capture, shifts: Shifts) -> list[Finding]:
    """Whether the camera stood still."""
    lengths = shifts.lengths
    far = _MOVED_FAR * max(capture.mask.shape)
    moved = [i for i in map(int, np.argsort(-lengths)) if lengths[i] > MOVED_PX]
    if not moved:
        if not shifts.are_sure.any():
            return [Finding("note", "movement", "Whether a photo moved cannot be told here.")]
        text = f"No photo moved by more than {max(lengths.max(), 0.1):.1f} pixels."
        return [Finding("good", "movement", text)]
    names = ", ".join(f"{photo_name(capture, i)} by {lengths[i]:.1f}" for i in moved[:4])
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

"""What is wrong with single photos: the same findings as of the whole capture, photo by photo."""

from anylight.intake.load import Intake
from anylight.model.finding import Finding

from .before import Examination
from .exposure import BLACK
from .movement import MOVED_PX
from .sharpness import blurred_photos

_OVEREXPOSED = 0.2
"""Share of saturated samples from which a photo is better left out: few carry no weight anyway."""


def photo_findings(intake: Intake, examination: Examination) -> tuple[tuple[Finding, ...], ...]:
    """Reasons to leave a photo out, for every photo; empty for good ones."""
    blurred = blurred_photos(intake.capture)
    lengths = examination.shifts.lengths
    found = []
    for index in range(intake.capture.num_photos):
        clipped, black = float(examination.clipped[index]), float(examination.black[index])
        reasons = []
        if black > BLACK:
            reasons.append(Finding("problem", "darkness", "The object is black."))
        if clipped > _OVEREXPOSED:
            text = f"{100 * clipped:.0f} % of the object is overexposed."
            reasons.append(Finding("warning", "clipping", text))
        if lengths[index] > MOVED_PX:
            text = f"Moved by {lengths[index]:.1f} pixels."
            reasons.append(Finding("warning", "movement", text))
        if index in blurred:
            reasons.append(Finding("warning", "sharpness", "Less sharp than the others."))
        found.append(tuple(reasons))
    return tuple(found)

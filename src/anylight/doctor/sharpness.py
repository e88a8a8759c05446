"""Photos that are blurred."""

import numpy as np
from jaxtyping import Float, Shaped

from anylight.model.capture import Capture
from anylight.model.finding import Finding
from anylight.photometry.means import block_means, grey
from anylight.threads import in_parallel

from .places import photo_name, window_of

_BLURRED, _SOFT = 0.5, 0.14
"""A photo is blurred if its finest detail is less than this share of what is usual. All are soft if
pixels bend by less than this share of what blocks of four by four do: sharp photographs have 0.25
and more, a blur of 1.5 pixels leaves 0.1."""
_ROWS = 64
"""Looked at together; whole blocks of four."""


def blurred_photos(capture: Capture) -> list[int]:
    """Numbers of the photos that are less sharp than is usual here."""
    return _blurred(_sharpnesses(capture))


def _blurred(sharp: Float[np.ndarray, " M"] | None) -> list[int]:
    if sharp is None or float(np.nanmedian(sharp)) < _SOFT:
        return []
    return [int(i) for i in np.flatnonzero(sharp < _BLURRED * float(np.nanmedian(sharp)))]


def about_sharpness(capture: Capture) -> list[Finding]:
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
    blurred = _blurred(sharp)
    if not blurred:
        return [Finding("good", "sharpness", "All photos are equally sharp.")]
    names = ", ".join(photo_name(capture, i) for i in blurred[:4])
    more = f" and {len(blurred) - 4} more" if len(blurred) > 4 else ""
    return [
        Finding(
            "warning",
            "sharpness",
            f"Less sharp than the others: {names}{more}.",
            "Leave them out, unless soft light made them smooth; keep focus fixed, use a tripod.",
        )
    ]


def _sharpnesses(capture: Capture) -> Float[np.ndarray, " M"] | None:
    """Fine detail against coarse detail, photo by photo; None if it cannot be told."""
    window = window_of(capture)
    if min(window.shape[1:3]) < 32:
        return None
    sharp = np.array(in_parallel(_sharpness, window))
    return sharp if np.isfinite(sharp).any() else None


def _sharpness(photo: Shaped[np.ndarray, "h w C"]) -> float:
    """Second difference of pixels over that of blocks of four by four; NaN if there is none."""
    sums, counts = np.zeros(2), np.zeros(2)
    for start in range(0, len(photo), _ROWS):
        image = grey(photo[start : start + _ROWS])
        for scale, part in enumerate((image, block_means(image, 4))):
            bends = np.diff(part, 2, axis=1)
            sums[scale] += np.abs(bends, out=bends).sum(dtype=float)
            counts[scale] += bends.size
    fine, coarse = sums / counts
    return float(fine / coarse) if coarse > 0 else np.nan

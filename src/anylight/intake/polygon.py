"""A mask as a polygon."""

import re

import numpy as np

from anylight.arrays import Mask
from anylight.errors import InvalidInputError

_SHOWN = 80
"""Characters of a polygon that a sentence quotes."""


def is_polygon(text: str) -> bool:
    """Whether a text is a list of points rather than a file name."""
    return re.fullmatch(r"[\d\s.,;+-]+", text) is not None and "," in text


def polygon_mask(text: str, shape: tuple[int, int]) -> Mask:
    """Pixels whose centre is inside a polygon "x1,y1 x2,y2 …" (even-odd rule)."""
    said = " ".join(text.split())[:_SHOWN]
    try:
        numbers = [float(word) for word in re.split(r"[\s,;]+", text.strip()) if word]
    except ValueError:
        numbers = []
    if len(numbers) < 6 or len(numbers) % 2 or not np.isfinite(numbers).all():
        raise InvalidInputError(
            f'--mask "{said}": a polygon needs at least three points, as in "10,10 200,10 100,150".'
        )
    points = np.array(numbers).reshape(-1, 2)
    rows = np.arange(shape[0])[:, None]
    crossings = np.zeros((shape[0], shape[1] + 1), int)
    for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0), strict=True):
        crosses = ((y0 <= rows) != (y1 <= rows))[:, 0]
        if not crosses.any():
            continue
        along = x0 + (np.flatnonzero(crosses) - y0) / (y1 - y0) * (x1 - x0)
        column = np.clip(np.ceil(along), 0, shape[1]).astype(int)
        np.add.at(crossings, (np.flatnonzero(crosses), column), 1)
    mask: Mask = np.cumsum(crossings, axis=1)[:, :-1] % 2 == 1
    if not mask.any():
        raise InvalidInputError(f'--mask "{said}": the polygon holds no pixel of the photos.')
    return mask

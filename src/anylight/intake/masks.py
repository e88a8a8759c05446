"""What is object: a mask that somebody made, or one made from the photos."""

from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from anylight.arrays import Mask
from anylight.errors import InvalidInputError
from anylight.io.capture import is_mask, read_mask
from anylight.io.images import has_alpha, read_alpha
from anylight.io.metadata import Metadata

from .options import IntakeOptions
from .photo import upright
from .polygon import is_polygon, polygon_mask
from .silhouette import find_silhouette
from .source import Source
from .stack import Tell

_UNSURE_CONTRAST = 2.5
_PAINT_ONE = (
    "open a photo in any paint program, paint the object white and all else black, save it as "
    'mask.png beside the photos (or give --mask FILE, or the corners of its outline: --mask "x1,y1 '
    'x2,y2 x3,y3").'
)


def given_mask(
    source: Source, facts: tuple[Metadata, ...], shape: tuple[int, int], options: IntakeOptions
) -> tuple[Mask | None, str]:
    """The mask that somebody made, and where it was."""
    if options.mask is not None:
        if is_polygon(options.mask):
            return polygon_mask(options.mask, shape), "the options"
        return read_mask(Path(options.mask), shape), "the options"
    if source.arrays is not None:
        return source.arrays["mask"], "the file"
    paths = sorted(path for path in source.folder.iterdir() if is_mask(path))
    if len(paths) > 1:
        raise InvalidInputError(f"{paths[1]}: is a second mask; keep only one.")
    if paths:
        return read_mask(paths[0], shape), "the folder"
    return _transparency(source, facts, shape), "the transparency of the photos"


def _transparency(
    source: Source, facts: tuple[Metadata, ...], shape: tuple[int, int]
) -> Mask | None:
    """What is opaque in the photos, if somebody cut the object out of all of them."""
    mask: Mask | None = None
    for path, fact in zip(source.photos, facts, strict=False):
        alpha = read_alpha(path) if has_alpha(path) else None
        if alpha is None:
            return None
        opaque = upright(alpha[..., None], fact.orientation)[..., 0] > 0.5
        if mask is not None and mask.shape != opaque.shape:
            return None
        mask = opaque if mask is None else mask & opaque
    if mask is None or mask.shape != shape or not mask.any() or mask.all():
        return None
    return mask


def made_mask(photos: Shaped[np.ndarray, "M H W C"], tell: Tell) -> tuple[Mask, str, list[str]]:
    """A mask found in the photos, where it is from, and doubts about it."""
    silhouette = find_silhouette(photos, lambda share: tell("mask", share))
    if silhouette.fills_frame:
        return (
            silhouette.mask,
            "nothing to mask out was found",
            [
                "there is no mask, and object and surroundings could not be told apart: every "
                f"pixel counts as object. If that is wrong, {_PAINT_ONE}"
            ],
        )
    doubts = [
        "there was no mask, so one was made from the photos; look at preview/mask.png, and if it "
        f"is wrong, {_PAINT_ONE}"
    ]
    if silhouette.contrast < _UNSURE_CONTRAST:
        doubts[0] += " Object and surroundings look alike here: it may well be."
    return silhouette.mask, "made from the photos", doubts

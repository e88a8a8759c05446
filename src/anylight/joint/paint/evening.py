"""Photos as far lamps would have made them: what near ones give more or less is divided out."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from anylight.kernels.monomials import near_terms
from anylight.model.capture import Capture
from anylight.model.samples import SATURATED, is_usable
from anylight.photometry.near import NearLight, brightening
from anylight.threads import chunks

_CHUNK = 8192
"""Pixels that are looked at together. (memory)"""
_ROOM = 4.0
"""Samples may become so many times brighter than full scale. (definition)"""


def evened(
    capture: Capture,
    white: float,
    near: NearLight | None,
    unit: Float[np.ndarray, "3 P"],
    fields: Float[np.ndarray, "F P"] | None,
) -> tuple[Capture, float]:
    """The capture under the light in the middle of the object, and its own white.

    Integers become 16 bits with room above; samples that say nothing stay zero or saturated.

    Args:
        capture: the photos.
        white: stored value that becomes one.
        near: their light, if the lamps are near.
        unit: normals of the masked pixels.
        fields: what the light changes with from pixel to pixel.
    """
    if near is None or fields is None:
        return capture, white
    stored_type, top = capture.photos.dtype, np.iinfo(np.uint16).max
    whole = stored_type.kind == "u"
    gain = top / (_ROOM * capture.full_scale) if whole else 1.0
    photos = np.zeros(capture.photos.shape, np.uint16 if whole else np.float32)
    rows, columns = np.nonzero(capture.mask)
    for part in chunks(len(rows), _CHUNK):
        response = near_terms(unit[:, part], fields[:, part], near.order, near.closeness)
        more = brightening(near, unit[:, part].T.astype(float), response)
        stored = capture.photos[:, rows[part], columns[part]]
        even = gain * stored / more.transpose(0, 2, 1)
        if whole:
            even = np.clip(np.round(even), 1, int(SATURATED * top) - 1)
            even = np.where(is_usable(stored), even, np.where(stored > 0, top, 0))
        photos[:, rows[part], columns[part]] = even
    return replace(capture, photos=photos), gain * white

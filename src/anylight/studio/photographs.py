"""The session's photos as pictures for the page."""

import numpy as np

from anylight.io.images import jpeg_bytes
from anylight.pictures import radiance_picture

from .session import Session

_THUMB = 320
_QUALITY = {"thumb": 82, "view": 90}


def photograph(session: Session, index: int, kind: str) -> bytes:
    """One photo as a JPEG file: a thumbnail, or at the size of the page's mask.

    Args:
        session: whose photo.
        index: which one.
        kind: thumb or view.
    """
    photo = session.photos[index]
    facts = session.facts
    factor = session.factor
    if kind == "thumb":
        factor = max(factor, -(-max(facts.width, facts.height) // _THUMB))
        step = max(factor // 2, 1)  # thumbnails need not see every pixel
        photo, factor = photo[::step, ::step], -(-factor // step)
    light = np.nan_to_num(_reduced(photo, factor) / np.float32(facts.white))
    return jpeg_bytes(radiance_picture(light), _QUALITY[kind])


def _reduced(photo: np.ndarray, factor: int) -> np.ndarray:
    """Means of blocks; those at the border are filled up with their edge."""
    if factor == 1:
        return photo.astype(np.float32)
    height, width, channels = photo.shape
    padded = np.pad(photo, ((0, -height % factor), (0, -width % factor), (0, 0)), mode="edge")
    shape = (padded.shape[0] // factor, factor, padded.shape[1] // factor, factor, channels)
    return padded.reshape(shape).mean(axis=(1, 3), dtype=np.float32)

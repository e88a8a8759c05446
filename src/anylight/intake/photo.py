"""One photo from a file: pixels upright, with what the file says about them."""

import shlex
from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from anylight.errors import InvalidInputError
from anylight.io.images import PHOTO_SUFFIXES, read_image
from anylight.io.metadata import Metadata, read_metadata

from .raw import RAW_SUFFIXES, read_raw

HEIF_SUFFIXES = (".heic", ".heif", ".avif")
VIDEO_SUFFIXES = (".mp4", ".mov", ".avi", ".mkv", ".m4v", ".webm", ".mts")
READABLE = (*PHOTO_SUFFIXES, *RAW_SUFFIXES)
FOREIGN_SUFFIXES = (*HEIF_SUFFIXES, *VIDEO_SUFFIXES)


def read_photo(path: Path) -> tuple[Shaped[np.ndarray, "h w C"], Metadata]:
    """Read a photo as stored (RAW: linear 16 bit) and turn it upright."""
    refuse_foreign(path)
    if path.suffix.lower() in RAW_SUFFIXES:
        return read_raw(path)
    pixels = read_image(path)
    facts = read_metadata(path)
    return upright(pixels, facts.orientation), facts


def refuse_foreign(path: Path) -> None:
    """Say what to do with files that hold photos in a form that is not read."""
    suffix = path.suffix.lower()
    if suffix in HEIF_SUFFIXES:
        raise InvalidInputError(
            f"{path}: HEIC files are not read; convert them first, for example with "
            "`heif-convert -q 100 photo.heic photo.png`, or set the phone to 'Most compatible'."
        )
    if suffix in VIDEO_SUFFIXES:
        raise InvalidInputError(
            f"{path}: is a video; take single frames first, for example with "
            f"`ffmpeg -i {shlex.quote(path.name)} -vf fps=1 frame_%03d.png`."
        )


def upright(pixels: Shaped[np.ndarray, "h w C"], orientation: int) -> Shaped[np.ndarray, "H W C"]:
    """Apply an EXIF orientation."""
    turned = pixels.swapaxes(0, 1) if orientation >= 5 else pixels
    if orientation in (2, 3, 6, 7):
        turned = turned[:, ::-1]
    if orientation in (3, 4, 7, 8):
        turned = turned[::-1]
    return np.ascontiguousarray(turned)

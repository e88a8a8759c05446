"""Images as they are stored: 8 and 16 bit stay integers, floats stay linear floats.

OpenImageIO reads and writes everything here because it keeps 16-bit RGB (Pillow and imageio cut
it to 8) and reports truncated files.
"""

from pathlib import Path
from typing import Any

import numpy as np
import OpenImageIO as oiio
from jaxtyping import Shaped

from anylight.errors import InvalidInputError

PHOTO_SUFFIXES = (".png", ".tif", ".tiff", ".jpg", ".jpeg", ".exr", ".hdr")
MAX_PIXELS = 400_000_000
"""Largest image that is opened: a header that promises more is a mistake or an attack."""

_KEPT = ("uint8", "uint16")
"""Stored types that are read as they are; everything else is read as float32."""


def read_image(path: Path) -> Shaped[np.ndarray, "H W C"]:
    """Read uint8, uint16 or float32 pixels; an alpha channel is left out.

    Raises:
        InvalidInputError: the file is missing, cut off, or not an image.
    """
    if not path.is_file():
        raise InvalidInputError(f"{path}: no such file.")
    # The reader may print to stderr what it also returns as an error: the error is enough.
    config = oiio.ImageSpec()
    config.attribute("oiio:UnassociatedAlpha", 1)
    source = oiio.ImageInput.open(str(path), config)
    if source is None:
        reason = _one_line(oiio.geterror())
        raise InvalidInputError(
            f"{path}: cannot be read as an image ({reason}); export it again as PNG, TIFF or EXR."
        )
    try:
        spec = source.spec()
        if spec.width * spec.height > MAX_PIXELS:
            raise InvalidInputError(
                f"{path}: {spec.width}×{spec.height} pixels are more than the limit of "
                f"{MAX_PIXELS // 10**6} million; reduce the image."
            )
        stored = str(spec.format)
        kept = stored if stored in _KEPT else "float"
        pixels = source.read_image(0, 0, 0, spec.nchannels, kept)
        reason = _one_line(source.geterror())
    finally:
        source.close()
    if pixels is None or reason:
        raise InvalidInputError(
            f"{path}: the file is damaged or cut off ({reason}); copy it from the camera again."
        )
    has_alpha = spec.nchannels in (2, 4) and spec.alpha_channel >= 0
    channels = spec.nchannels - has_alpha
    return np.ascontiguousarray(pixels.reshape(spec.height, spec.width, -1)[..., :channels])


def write_image(
    path: Path, pixels: Shaped[np.ndarray, "H W C"], metadata: dict[str, Any] | None = None
) -> None:
    """Write pixels in the format that the suffix names, in the type they have."""
    height, width, channels = pixels.shape
    kind = "float" if pixels.dtype == np.float32 else str(pixels.dtype)
    spec = oiio.ImageSpec(width, height, channels, kind)
    if path.suffix == ".jpg":
        spec.attribute("Compression", "jpeg:95")
    for name, value in (metadata or {}).items():
        spec.attribute(name, value)
    sink = oiio.ImageOutput.create(str(path))
    if sink is None or not sink.open(str(path), spec):
        raise InvalidInputError(f"{path}: cannot be written ({_one_line(oiio.geterror())}).")
    written = sink.write_image(np.ascontiguousarray(pixels))
    reason = _one_line(sink.geterror())
    if not sink.close() or not written:
        raise InvalidInputError(f"{path}: cannot be written ({reason}).")


def _one_line(text: str) -> str:
    return " ".join(text.split())

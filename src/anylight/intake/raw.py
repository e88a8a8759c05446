"""Camera RAW, decoded linearly (extra `raw`)."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt16

from anylight.errors import InvalidInputError
from anylight.io.images import StoredSize
from anylight.io.metadata import Metadata, metadata_from_tags
from anylight.io.room import check_memory

RAW_SUFFIXES = (".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".raf", ".orf", ".rw2", ".pef",
                ".srw", ".raw", ".3fr", ".iiq", ".kdc", ".mrw", ".x3f")  # fmt: skip

_TAGS = {
    "seconds": "EXIF ExposureTime",
    "f_number": "EXIF FNumber",
    "iso": "EXIF ISOSpeedRatings",
    "focal_mm": "EXIF FocalLength",
    "focal_35mm": "EXIF FocalLengthIn35mmFilm",
    "plane_resolution": "EXIF FocalPlaneXResolution",
    "plane_unit": "EXIF FocalPlaneResolutionUnit",
    "sensor_width_px": "EXIF ExifImageWidth",
    "sensor_height_px": "EXIF ExifImageLength",
}

_DECODING = 20
"""Bytes of a pixel while it is decoded: four colours and three, in 16 bits, and the file."""
_WHITE = 65500
"""Saturated samples come out of the change of colour space a little below full scale."""


def read_raw(path: Path) -> tuple[UInt16[np.ndarray, "H W C"], Metadata]:
    """Decode without curve, automatic brightness or clipping of our own; 16 bit.

    The camera's white balance is applied (it is light, which is unknown anyway); LibRaw turns the
    photo upright.
    """
    with _opened(path) as raw:
        size = int(raw.sizes.raw_width) * int(raw.sizes.raw_height)
        check_memory(path, _DECODING * size, "give a smaller photo.")
        pixels = raw.postprocess(
            gamma=(1, 1),
            no_auto_bright=True,
            output_bps=16,
            adjust_maximum_thr=0.0,  # else white is what the brightest pixel says
            use_camera_wb=True,
            output_color=_library("rawpy", path).ColorSpace.sRGB,
        )
    pixels = np.where(pixels >= _WHITE, np.uint16(65535), pixels)
    return np.ascontiguousarray(pixels), _metadata(path)


def raw_size(path: Path) -> StoredSize:
    """The size of a RAW photo, by its header; nothing if it cannot be opened."""
    try:
        with _opened(path) as raw:
            return StoredSize(int(raw.sizes.raw_height), int(raw.sizes.raw_width), 3, 2)
    except InvalidInputError:
        return StoredSize(0, 0, 0, 0)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a RAW file; a damaged one can raise nearly anything."""
    rawpy = _library("rawpy", path)
    try:
        with path.open("rb") as file, rawpy.imread(file) as raw:
            yield raw
    except (InvalidInputError, FileNotFoundError):
        raise
    except Exception as error:
        first = error.args[0] if error.args else ""
        reason = first.decode(errors="replace") if isinstance(first, bytes) else str(error)
        reason = " ".join(reason.split()) or "it is damaged"
        raise InvalidInputError(
            f"{path}: this RAW file cannot be decoded ({reason}); convert it to DNG, or develop it "
            "to a linear 16-bit TIFF."
        ) from error


def _metadata(path: Path) -> Metadata:
    exifread = _library("exifread", path)
    try:
        with path.open("rb") as file:
            found = exifread.process_file(file, details=False)
    except Exception:  # noqa: BLE001  the pixels are there; what is said about them is damaged
        found = {}
    tags: dict[str, Any] = {name: _number(found.get(tag)) for name, tag in _TAGS.items()}
    words = (found.get(f"Image {name}") for name in ("Make", "Model", "DateTime"))
    tags["taken"] = " ".join(str(word) for word in words if word is not None)
    facts = metadata_from_tags(tags, bits=16)
    known = {name: getattr(facts, name) for name in facts.__dataclass_fields__}
    return Metadata(**{**known, "coding": "linear", "coding_source": "RAW files are"})


def _number(tag: Any) -> float | None:
    try:
        return float(tag.values[0])
    except (AttributeError, IndexError, TypeError, ValueError, ZeroDivisionError):
        return None


def _library(name: str, path: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InvalidInputError(
            f"{path}: is a RAW file; install the extra that reads them (pip install "
            "'anylight[raw]'), or develop it to a linear 16-bit TIFF."
        ) from error

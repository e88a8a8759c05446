"""What a run will need of memory, time and disk: from headers, before anything is decoded."""

import math
from collections.abc import Iterable
from pathlib import Path

from anylight.io.images import PHOTO_SUFFIXES, stored_bytes

from .raw import RAW_SUFFIXES, raw_bytes

BYTES_AT_LEAST = 400_000_000
"""The program itself, with its libraries and compiled code."""
BYTES_PER_PIXEL = 700
"""Peak memory of the default method (docs/method.md)."""
SECONDS_PER_PIXEL, SECONDS_AT_LEAST = 1.5e-4, 15.0
"""Wall time of the default method on two cores, 20 photos."""
SHADOW_SECONDS_PER_PIXEL, SHADOW_SECONDS = 2e-4, 25.0
"""The same for the phase that explains cast shadows."""
_WRITTEN_PER_PIXEL, _WRITTEN = 500, 40_000_000
"""Bytes of all files of a run: most of it mesh.obj (400 measured); the report at its largest."""
_WRITTEN_PER_PHOTO = 200_000
_RESULT_PER_PIXEL, _RESULT = 100, 10_000_000
"""The same with --only-result."""
_MOST = 64
"""Largest reduction."""


def bytes_to_read(photos: Iterable[Path]) -> int:
    """Bytes of all photos in memory, by their headers."""
    return sum(
        raw_bytes(path) if path.suffix.lower() in RAW_SUFFIXES else stored_bytes(path)
        for path in photos
        if path.suffix.lower() in (*PHOTO_SUFFIXES, *RAW_SUFFIXES)
    )


def bytes_to_solve(photo_bytes: int, pixels: int) -> int:
    """Memory that a run takes beyond what it holds once the photos are read."""
    return photo_bytes + BYTES_PER_PIXEL * pixels


def bytes_in_all(photo_bytes: int, pixels: int) -> int:
    """Peak memory of a run."""
    return BYTES_AT_LEAST + photo_bytes + bytes_to_solve(photo_bytes, pixels)


def bytes_to_write(photos: int, pixels: int, only_result: bool) -> int:
    """Space that the output takes at most."""
    if only_result:
        return _RESULT + _RESULT_PER_PIXEL * pixels
    return _WRITTEN + _WRITTEN_PER_PHOTO * photos + _WRITTEN_PER_PIXEL * pixels


def reduction_that_fits(photo_bytes: int, pixels: int, free: int) -> int | None:
    """Side of the blocks to average so that a run fits; None if there is none."""
    if free <= 0:
        return None
    factor = max(1, math.ceil(math.sqrt(bytes_to_solve(2 * photo_bytes, pixels) / free)))
    return factor if factor <= _MOST else None

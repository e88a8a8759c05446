"""What a run will need of memory, time and disk: from headers, before anything is decoded."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from anylight.io.images import PHOTO_SUFFIXES, StoredSize, stored_size

from .raw import RAW_SUFFIXES, raw_size

BYTES_AT_LEAST = 400_000_000
"""The program itself, with its libraries and compiled code."""
BYTES_PER_PIXEL = 700
"""Peak memory of the default method (docs/method.md)."""
SECONDS_PER_PIXEL, SECONDS_AT_LEAST = 3.5e-5, 6.0
"""Wall time of the default method on two cores, 20 photos (docs/performance.md)."""
SHADOW_SECONDS_PER_PIXEL, SHADOW_SECONDS = 2e-4, 25.0
"""The same for the phase that explains cast shadows."""
_WRITTEN_PER_PIXEL, _WRITTEN = 500, 40_000_000
"""Bytes of all files of a run: most of it mesh.obj (400 measured); the report at its largest."""
_WRITTEN_PER_PHOTO = 200_000
_RESULT_PER_PIXEL, _RESULT = 100, 10_000_000
"""The same with --only-result."""
_MOST = 64
"""Largest reduction."""
_IN_FLIGHT = 6
"""Photos that are decoded or wait at the same time, at most."""


class StackSize(NamedTuple):
    """How large all photos are together, by their headers."""

    photos: int
    shape: tuple[int, int]
    """Rows and columns of the first one."""
    samples: int
    """Of all photos."""
    sample_bytes: int
    """Of the largest sample, as it is stored."""

    @property
    def linear_bytes(self) -> int:
        """Of a sample in linear light."""
        return max(self.sample_bytes, 2)


def size_of(photo: Path) -> StoredSize:
    """The size of a photo, by its header."""
    suffix = photo.suffix.lower()
    if suffix in RAW_SUFFIXES:
        return raw_size(photo)
    return stored_size(photo) if suffix in PHOTO_SUFFIXES else StoredSize(0, 0, 0, 0)


def bytes_to_read(photos: Iterable[Path]) -> int:
    """Bytes of all photos in memory, by their headers."""
    return sum(size_of(path).bytes for path in photos)


def stack_size(photos: Sequence[Path]) -> StackSize:
    """How large all photos are together, by their headers."""
    sizes = [size_of(path) for path in photos]
    samples = sum(size.height * size.width * size.channels for size in sizes)
    largest = max(size.sample_bytes for size in sizes)
    return StackSize(len(sizes), (sizes[0].height, sizes[0].width), samples, largest)


def bytes_of_run(size: StackSize, pixels: int, factor: int) -> int:
    """Memory that reading and solving take at most, if blocks of pixels are averaged.

    Args:
        size: of the photos as stored.
        pixels: on the object, as stored.
        factor: side of the blocks; reduced photos are read one by one.
    """
    stack = size.samples * size.linear_bytes // factor**2
    if factor == 1:
        reading = size.samples * size.sample_bytes + stack
    else:
        reading = stack + bytes_in_flight(size)
    return max(reading, stack + bytes_to_solve(stack, pixels // factor**2))


def bytes_in_flight(size: StackSize) -> int:
    """Memory of the photos that are decoded at the same time, and of their reduction."""
    one = size.samples // size.photos
    return _IN_FLIGHT * one * size.sample_bytes + one * (size.linear_bytes + 8)


def least_factor(size: StackSize, pixels: int, free: int, asked: int) -> int | None:
    """The least multiple of a reduction with which a run fits; None if none does."""
    every = range(asked, _MOST + 1, asked)
    return next((k for k in every if bytes_of_run(size, pixels, k) <= free), None)


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

"""Photos too large to lie in memory side by side: each is reduced as soon as it is decoded.

All of them are decoded twice: once to find out how they are coded and whether any is there twice,
once to be reduced. The result is that of reading them all and reducing them then.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Shaped

from anylight.errors import InvalidInputError
from anylight.io.metadata import Metadata

from .coding import FoundCoding, find_coding
from .options import IntakeOptions
from .reduction import reduced
from .source import Source
from .stack import (
    Tell,
    as_float,
    check_floats,
    check_size,
    linear_stack,
    read_all,
    refuse_repeated,
    sampled,
    stacked,
)


@dataclass(frozen=True, eq=False)
class Stack:
    """All photos in linear light, and what was found out about them."""

    photos: Shaped[np.ndarray, "M H W C"]
    facts: tuple[Metadata, ...]
    names: tuple[str, ...]
    coding: FoundCoding
    shape: tuple[int, int]
    """Rows and columns as they were stored."""
    bits: int
    """Per sample as they were stored."""


def reduced_stack(source: Source, options: IntakeOptions, tell: Tell) -> Stack:
    """Read the photos of a folder one by one, each reduced before the next is there."""
    factor, count = options.downscale, len(source.photos)
    kinds, shape, facts, samples, digests = set(), (0, 0, 0), [], [], []
    for index, (photo, fact) in enumerate(_checked(source)):
        shape = photo.shape
        kinds.add(photo.dtype)
        facts.append(fact)
        samples.append(sampled(photo))
        digests.append(hashlib.sha256(photo.tobytes()).hexdigest())
        tell("read", (index + 1) / (2 * count))
    refuse_repeated(source, tuple(path.name for path in source.photos), digests)
    is_mixed = len(kinds) > 1
    some = np.stack([as_float(sample) if is_mixed else sample for sample in samples])[:, None]
    noted = (source.notes.transfer, source.coding)
    coding = find_coding(options.transfer, *noted, tuple(facts), some)
    photos = np.zeros((0, 0, 0, 0), np.float32)
    for index, (photo, fact) in enumerate(_checked(source)):
        one = [as_float(photo) if is_mixed else photo]
        whole = linear_stack(one, (fact,)) if coding.coding == "srgb" else stacked(one)
        small = reduced(whole, factor)
        if not index:
            photos = np.empty((count, *small.shape[1:]), small.dtype)
        photos[index] = small[0]
        tell("read", (count + index + 1) / (2 * count))
    names = tuple(path.name for path in source.photos)
    bits = 8 * some.dtype.itemsize
    return Stack(photos, tuple(facts), names, coding, (shape[0], shape[1]), bits)


def _checked(source: Source) -> Iterator[tuple[Shaped[np.ndarray, "H W C"], Metadata]]:
    """Decode photos in order; refuse those that do not belong together."""
    first = None
    for path, (photo, fact) in read_all(source.photos):
        if photo.dtype == np.float32:
            check_floats(path, photo)
        if first is None:
            first = np.broadcast_to(photo.dtype.type(0), photo.shape)
        check_size(path, photo, source.photos[0], first)
        yield photo, fact
    if first is None:
        raise InvalidInputError(f"{source.folder}: holds no photos.")

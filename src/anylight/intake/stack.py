"""All photos of a source: read side by side, checked against each other, linear, in one array."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from jaxtyping import Float, Shaped

from anylight.errors import InvalidInputError
from anylight.io.metadata import Metadata
from anylight.io.room import check_memory
from anylight.photometry.transfer import linear_from_srgb, srgb_to_linear
from anylight.threads import in_parallel

from .forecast import bytes_to_read
from .photo import read_photo
from .source import Source

Tell = Callable[[str, float], None]
"""Told a task and its finished share."""

_READERS = 2
"""Photos decoded at the same time."""
_SAMPLED = 200_000
"""Pixels of every photo, at least, that tell how they are coded."""


def silent(task: str, share: float) -> None:
    """Tell nobody."""
    del task, share


def read_stack(
    source: Source, tell: Tell
) -> tuple[list[np.ndarray], tuple[Metadata, ...], tuple[str, ...]]:
    """Read all photos of a source as stored, with what their files say and their names."""
    photos: list[np.ndarray] = []
    if source.arrays is not None:
        photos = list(source.arrays["photos"])
        tell("read", 1.0)
        names = tuple(f"photo_{index:02d}" for index in range(len(photos)))
        _refuse_twins(source, names, photos, [_key(photo) for photo in photos])
        return photos, (), names
    check_memory(
        source.folder,
        bytes_to_read(source.photos),
        f"give fewer or smaller ones than these {len(source.photos)} photos.",
    )
    facts: list[Metadata] = []
    for path, (photo, fact) in read_all(source.photos):
        if photo.dtype == np.float32:
            check_floats(path, photo)
        photos.append(photo)
        check_size(path, photo, source.photos[0], photos[0])
        facts.append(fact)
        tell("read", len(photos) / len(source.photos))
    names = tuple(path.name for path in source.photos)
    if len({photo.dtype for photo in photos}) > 1:
        photos = [as_float(photo) for photo in photos]
    _refuse_twins(source, names, photos, [_key(photo) for photo in photos])
    return photos, tuple(facts), names


def sampled(photo: Shaped[np.ndarray, "H W C"]) -> Shaped[np.ndarray, "n C"]:
    """Pixels that tell how a photo is coded."""
    step = max(1, photo.shape[0] * photo.shape[1] // _SAMPLED)
    return photo.reshape(-1, photo.shape[2])[::step].copy()


def read_all(
    paths: tuple[Path, ...],
) -> Iterator[tuple[Path, tuple[Shaped[np.ndarray, "H W C"], Metadata]]]:
    """Decode photos in order, the next ones in the background."""
    with ThreadPoolExecutor(_READERS) as pool:
        waiting = [(path, pool.submit(read_photo, path)) for path in paths[: 2 * _READERS]]
        for path in paths[2 * _READERS :]:
            first, future = waiting.pop(0)
            waiting.append((path, pool.submit(read_photo, path)))
            yield first, future.result()
        for first, future in waiting:
            yield first, future.result()


def check_size(path: Path, photo: np.ndarray, first: Path, like: np.ndarray) -> None:
    """Refuse a photo of another size than the first one."""
    if photo.shape == like.shape:
        return
    hint = "leave it out, or export it again like the others."
    if photo.shape[2] != like.shape[2]:
        hint = "one is grey and the other in colour: export both alike."
    elif photo.shape[:2] == like.shape[1::-1]:
        hint = (
            "one is portrait and the other landscape: keep the camera as it is between photos, or "
            "rotate the file."
        )
    raise InvalidInputError(
        f"{path}: is {_describe(photo)} but {first.name} is {_describe(like)}; {hint}"
    )


def _key(photo: Shaped[np.ndarray, "H W C"]) -> int:
    """Equal for equal photos, and nearly always another for others."""
    return hash(photo[:: max(1, len(photo) // 97)].tobytes())


def _refuse_twins(
    source: Source,
    names: tuple[str, ...],
    photos: list[np.ndarray],
    keys: list[int],
) -> None:
    """Refuse a photo that is there twice."""
    if len(set(keys)) == len(keys):
        return
    twins = [
        (first, later)
        for later, key in enumerate(keys)
        if (first := keys.index(key)) < later and np.array_equal(photos[first], photos[later])
    ]
    _refuse(source, names, twins)


def _refuse(source: Source, names: tuple[str, ...], twins: list[tuple[int, int]]) -> None:
    """Refuse photos of which an earlier one is the same."""
    if len(twins) == len(names) - 1:
        raise InvalidInputError(
            f"{source.folder}: all {len(names)} photos are the same; take them under different "
            "light."
        )
    if twins:
        first, later = twins[0]
        raise InvalidInputError(
            f"{source.folder / names[later]}: is the same photo as {names[first]}; remove one of "
            "the two."
        )


def refuse_repeated(source: Source, names: tuple[str, ...], digests: list[str]) -> None:
    """Refuse a photo that is there twice, by digests of all bytes."""
    twins = [(digests.index(one), k) for k, one in enumerate(digests) if digests.index(one) < k]
    _refuse(source, names, twins)


def as_float(photo: Shaped[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """Radiance in float32: the common type of photos stored differently."""
    if photo.dtype == np.float32:
        return photo
    return (photo / np.iinfo(photo.dtype).max).astype(np.float32)


def check_floats(path: Path, photo: Float[np.ndarray, "H W C"]) -> None:
    """Refuse numbers that no light has."""
    if not np.isfinite(photo).all():
        raise InvalidInputError(
            f"{path}: holds NaN or infinite pixels; replace them by 0 and mask them out."
        )
    if photo.min() < 0:
        raise InvalidInputError(
            f"{path}: holds negative pixels (down to {photo.min():.3g}); "
            "light cannot be negative, clip them at 0."
        )


def _describe(photo: Shaped[np.ndarray, "H W C"]) -> str:
    return f"{photo.shape[1]}×{photo.shape[0]} with {photo.shape[2]} channel(s)"


def stacked(photos: list[np.ndarray]) -> Shaped[np.ndarray, "M H W C"]:
    """All photos in one array; they are taken out of the list."""
    stack = np.empty((len(photos), *photos[0].shape), photos[0].dtype)
    for index, out in enumerate(stack):
        out[:] = _taken(photos, index)
    return stack


def linear_stack(
    photos: list[np.ndarray], facts: tuple[Metadata, ...]
) -> Shaped[np.ndarray, "M H W C"]:
    """Undo the curve; of photos that met in float, only of those that were stored as integers.

    Photos are taken out of the list, so that coded and linear ones are not in memory together.
    """
    if photos[0].dtype == np.float32:
        for photo, fact in zip(photos, facts, strict=True):
            if fact.bits != 32:
                photo[:] = srgb_to_linear(photo)
        return stacked(photos)
    linear = np.empty((len(photos), *photos[0].shape), np.uint16)

    def undo(index: int) -> None:
        linear_from_srgb(_taken(photos, index), linear[index])

    in_parallel(undo, range(len(photos)))
    return linear


def _taken(photos: list[np.ndarray], index: int) -> np.ndarray:
    """Take a photo out of a list; nobody else holds it then."""
    photo, photos[index] = photos[index], np.zeros((0, 0, 0), np.uint8)
    return photo

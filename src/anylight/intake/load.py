"""From a folder or file to a capture, with everything that was found out on the way."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Shaped

from anylight.arrays import DepthMap, Mask
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera, Orthographic, camera_from_matrix, kind_of
from anylight.io.capture import is_mask, read_mask
from anylight.io.depths import load_depth_map, stated
from anylight.io.metadata import Metadata
from anylight.model.capture import Capture
from anylight.photometry.transfer import linear_from_srgb, srgb_to_linear

from .coding import FoundCoding, find_coding
from .intrinsics import FoundCamera, find_camera, scaled_matrix
from .options import IntakeOptions
from .photo import read_photo
from .polygon import is_polygon, polygon_mask
from .shifts import Shifts, align, find_shifts
from .silhouette import find_silhouette
from .source import Source, find_source

Progress = Callable[[str, float], None]
"""Told a task and its finished share."""

_READERS = 2
"""Photos decoded at the same time."""
_MARGIN = 2
"""Pixels kept around the object when everything is cut to it."""
_ALIGNABLE = 0.05
"""Shifts of up to this share of the longer side can be undone."""
_UNSURE_CONTRAST = 2.5


@dataclass(frozen=True, eq=False)
class Intake:
    """A capture and how it was understood."""

    capture: Capture
    source: Source
    facts: tuple[Metadata, ...]
    coding: FoundCoding
    camera: FoundCamera
    mask_source: str
    stored: str
    """Size and depth of the photos as they were stored."""
    shifts: Shifts | None = None
    """Shifts that were undone."""
    corner: tuple[int, int] = (0, 0)
    """Column and row of the first pixel that was kept, at the capture's resolution."""
    warnings: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """What belongs into the record of a run."""
        return {
            "name": self.source.name,
            "dialect": self.source.dialect,
            "left_out": list(self.source.left_out),
            "stored": self.stored,
            "transfer": self.coding.coding,
            "transfer_source": self.coding.source,
            "camera_source": self.camera.source,
            "mask_source": self.mask_source,
            "exposures": list(self.capture.exposures),
            "cropped_at": list(self.corner),
            "aligned": None if self.shifts is None else self.shifts.offsets.round(3).tolist(),
        }


def load_capture(
    path: Path | str,
    options: IntakeOptions | None = None,
    progress: Progress | None = None,
) -> Capture:
    """Read photos, mask and camera from a folder or file in any of the known layouts.

    Raises:
        InvalidInputError: in one sentence, what is wrong with which file.
    """
    return load(path, options, progress).capture


def load(
    path: Path | str,
    options: IntakeOptions | None = None,
    progress: Progress | None = None,
) -> Intake:
    """Read a capture and keep what was found out about it."""
    options = options or IntakeOptions()
    tell = progress or silent
    source = find_source(Path(path))
    photos, facts, names = _photos(source, tell)
    stored = f"{photos.shape[2]}×{photos.shape[1]}, {8 * photos.dtype.itemsize} bit"
    coding = find_coding(options.transfer, source.notes.transfer, source.coding, facts, photos)
    if coding.coding == "srgb":
        photos = _linear(photos, facts)
    camera = find_camera(source, facts, photos.shape[1:3], options)
    mask = _given_mask(source, photos.shape[1:3], options)
    found = camera.camera
    depth, unit = None, None
    if options.depth_prior is not None:
        depth, unit = _known_depth(Path(options.depth_prior), photos.shape[1:3])
    if options.downscale > 1:
        photos = reduced(photos, options.downscale)
        found = _reduced_camera(found, options.downscale)
        mask = None if mask is None else _reduced_mask(mask, options.downscale)
        depth = None if depth is None else _reduced_depth(depth, options.downscale)
    shifts = find_shifts(photos) if options.align else None
    if shifts is not None:
        photos = align(photos, _alignable(shifts, names, photos.shape[1:3]))
    warnings = list(camera.warnings)
    mask_source = "the folder" if source.arrays is None else "the file"
    if options.mask is not None:
        mask_source = "the options"
    if mask is None:
        mask, mask_source, doubts = _made_mask(photos, tell)
        warnings += doubts
    elif mask.all():
        warnings.append(
            "the mask covers every pixel: fine for a flat relief that fills the photos, otherwise "
            "paint the surroundings black."
        )
    lights = _lights(source)
    capture = Capture(photos, mask, found, names, _exposures(facts), depth, unit, lights)
    corner = (0, 0)
    if options.crop:
        capture, corner = cropped(capture)
    return Intake(
        capture=capture,
        source=source,
        facts=facts,
        coding=coding,
        camera=replace(camera, camera=capture.camera),
        mask_source=mask_source,
        stored=stored,
        shifts=shifts,
        corner=corner,
        warnings=tuple(warnings),
    )


def silent(task: str, share: float) -> None:
    """Tell nobody."""
    del task, share


def _photos(
    source: Source, tell: Progress
) -> tuple[Shaped[np.ndarray, "M H W C"], tuple[Metadata, ...], tuple[str, ...]]:
    if source.arrays is not None:
        photos: Shaped[np.ndarray, "M H W C"] = source.arrays["photos"]
        tell("read", 1.0)
        return photos, (), tuple(f"photo_{index:02d}" for index in range(len(photos)))
    stack = np.zeros((0, 0, 0, 0), np.uint8)
    facts: list[Metadata] = []
    count = len(source.photos)
    keys = []
    for index, (path, (photo, fact)) in enumerate(_read_all(source.photos)):
        if photo.dtype == np.float32:
            _check_floats(path, photo)
        if index == 0:
            stack = np.zeros((count, *photo.shape), photo.dtype)
        _check_size(path, photo, source.photos[0], stack[0])
        keys.append(hash(photo[:: max(1, len(photo) // 97)].tobytes()))
        if photo.dtype == stack.dtype:
            stack[index] = photo
        else:
            stack = _as_float(stack)
            stack[index] = _as_float(photo)
        facts.append(fact)
        tell("read", (index + 1) / count)
    _refuse_twins(source.photos, stack, keys)
    return stack, tuple(facts), tuple(path.name for path in source.photos)


def _read_all(
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


def _check_size(path: Path, photo: np.ndarray, first: Path, like: np.ndarray) -> None:
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


def _refuse_twins(
    paths: tuple[Path, ...], photos: Shaped[np.ndarray, "M H W C"], keys: list[int]
) -> None:
    """Refuse a photo that is there twice; photos that are all alike are another matter."""
    if len(set(keys)) in (1, len(keys)):
        return
    for later, key in enumerate(keys):
        first = keys.index(key)
        if first < later and np.array_equal(photos[first], photos[later]):
            raise InvalidInputError(
                f"{paths[later]}: is the same photo as {paths[first].name}; remove one of the two."
            )


def _as_float(photo: Shaped[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """Radiance in float32: the common type of photos stored differently."""
    if photo.dtype == np.float32:
        return photo
    return (photo / np.iinfo(photo.dtype).max).astype(np.float32)


def _check_floats(path: Path, photo: Float[np.ndarray, "H W C"]) -> None:
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


def _linear(
    photos: Shaped[np.ndarray, "M H W C"], facts: tuple[Metadata, ...]
) -> Shaped[np.ndarray, "M H W C"]:
    """Undo the curve; of photos that met in float, only of those that were stored as integers."""
    if photos.dtype == np.float32:
        for photo, fact in zip(photos, facts, strict=True):
            if fact.bits != 32:
                photo[:] = srgb_to_linear(photo)
        return photos
    first = linear_from_srgb(photos[0])
    linear = np.empty(photos.shape, first.dtype)
    for index, photo in enumerate(photos):
        linear[index] = linear_from_srgb(photo)
    return linear


def _exposures(facts: tuple[Metadata, ...]) -> tuple[float, ...]:
    """Exposure of every photo relative to the first; empty unless all files say it."""
    values = [fact.exposure for fact in facts]
    if not values or any(value is None for value in values):
        return ()
    return tuple(value / values[0] for value in values if value and values[0])


def _lights(source: Source) -> Float[np.ndarray, "M 3"] | None:
    """Measured lights: direction times mean strength over the channels."""
    if source.directions is None:
        return None
    size = np.linalg.norm(source.directions, axis=1, keepdims=True)
    unit = source.directions / np.maximum(size, 1e-12)
    return unit if source.intensities is None else unit * source.intensities.mean(1, keepdims=True)


def _given_mask(source: Source, shape: tuple[int, int], options: IntakeOptions) -> Mask | None:
    if options.mask is not None:
        if is_polygon(options.mask):
            return polygon_mask(options.mask, shape)
        return read_mask(Path(options.mask), shape)
    if source.arrays is not None:
        given: Mask | None = source.arrays["mask"]
        return given
    paths = sorted(path for path in source.folder.iterdir() if is_mask(path))
    if len(paths) > 1:
        raise InvalidInputError(f"{paths[1]}: is a second mask; keep only one.")
    return read_mask(paths[0], shape) if paths else None


def _made_mask(
    photos: Shaped[np.ndarray, "M H W C"], tell: Progress
) -> tuple[Mask, str, list[str]]:
    silhouette = find_silhouette(photos, lambda share: tell("mask", share))
    if silhouette.fills_frame:
        return (
            silhouette.mask,
            "nothing to mask out was found",
            [
                "there is no mask, and nothing in the photos looks like surroundings: every pixel "
                "counts as object. Give --mask if that is wrong."
            ],
        )
    doubts = [
        "there was no mask, so one was made from the photos; look at preview/mask.png, and give a "
        "better one with --mask if it is wrong."
    ]
    if silhouette.contrast < _UNSURE_CONTRAST:
        doubts[0] += " Object and surroundings look alike here: it may well be."
    return silhouette.mask, "made from the photos", doubts


def _alignable(
    shifts: Shifts, names: tuple[str, ...], shape: tuple[int, int]
) -> Float[np.ndarray, "M 2"]:
    lengths = shifts.lengths
    worst = int(lengths.argmax())
    if lengths[worst] > _ALIGNABLE * max(shape):
        raise InvalidInputError(
            f"{names[worst]}: is shifted by {lengths[worst]:.0f} pixels, too far to align; leave "
            "it out, or put the camera on a tripod."
        )
    return np.where((lengths > 0)[:, None], shifts.offsets, 0.0)


def reduced(photos: Shaped[np.ndarray, "M H W C"], factor: int) -> Shaped[np.ndarray, "M h w C"]:
    """Average blocks; 8 bit become 16 bit, and a block with a saturated sample stays saturated."""
    height, width = photos.shape[1] // factor, photos.shape[2] // factor
    if not height or not width:
        raise InvalidInputError(f"--downscale {factor}: the photos are smaller than that.")
    kind = np.float32 if photos.dtype == np.float32 else np.uint16
    small = np.empty((len(photos), height, width, photos.shape[3]), kind)
    for photo, out in zip(photos, small, strict=True):
        blocks = photo[: height * factor, : width * factor].reshape(
            height, factor, width, factor, -1
        )
        mean = blocks.mean(axis=(1, 3), dtype=np.float32)
        if kind == np.float32:
            out[:] = mean
            continue
        top = np.iinfo(photos.dtype).max
        values = np.round(mean * (65535 / top))
        out[:] = np.where((blocks == top).any(axis=(1, 3)), 65535, np.minimum(values, 65534))
    return small


def _reduced_mask(mask: Mask, factor: int) -> Bool[np.ndarray, "h w"]:
    height, width = (side // factor for side in mask.shape)
    blocks = mask[: height * factor, : width * factor].reshape(height, factor, width, factor)
    small: Bool[np.ndarray, "h w"] = blocks.mean(axis=(1, 3)) > 0.5
    if not small.any():
        raise InvalidInputError(f"--downscale {factor}: nothing of the mask is left.")
    return small


def _known_depth(path: Path, shape: tuple[int, int]) -> tuple[DepthMap, Literal["mm"] | None]:
    """Read a depth map; it is in millimetres unless it says that its scale is free."""
    depth, unit = load_depth_map(path, shape)
    suffix = path.suffix.lower()
    says = stated(path, "unit") if suffix not in (".npz", ".npy", ".pfm") else None
    scale_is_free = suffix == ".npz" or says not in (None, "mm")
    return np.where(depth > 0, depth, np.nan), None if unit is None and scale_is_free else "mm"


def _reduced_depth(depth: DepthMap, factor: int) -> Float[np.ndarray, "h w"]:
    """Median of the known pixels of every block; a mean would invent surfaces between two."""
    height, width = (side // factor for side in depth.shape)
    blocks = depth[: height * factor, : width * factor].reshape(height, factor, width, factor)
    values = blocks.transpose(0, 2, 1, 3).reshape(height, width, -1)
    values = np.sort(np.where(values > 0, values, np.nan), axis=2)
    middle = np.maximum(np.isfinite(values).sum(axis=2) - 1, 0) // 2
    found: Float[np.ndarray, "h w"] = np.take_along_axis(values, middle[..., None], 2)[..., 0]
    return found


def _reduced_camera(camera: Camera, factor: int) -> Camera:
    matrix = scaled_matrix(camera.matrix, 1 / factor)
    if isinstance(camera, Orthographic):
        return Orthographic((float(matrix[0, 2]), float(matrix[1, 2])))
    return camera_from_matrix(kind_of(camera), matrix)


def cropped(capture: Capture) -> tuple[Capture, tuple[int, int]]:
    """Cut a capture to its mask, the camera with it; also the column and row of the corner."""
    rows, columns = np.flatnonzero(capture.mask.any(1)), np.flatnonzero(capture.mask.any(0))
    top, left = max(rows[0] - _MARGIN, 0), max(columns[0] - _MARGIN, 0)
    cut = np.s_[top : rows[-1] + _MARGIN + 1, left : columns[-1] + _MARGIN + 1]
    matrix = capture.camera.matrix.copy()
    matrix[:2, 2] -= left, top
    return (
        replace(
            capture,
            photos=np.ascontiguousarray(capture.photos[:, *cut]),
            mask=np.ascontiguousarray(capture.mask[cut]),
            depth=None if capture.depth is None else capture.depth[cut],
            camera=camera_from_matrix(kind_of(capture.camera), matrix),
        ),
        (int(left), int(top)),
    )

"""From a folder or file to a capture, with everything that was found out on the way."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from jaxtyping import Float

from anylight.arrays import DepthMap
from anylight.errors import InvalidInputError
from anylight.io.depths import load_depth_map, stated
from anylight.io.metadata import Metadata
from anylight.io.room import free_memory, in_words
from anylight.model.capture import Capture

from .coding import FoundCoding, find_coding
from .forecast import StackSize, least_factor, stack_size
from .intrinsics import FoundCamera, find_camera, seen_from
from .masks import given_mask, made_mask
from .options import IntakeOptions
from .reduction import cropped, reduced, reduced_camera, reduced_depth, reduced_mask
from .shifts import Shifts, align, find_shifts
from .source import Source, find_source
from .stack import Tell, linear_stack, read_stack, sampled, silent, stacked
from .streaming import Stack, reduced_stack

_ALIGNABLE = 0.05
"""Shifts of up to this share of the longer side can be undone."""


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
    downscale: int = 1
    """Side of the blocks that were averaged."""
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
            "lens_known": not self.camera.guessed,
            "mask_source": self.mask_source,
            "exposures": list(self.capture.exposures),
            "cropped_at": list(self.corner),
            "downscaled_by": self.downscale,
            "aligned": None if self.shifts is None else self.shifts.offsets.round(3).tolist(),
        }


def load_capture(
    path: Path | str,
    options: IntakeOptions | None = None,
    progress: Tell | None = None,
) -> Capture:
    """Read photos, mask and camera from a folder or file in any of the known layouts.

    Raises:
        InvalidInputError: in one sentence, what is wrong with which file.
    """
    return load(path, options, progress).capture


def load(
    path: Path | str,
    options: IntakeOptions | None = None,
    progress: Tell | None = None,
) -> Intake:
    """Read a capture and keep what was found out about it."""
    options, tell = options or IntakeOptions(), progress or silent
    source = find_source(Path(path))
    if options.fit:
        return _fitting(source, options, tell)
    return _load(source, options, tell, options.downscale > 1 and _is_large(source))


def _fitting(source: Source, options: IntakeOptions, tell: Tell) -> Intake:
    """The capture as it is, or reduced so far that a run fits into memory.

    How far is told by the photos' headers, before any is decoded.
    """
    free = free_memory()
    if source.arrays is not None:
        photos = source.arrays["photos"]
        size = StackSize(len(photos), photos.shape[1:3], photos.size, photos.itemsize)
        free += photos.nbytes  # they are there already
    else:
        size = stack_size(source.photos)
    whole = size.shape[0] * size.shape[1]
    pixels = _given_pixels(source, size.shape, options)
    factor = least_factor(size, whole if pixels is None else pixels, free, options.downscale)
    if factor is None:
        raise InvalidInputError(
            f"{source.folder}: does not fit into the {in_words(free)} of memory that are free, "
            "however far it is reduced; close other programs."
        )
    found = _load(source, _reduced_by(options, factor), tell, factor > 1)
    if pixels is None and factor > options.downscale:  # the mask that was made may allow more
        pixels = int(found.capture.mask.sum()) * factor**2
        better = least_factor(size, pixels, free, options.downscale)
        if better is not None and better < factor:
            del found
            factor = better
            found = _load(source, _reduced_by(options, better), tell, better > 1)
    if factor == options.downscale:
        return found
    words = (
        f"the photos were reduced by {factor} to fit into the {in_words(free)} of memory that are "
        "free."
    )
    return replace(found, warnings=(*found.warnings, words))


def _reduced_by(options: IntakeOptions, factor: int) -> IntakeOptions:
    return msgspec.structs.replace(options, downscale=factor, fit=False)


def _given_pixels(source: Source, shape: tuple[int, int], options: IntakeOptions) -> int | None:
    """Pixels on the object, if somebody made a mask; what is wrong with it is said elsewhere."""
    for own in (shape, shape[::-1]):  # files may ask to be turned
        try:
            mask, _ = given_mask(source, (), own, options)
        except InvalidInputError:
            continue
        return None if mask is None else int(mask.sum())
    return None


def _is_large(source: Source) -> bool:
    """Whether the photos of a folder had better not lie in memory all at once."""
    if source.arrays is not None:
        return False
    size = stack_size(source.photos)
    return size.samples * (size.sample_bytes + size.linear_bytes) > free_memory() // 2


def _whole_stack(source: Source, options: IntakeOptions, tell: Tell) -> Stack:
    """All photos, in linear light and then perhaps reduced."""
    read, facts, names = read_stack(source, tell)
    shape, bits = read[0].shape, 8 * read[0].dtype.itemsize
    some = np.stack([sampled(photo) for photo in read])[:, None]
    coding = find_coding(options.transfer, source.notes.transfer, source.coding, facts, some)
    if coding.coding == "srgb":
        photos = linear_stack(read, facts)
    else:
        photos = stacked(read) if source.arrays is None else source.arrays["photos"]
    if options.downscale > 1:
        photos = reduced(photos, options.downscale)
    return Stack(photos, facts, names, coding, (shape[0], shape[1]), bits)


def _load(source: Source, options: IntakeOptions, tell: Tell, one_by_one: bool) -> Intake:
    """Read a capture; photos that are reduced perhaps one by one."""
    streams = one_by_one and source.arrays is None
    stack = (reduced_stack if streams else _whole_stack)(source, options, tell)
    photos, facts, names, shape = stack.photos, stack.facts, stack.names, stack.shape
    stored = f"{shape[1]}×{shape[0]}, {stack.bits} bit"
    camera = find_camera(source, facts, shape, options)
    mask, mask_source = given_mask(source, facts, shape, options)
    found = camera.camera
    depth, unit = None, None
    if options.depth_prior is not None:
        depth, unit = _known_depth(Path(options.depth_prior), shape)
    if options.downscale > 1:
        found = reduced_camera(found, options.downscale)
        mask = None if mask is None else reduced_mask(mask, options.downscale)
        depth = None if depth is None else reduced_depth(depth, options.downscale)
    shifts = find_shifts(photos) if options.align else None
    if shifts is not None:
        photos = align(photos, _alignable(shifts, names, photos.shape[1:3]))
    warnings = list(camera.warnings)
    if mask is None:
        mask, mask_source, doubts = made_mask(photos, tell)
        warnings += doubts
    elif mask.all():
        warnings.append(
            "the mask covers every pixel: fine for a flat relief that fills the photos, otherwise "
            "paint the surroundings black."
        )
    lights = _lights(source)
    if options.distance is not None and options.object_size is not None:
        found = seen_from(mask, options.distance, options.object_size)
        camera = FoundCamera(found, "--distance and --object-size")
    capture = Capture(
        photos, mask, found, names, _exposures(facts), depth, unit, lights,
        lens_known=not camera.guessed,
    )  # fmt: skip
    corner = (0, 0)
    if options.crop:
        capture, corner = cropped(capture)
    return Intake(
        capture=capture,
        source=source,
        facts=facts,
        coding=stack.coding,
        camera=replace(camera, camera=capture.camera),
        mask_source=mask_source,
        stored=stored,
        shifts=shifts,
        corner=corner,
        downscale=options.downscale,
        warnings=tuple(warnings),
    )


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


def _known_depth(path: Path, shape: tuple[int, int]) -> tuple[DepthMap, Literal["mm"] | None]:
    """Read a depth map; it is in millimetres unless it says that its scale is free."""
    depth, unit = load_depth_map(path, shape)
    suffix = path.suffix.lower()
    says = stated(path, "unit") if suffix not in (".npz", ".npy", ".pfm") else None
    scale_is_free = suffix == ".npz" or says not in (None, "mm")
    return np.where(depth > 0, depth, np.nan), None if unit is None and scale_is_free else "mm"

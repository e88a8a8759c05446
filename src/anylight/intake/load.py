"""From a folder or file to a capture, with everything that was found out on the way."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from jaxtyping import Float, Shaped

from anylight.arrays import DepthMap, Mask
from anylight.errors import InvalidInputError
from anylight.io.capture import is_mask, read_mask
from anylight.io.depths import load_depth_map, stated
from anylight.io.images import has_alpha, read_alpha
from anylight.io.metadata import Metadata
from anylight.io.room import free_memory, in_words
from anylight.model.capture import Capture

from .coding import FoundCoding, find_coding
from .forecast import bytes_to_solve, reduction_that_fits
from .intrinsics import FoundCamera, find_camera, seen_from
from .options import IntakeOptions
from .photo import upright
from .polygon import is_polygon, polygon_mask
from .reduction import cropped, reduced, reduced_camera, reduced_depth, reduced_mask
from .shifts import Shifts, align, find_shifts
from .silhouette import find_silhouette
from .source import Source, find_source
from .stack import Tell, linear_stack, read_stack, silent

_ALIGNABLE = 0.05
"""Shifts of up to this share of the longer side can be undone."""
_UNSURE_CONTRAST = 2.5
_PAINT_ONE = (
    "open a photo in any paint program, paint the object white and all else black, save it as "
    'mask.png beside the photos (or give --mask FILE, or the corners of its outline: --mask "x1,y1 '
    'x2,y2 x3,y3").'
)


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
    options = options or IntakeOptions()
    intake = _load(path, options, progress or silent)
    return _fitting(path, options, intake, progress or silent) if options.fit else intake


def _fitting(path: Path | str, options: IntakeOptions, intake: Intake, tell: Tell) -> Intake:
    """The capture as it is, or reduced so far that a run fits into memory."""
    capture = intake.capture
    size, pixels = capture.photos.nbytes, int(capture.mask.sum())
    free = free_memory()
    if bytes_to_solve(size, pixels) <= free:
        return intake
    factor = reduction_that_fits(size, pixels, free)
    if factor is None:
        raise InvalidInputError(
            f"{path}: does not fit into the {in_words(free)} of memory that are free, however far "
            "it is reduced; close other programs."
        )
    total = options.downscale * factor
    smaller = msgspec.structs.replace(options, downscale=total, fit=False)
    del intake, capture
    found = _load(path, smaller, tell)
    words = (
        f"the photos were reduced by {total} to fit into the {in_words(free)} of memory that are "
        "free."
    )
    return replace(found, warnings=(*found.warnings, words))


def _load(path: Path | str, options: IntakeOptions, tell: Tell) -> Intake:
    source = find_source(Path(path))
    photos, facts, names = read_stack(source, tell)
    stored = f"{photos.shape[2]}×{photos.shape[1]}, {8 * photos.dtype.itemsize} bit"
    coding = find_coding(options.transfer, source.notes.transfer, source.coding, facts, photos)
    if coding.coding == "srgb":
        photos = linear_stack(photos, facts)
    camera = find_camera(source, facts, photos.shape[1:3], options)
    mask, mask_source = _given_mask(source, facts, photos.shape[1:3], options)
    found = camera.camera
    depth, unit = None, None
    if options.depth_prior is not None:
        depth, unit = _known_depth(Path(options.depth_prior), photos.shape[1:3])
    if options.downscale > 1:
        photos = reduced(photos, options.downscale)
        found = reduced_camera(found, options.downscale)
        mask = None if mask is None else reduced_mask(mask, options.downscale)
        depth = None if depth is None else reduced_depth(depth, options.downscale)
    shifts = find_shifts(photos) if options.align else None
    if shifts is not None:
        photos = align(photos, _alignable(shifts, names, photos.shape[1:3]))
    warnings = list(camera.warnings)
    if mask is None:
        mask, mask_source, doubts = _made_mask(photos, tell)
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
        coding=coding,
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


def _given_mask(
    source: Source, facts: tuple[Metadata, ...], shape: tuple[int, int], options: IntakeOptions
) -> tuple[Mask | None, str]:
    """The mask that somebody made, and where it was."""
    if options.mask is not None:
        if is_polygon(options.mask):
            return polygon_mask(options.mask, shape), "the options"
        return read_mask(Path(options.mask), shape), "the options"
    if source.arrays is not None:
        return source.arrays["mask"], "the file"
    paths = sorted(path for path in source.folder.iterdir() if is_mask(path))
    if len(paths) > 1:
        raise InvalidInputError(f"{paths[1]}: is a second mask; keep only one.")
    if paths:
        return read_mask(paths[0], shape), "the folder"
    return _transparency(source, facts, shape), "the transparency of the photos"


def _transparency(
    source: Source, facts: tuple[Metadata, ...], shape: tuple[int, int]
) -> Mask | None:
    """What is opaque in the photos, if somebody cut the object out of all of them."""
    cut = []
    for path, fact in zip(source.photos, facts, strict=False):
        alpha = read_alpha(path) if has_alpha(path) else None
        if alpha is None:
            return None
        cut.append(upright(alpha[..., None], fact.orientation)[..., 0] > 0.5)
    mask: Mask | None = np.all(cut, axis=0) if cut else None
    if mask is None or mask.shape != shape or not mask.any() or mask.all():
        return None
    return mask


def _made_mask(photos: Shaped[np.ndarray, "M H W C"], tell: Tell) -> tuple[Mask, str, list[str]]:
    silhouette = find_silhouette(photos, lambda share: tell("mask", share))
    if silhouette.fills_frame:
        return (
            silhouette.mask,
            "nothing to mask out was found",
            [
                "there is no mask, and object and surroundings could not be told apart: every "
                f"pixel counts as object. If that is wrong, {_PAINT_ONE}"
            ],
        )
    doubts = [
        "there was no mask, so one was made from the photos; look at preview/mask.png, and if it "
        f"is wrong, {_PAINT_ONE}"
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


def _known_depth(path: Path, shape: tuple[int, int]) -> tuple[DepthMap, Literal["mm"] | None]:
    """Read a depth map; it is in millimetres unless it says that its scale is free."""
    depth, unit = load_depth_map(path, shape)
    suffix = path.suffix.lower()
    says = stated(path, "unit") if suffix not in (".npz", ".npy", ".pfm") else None
    scale_is_free = suffix == ".npz" or says not in (None, "mm")
    return np.where(depth > 0, depth, np.nan), None if unit is None and scale_is_free else "mm"

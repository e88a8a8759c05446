"""The pieces of a capture's folder: `mask.png`, `K.txt`, `capture.toml`; and writing all of it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from jaxtyping import Float

from anylight.arrays import Mask
from anylight.errors import InvalidInputError
from anylight.geometry.camera import (
    MATRIX_LAYOUT,
    checked_matrix,
    kind_of,
)
from anylight.model.capture import Capture

from .images import PHOTO_SUFFIXES, read_alpha, read_image, write_image
from .metadata import Coding
from .text import small_text

MASK_NAME, MATRIX_NAME, NOTES_NAME = "mask.png", "K.txt", "capture.toml"

_BLACK, _SOFT = 0.1, 0.1
"""Up to which grey a mask counts as black, and how much of it may be in between."""

Tell = Callable[[int, int], None]
"""Called with the number of steps done and the number in all."""


class CaptureNotes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `capture.toml` may say about a folder of photos."""

    transfer: Coding | None = None
    """How stored values relate to light; found out if not given."""
    camera: Literal["perspective", "orthographic"] = "perspective"
    """Camera model."""
    lens: Literal["known", "guess"] = "known"
    """Whether the intrinsics of the folder are a guess that a command wrote down."""
    focal_35mm: float | None = None
    """Focal length on 35 mm film, in mm."""
    focal_px: float | None = None
    """Focal length in pixels."""
    fov: float | None = None
    """Angle of view along the longer side, in degrees."""
    files: tuple[str, ...] = ()
    """Photos in this order, instead of all images in natural order."""


def read_notes(path: Path) -> CaptureNotes:
    """Read `capture.toml`, or the defaults when there is none."""
    if not path.exists():
        return CaptureNotes()
    try:
        text = small_text(path)
        return msgspec.toml.decode(text, type=CaptureNotes)
    except (msgspec.DecodeError, UnicodeDecodeError, OSError, ValueError) as error:
        raise InvalidInputError(f"{path}: {error}; see docs/formats.md.") from error


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key under which photo2 comes before photo10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(p), p) if p.isdecimal() else (1, 0, p.casefold()) for p in parts]


def is_mask(path: Path) -> bool:
    """Whether a file in a folder of photos is their mask."""
    return path.stem.lower() == "mask" and path.suffix.lower() in PHOTO_SUFFIXES


def read_mask(path: Path, shape: tuple[int, int]) -> Mask:
    """Read a mask; soft edges are cut at half, but most of it must be plainly white or black."""
    image = read_image(path)
    if (image == image.flat[0]).all():
        alpha = read_alpha(path)
        if alpha is not None:  # cut out by a paint program: its shape is in the transparency
            image = (255 * alpha[..., None]).round().astype(np.uint8)
    if image.shape[:2] != shape:
        raise InvalidInputError(
            f"{path}: is {image.shape[1]}×{image.shape[0]} but the photos are "
            f"{shape[1]}×{shape[0]}; save the mask at the size of the photos."
        )
    level = image.mean(axis=2, dtype=float) / max(float(image.max()), 1e-12)
    undecided = ((level > _BLACK) & (level < 1 - _BLACK)).mean()
    coloured = (np.ptp(image.astype(float), axis=2) > 0.2 * float(image.max())).mean()
    if max(undecided, coloured) > _SOFT:
        raise InvalidInputError(
            f"{path}: is not a mask ({100 * max(undecided, coloured):.0f} % of it is neither white "
            "nor black); paint the object white and all else black."
        )
    mask: Mask = level > 0.5
    if not mask.any():
        raise InvalidInputError(f"{path}: is all black; paint the object white.")
    return mask


def read_matrix(path: Path) -> Float[np.ndarray, "3 3"]:
    """Read intrinsics: three rows of three numbers, pixel centres at integers."""
    try:
        text = small_text(path)
        lines = [line for line in text.splitlines() if line.strip()]
        rows = [[float(word) for word in re.split(r"[\s,;]+", line.strip())] for line in lines]
        matrix = np.array(rows, dtype=float)
    except (ValueError, OSError) as error:
        raise InvalidInputError(
            f"{path}: cannot be read as numbers ({error}); write the 3×3 matrix {MATRIX_LAYOUT}."
        ) from error
    try:
        return checked_matrix(matrix)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from error


def save_capture(folder: Path | str, capture: Capture, progress: Tell | None = None) -> None:
    """Write a capture into an existing folder, linear, in the photos' own type.

    Integer photos become PNG (TIFF unless grey or RGB), float photos EXR.
    """
    folder = Path(folder)
    suffix = ".png" if capture.num_channels in (1, 3) else ".tif"
    if capture.photos.dtype == np.float32:
        suffix = ".exr"
    stems = [Path(name).stem for name in capture.names]
    if len(set(stems)) < capture.num_photos:
        stems = [f"photo_{index:02d}" for index in range(capture.num_photos)]
    names = [stem + suffix for stem in stems]
    for done, (name, photo) in enumerate(zip(names, capture.photos, strict=True), start=1):
        write_image(folder / name, photo, {"oiio:ColorSpace": "lin_rec709_scene"})
        if progress is not None:
            progress(done, capture.num_photos)
    write_image(folder / MASK_NAME, np.where(capture.mask, np.uint8(255), np.uint8(0))[..., None])
    np.savetxt(folder / MATRIX_NAME, capture.camera.matrix, fmt="%.10g")
    files = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
    (folder / NOTES_NAME).write_text(
        f'transfer = "linear"\ncamera = "{kind_of(capture.camera)}"\n'
        + ("" if capture.lens_known else 'lens = "guess"\n')
        + f"files = [{files}]\n",
        encoding="utf-8",
    )

"""A capture as a plain folder: photos, `mask.png`, `K.txt` and an optional `capture.toml`.

Every image at the top of the folder is a photo, in natural order (2 before 10), except the mask.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from jaxtyping import Float, Shaped

from anylight.arrays import Mask
from anylight.errors import InvalidInputError
from anylight.geometry.camera import (
    MATRIX_LAYOUT,
    Camera,
    Orthographic,
    camera_from_matrix,
    checked_matrix,
    kind_of,
)
from anylight.model.capture import MIN_PHOTOS, Capture
from anylight.photometry.transfer import linear_from_srgb

from .images import PHOTO_SUFFIXES, has_alpha, read_image, write_image

MASK_NAME, MATRIX_NAME, NOTES_NAME = "mask.png", "K.txt", "capture.toml"

Progress = Callable[[int, int], None]
"""Called with the number of steps done and the number in all."""


class CaptureNotes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `capture.toml` may say about a folder of photos."""

    transfer: Literal["linear", "srgb"] = "linear"
    """How stored values relate to light."""
    camera: Literal["perspective", "orthographic"] = "perspective"
    """Camera model; perspective needs K.txt."""
    files: tuple[str, ...] = ()
    """Photos in this order, instead of all images in natural order."""


def load_capture(folder: Path | str, progress: Progress | None = None) -> Capture:
    """Read a plain folder.

    Raises:
        InvalidInputError: in one sentence, what is wrong with which file.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InvalidInputError(f"{folder}: no such folder; give the folder of the photos.")
    notes = read_notes(folder / NOTES_NAME)
    paths = photo_paths(folder, notes)
    photos = _read_photos(paths, notes, progress)
    shape = (photos.shape[1], photos.shape[2])
    mask = _find_mask(folder, shape)
    camera = _read_camera(folder, notes, shape)
    return Capture(photos, mask, camera, tuple(path.name for path in paths))


def read_notes(path: Path) -> CaptureNotes:
    """Read `capture.toml`, or the defaults when there is none."""
    if not path.exists():
        return CaptureNotes()
    try:
        text = path.read_text(encoding="utf-8-sig")
        return msgspec.toml.decode(text, type=CaptureNotes)
    except (msgspec.DecodeError, UnicodeDecodeError, OSError, ValueError) as error:
        raise InvalidInputError(f"{path}: {error}; see docs/formats.md.") from error


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key under which photo2 comes before photo10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(p), p) if p.isdecimal() else (1, 0, p.casefold()) for p in parts]


def photo_paths(folder: Path, notes: CaptureNotes) -> list[Path]:
    """Find the photos of a folder."""
    if notes.files:
        for name in notes.files:
            if Path(name).name != name:
                raise InvalidInputError(
                    f"{folder / NOTES_NAME}: '{name}' must be a file name without folders."
                )
        if len(set(notes.files)) < len(notes.files):
            raise InvalidInputError(f"{folder / NOTES_NAME}: lists a photo twice; remove one.")
        paths = [folder / name for name in notes.files]
    else:
        paths = sorted(
            (
                path
                for path in folder.iterdir()
                if path.suffix.lower() in PHOTO_SUFFIXES
                and not path.name.startswith(".")
                and not _is_mask(path)
            ),
            key=lambda path: natural_key(path.name),
        )
    if len(paths) < MIN_PHOTOS:
        raise InvalidInputError(
            f"{folder}: holds {len(paths)} photo(s) (PNG, TIFF, JPEG, EXR, HDR); at least "
            f"{MIN_PHOTOS} are needed, 10 to 25 under clearly different light work best."
        )
    return paths


def _read_photos(
    paths: list[Path], notes: CaptureNotes, progress: Progress | None
) -> Shaped[np.ndarray, "M H W C"]:
    photos = np.zeros((0, 0, 0, 0), np.uint8)
    for index, path in enumerate(paths):
        photo = read_image(path)
        if photo.dtype == np.float32:
            _check_floats(path, photo)
        if notes.transfer == "srgb":
            photo = linear_from_srgb(photo)
        if index == 0:
            photos = np.zeros((len(paths), *photo.shape), photo.dtype)
        if photo.shape != photos.shape[1:]:
            raise InvalidInputError(
                f"{path}: is {_describe(photo)} but {paths[0].name} is {_describe(photos[0])}; "
                "all photos must come from the same camera at the same settings."
            )
        if photo.dtype != photos.dtype:
            photos, photo = _as_float(photos), _as_float(photo)
        photos[index] = photo
        if progress is not None:
            progress(index + 1, len(paths))
    return photos


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


def _find_mask(folder: Path, shape: tuple[int, int]) -> Mask:
    """Read the folder's mask; without one every pixel counts."""
    paths = sorted(path for path in folder.iterdir() if _is_mask(path))
    if len(paths) > 1:
        raise InvalidInputError(f"{paths[1]}: is a second mask; keep only {MASK_NAME}.")
    return read_mask(paths[0], shape) if paths else np.ones(shape, dtype=bool)


def _is_mask(path: Path) -> bool:
    return path.stem.lower() == "mask" and path.suffix.lower() in PHOTO_SUFFIXES


def read_mask(path: Path, shape: tuple[int, int]) -> Mask:
    """Read a binary mask."""
    image = read_image(path)
    if (image == image.flat[0]).all() and has_alpha(path):
        raise InvalidInputError(
            f"{path}: is of one colour and keeps its shape in the transparency; "
            "paint the object white on black."
        )
    if image.shape[:2] != shape:
        raise InvalidInputError(
            f"{path}: is {image.shape[1]}×{image.shape[0]} but the photos are "
            f"{shape[1]}×{shape[0]}; save the mask at the size of the photos."
        )
    values = np.unique(image)
    if len(values) > 2 or (image != image[..., :1]).any() or (len(values) == 2 and values[0]):
        raise InvalidInputError(
            f"{path}: is not binary ({len(values)} values); "
            "paint the object white and all else black, without soft edges."
        )
    mask: Mask = image[..., 0] > 0
    if not mask.any():
        raise InvalidInputError(f"{path}: is all black; paint the object white.")
    return mask


def read_matrix(path: Path) -> Float[np.ndarray, "3 3"]:
    """Read intrinsics: three rows of three numbers, pixel centres at integers."""
    try:
        text = path.read_text(encoding="utf-8-sig")
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


def _read_camera(folder: Path, notes: CaptureNotes, shape: tuple[int, int]) -> Camera:
    path = folder / MATRIX_NAME
    if path.exists():
        return camera_from_matrix(notes.camera, read_matrix(path))
    if notes.camera == "orthographic":
        return Orthographic(((shape[1] - 1) / 2, (shape[0] - 1) / 2))
    raise InvalidInputError(
        f"{path}: is missing; write the 3×3 intrinsics there, or say "
        f'camera = "orthographic" in {NOTES_NAME}.'
    )


def save_capture(folder: Path, capture: Capture, progress: Progress | None = None) -> None:
    """Write a capture into an existing folder, linear, in the photos' own type.

    Integer photos become PNG (TIFF unless grey or RGB), float photos EXR.
    """
    suffix = ".png" if capture.num_channels in (1, 3) else ".tif"
    if capture.photos.dtype == np.float32:
        suffix = ".exr"
    stems = [Path(name).stem for name in capture.names]
    if len(set(stems)) < capture.num_photos:
        stems = [f"photo_{index:02d}" for index in range(capture.num_photos)]
    names = [stem + suffix for stem in stems]
    for done, (name, photo) in enumerate(zip(names, capture.photos, strict=True), start=1):
        write_image(folder / name, photo)
        if progress is not None:
            progress(done, capture.num_photos)
    write_image(folder / MASK_NAME, np.where(capture.mask, np.uint8(255), np.uint8(0))[..., None])
    np.savetxt(folder / MATRIX_NAME, capture.camera.matrix, fmt="%.10g")
    files = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
    (folder / NOTES_NAME).write_text(
        f'transfer = "linear"\ncamera = "{kind_of(capture.camera)}"\nfiles = [{files}]\n',
        encoding="utf-8",
    )

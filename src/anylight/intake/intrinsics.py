"""The camera: from a file of intrinsics, from EXIF, from a number, or a stated guess."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from anylight.arrays import Mask
from anylight.errors import InvalidInputError
from anylight.geometry.camera import (
    Camera,
    Orthographic,
    Perspective,
    camera_from_matrix,
    checked_matrix,
)
from anylight.io.capture import MATRIX_NAME, NOTES_NAME, read_matrix
from anylight.io.metadata import Metadata
from anylight.io.text import small_text
from anylight.model.capture import GUESSED_35MM

from .bodies import phone_35mm, sensor_mm
from .options import IntakeOptions
from .source import Source

Shape = tuple[int, int]

FRAME_35MM = 36.0
LENS_REMEDY = (
    "Look up the focal length on 35 mm film (the lens or the camera's data sheet say it; for a "
    "phone search its name and '35 mm equivalent') and give --focal-35mm, or measure how far the "
    "object was from the lens and how large it is, and give --distance and --object-size."
)
_COLMAP_FOCALS = {"SIMPLE_PINHOLE": 1, "PINHOLE": 2, "SIMPLE_RADIAL": 1, "RADIAL": 1, "OPENCV": 2,
                  "FULL_OPENCV": 2, "SIMPLE_RADIAL_FISHEYE": 0, "OPENCV_FISHEYE": 0}  # fmt: skip
"""Number of focal lengths before the principal point; 0: not a pinhole."""
_LARGEST = 1e9
"""Pixels of a side."""
_DISTORTS = 1e-3
"""Distortion coefficients above this move pixels at the rim by more than a fraction of one."""


@dataclass(frozen=True)
class FoundCamera:
    """A camera and where it came from."""

    camera: Camera
    source: str
    warnings: tuple[str, ...] = ()
    guessed: bool = False


def find_camera(
    source: Source, facts: tuple[Metadata, ...], shape: Shape, options: IntakeOptions
) -> FoundCamera:
    """Find the camera of upright photos of a size; what is named explicitly comes first."""
    explicit = _from_options(options, shape)
    if explicit is not None:
        return explicit
    notes = source.notes
    if source.arrays is not None and source.arrays["K"] is not None:
        camera = camera_from_matrix(source.arrays["camera"], source.arrays["K"])
        return FoundCamera(camera, "K in the file")
    if source.arrays is None:
        for path, read in _files(source.folder):
            found = _from_file(path, read, shape, notes.camera)
            return _as_guess(found, shape) if notes.lens == "guess" else found
    if notes.camera == "orthographic":
        return FoundCamera(Orthographic(_centre(shape)), "capture.toml")
    for name, top in (("fov", 179.0), ("focal_px", 1e9), ("focal_35mm", 1e5)):
        value = getattr(notes, name)
        if value is not None and not 0 < value < top:
            raise InvalidInputError(
                f"{source.folder / NOTES_NAME}: {name} must be between 0 and {top:g}."
            )
    named = _from_numbers(notes.fov, notes.focal_px, notes.focal_35mm, shape)
    if named is not None:
        return FoundCamera(named, "capture.toml")
    return _from_metadata(facts, shape)


def _as_guess(found: FoundCamera, shape: Shape) -> FoundCamera:
    """Intrinsics that a command wrote down without knowing them."""
    if not isinstance(found.camera, Perspective):
        return found
    words = f"{found.source}, which is a guess"
    return replace(found, source=words, guessed=True, warnings=guessed_camera(shape).warnings)


def read_intrinsics(path: Path, shape: Shape) -> FoundCamera:
    """Read K.txt, an OpenCV YAML file, or a COLMAP cameras.txt."""
    if not path.is_file():
        raise InvalidInputError(f"{path}: no such file; check the name.")
    for name, read in _READERS:
        if re.fullmatch(name, path.name, re.IGNORECASE):
            return _from_file(path, read, shape, "perspective")
    return _from_file(path, _matrix, shape, "perspective")


def _from_options(options: IntakeOptions, shape: Shape) -> FoundCamera | None:
    if options.orthographic:
        return FoundCamera(Orthographic(_centre(shape)), "--orthographic")
    if options.intrinsics is not None:
        return read_intrinsics(Path(options.intrinsics), shape)
    if options.object_size is not None:  # the mask tells the rest: see `seen_from`
        return FoundCamera(guessed_camera(shape).camera, "--distance and --object-size")
    named = _from_numbers(options.fov, options.focal_px, options.focal_35mm, shape)
    return None if named is None else FoundCamera(named, "the command line")


def seen_from(mask: Mask, distance: float, size: float) -> Perspective:
    """The camera that sees an object of a size (its longer side) from a distance."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    longer = max(np.ptp(rows), np.ptp(columns)) + 1
    focal = float(longer) * distance / size
    return Perspective((focal, focal), _centre((mask.shape[0], mask.shape[1])))


def _from_numbers(
    fov: float | None, focal_px: float | None, focal_35mm: float | None, shape: Shape
) -> Perspective | None:
    longer = max(shape)
    if focal_px is None and focal_35mm is not None:
        focal_px = focal_35mm / FRAME_35MM * longer
    if focal_px is None and fov is not None:
        focal_px = longer / 2 / float(np.tan(np.radians(fov) / 2))
    return None if focal_px is None else Perspective((focal_px, focal_px), _centre(shape))


def _from_metadata(facts: tuple[Metadata, ...], shape: Shape) -> FoundCamera:
    """EXIF: the 35 mm equivalent, the sensor's resolution, the camera's name; then a guess."""
    longer = max(shape)
    lies = tuple(
        f"EXIF says {fact.lies}, which cannot be; it was not used." for fact in facts if fact.lies
    )[:1]
    for fact in facts:
        if fact.focal_35mm is not None:
            camera = _from_numbers(None, None, fact.focal_35mm, shape)
            assert camera is not None
            words = f"EXIF ({fact.focal_35mm:g} mm on 35 mm film)"
            return FoundCamera(camera, words, lies)
        if fact.focal_mm is not None and fact.pixels_per_mm is not None:
            reduction = longer / (fact.sensor_width_px or longer)
            focal = fact.focal_mm * fact.pixels_per_mm * reduction
            if 0.1 * longer < focal < 100 * longer:
                camera = Perspective((focal, focal), _centre(shape))
                words = f"EXIF ({fact.focal_mm:g} mm, {fact.pixels_per_mm:.0f} pixels per mm)"
                return FoundCamera(camera, words, lies)
    for fact in facts:
        known = _by_name(fact, shape)
        if known is not None:
            return replace(known, warnings=lies)
    guess = guessed_camera(shape)
    return replace(guess, warnings=(*lies, *guess.warnings))


def _by_name(fact: Metadata, shape: Shape) -> FoundCamera | None:
    """A camera whose sensor, or a phone whose lens, is known by its name."""
    sensor, phone = sensor_mm(fact.taken), phone_35mm(fact.taken)
    focal_35mm, words = None, ""
    if fact.focal_mm is not None and sensor is not None:
        focal_35mm = fact.focal_mm * FRAME_35MM / sensor
        words = f"EXIF ({fact.focal_mm:g} mm) and the sensor of the camera it names"
    elif phone is not None:
        focal_35mm, words = phone, f"the main camera of the phone that EXIF names ({phone:g} mm)"
    camera = _from_numbers(None, None, focal_35mm, shape)
    return None if camera is None else FoundCamera(camera, words)


def guessed_camera(shape: Shape) -> FoundCamera:
    """A usual lens, where nothing is known."""
    focal = GUESSED_35MM / FRAME_35MM * max(shape)
    warning = f"NOTHING SAYS WHICH LENS TOOK THE PHOTOS. {LENS_REMEDY}"
    return FoundCamera(
        Perspective((focal, focal), _centre(shape)), "a guess", (warning,), guessed=True
    )


def _from_file(path: Path, read: "_Reader", shape: Shape, kind: str) -> FoundCamera:
    matrix, size, warnings = read(path)
    matrix = _resized(path, matrix, size, shape)
    outside = not (
        -0.5 * shape[1] < matrix[0, 2] < 1.5 * shape[1]
        and -0.5 * shape[0] < matrix[1, 2] < 1.5 * shape[0]
    )
    if outside and kind == "perspective":
        warnings = (
            *warnings,
            f"{path.name}: its principal point ({matrix[0, 2]:.0f}, {matrix[1, 2]:.0f}) is far "
            f"from the photos of {shape[1]}×{shape[0]}; it belongs to photos that were cropped "
            "or turned otherwise, unless the lens was shifted.",
        )
    return FoundCamera(camera_from_matrix(kind, matrix), path.name, warnings)


def _resized(path: Path, matrix: np.ndarray, size: Shape | None, shape: Shape) -> np.ndarray:
    """Bring intrinsics of a calibration at another resolution to that of the photos."""
    if size is None or size == shape:
        return matrix
    if min(size) < 1:
        raise InvalidInputError(f"{path}: was made for photos of no pixels; write K.txt instead.")
    scale = shape[1] / size[1]
    if abs(shape[0] / size[0] - scale) > 0.01 * scale:
        raise InvalidInputError(
            f"{path}: was made for {size[1]}×{size[0]} pixels, the photos are "
            f"{shape[1]}×{shape[0]}; calibrate at the same shape."
        )
    return Perspective.from_K(matrix).resized(scale).matrix


def _centre(shape: Shape) -> tuple[float, float]:
    return (shape[1] - 1) / 2, (shape[0] - 1) / 2


_Reader = Callable[[Path], tuple[np.ndarray, Shape | None, tuple[str, ...]]]


def _files(folder: Path) -> list[tuple[Path, _Reader]]:
    """Files of intrinsics in a folder, the plainest first."""
    names = sorted(path for path in folder.iterdir() if path.is_file())
    return [
        (path, read)
        for pattern, read in _READERS
        for path in names
        if re.fullmatch(pattern, path.name, re.IGNORECASE)
        and (read is not _opencv or _is_calibration(path))
    ]


def _is_calibration(path: Path) -> bool:
    content = path.read_bytes()
    return b"opencv-matrix" in content or b"camera_matrix" in content


def _text(path: Path) -> str:
    try:
        return small_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path}: cannot be read as text ({error}).") from error


def _matrix(path: Path) -> tuple[np.ndarray, Shape | None, tuple[str, ...]]:
    return read_matrix(path), None, ()


def _opencv(path: Path) -> tuple[np.ndarray, Shape | None, tuple[str, ...]]:
    """Read `camera_matrix` (or K) of a file that cv::FileStorage wrote as YAML."""
    text = _text(path)
    numbers = r"\[([^\]]*)\]"
    found = re.search(rf"(?:camera_matrix|cameraMatrix|\bK)\s*:.*?data\s*:\s*{numbers}", text, re.S)
    if found is None:
        raise InvalidInputError(f"{path}: holds no camera_matrix; write K.txt instead.")
    matrix = _checked(path, _numbers(path, found[1]))
    bent = re.search(
        rf"(?:distortion_coefficients|distCoeffs)\s*:.*?data\s*:\s*{numbers}", text, re.S
    )
    warnings = _distortion_warning(path, _numbers(path, bent[1]) if bent else [])
    width = re.search(r"image_width\s*:\s*(\d+)", text)
    height = re.search(r"image_height\s*:\s*(\d+)", text)
    size = (int(height[1]), int(width[1])) if width and height else None
    return matrix, size, warnings


def _colmap(path: Path) -> tuple[np.ndarray, Shape | None, tuple[str, ...]]:
    """Read the first camera of a COLMAP cameras.txt; its pixel centres are at halves."""
    lines = [line.strip() for line in _text(path).splitlines()]
    lines = [line for line in lines if line and line[0] != "#"]
    words = lines[0].split() if lines else []
    if len(words) < 7 or words[1] not in _COLMAP_FOCALS or not _COLMAP_FOCALS[words[1]]:
        raise InvalidInputError(
            f"{path}: its first camera is not a pinhole; undistort the photos with COLMAP first."
        )
    values = _numbers(path, ",".join(words[2:]))
    count = _COLMAP_FOCALS[words[1]]
    focal, rest = values[2 : 2 + count], values[2 + count :]
    if len(rest) < 2:
        raise InvalidInputError(f"{path}: its first camera lacks the principal point.")
    matrix = _checked(
        path, [focal[0], 0.0, rest[0] - 0.5, 0.0, focal[-1], rest[1] - 0.5, 0.0, 0.0, 1.0]
    )
    warnings = _distortion_warning(path, rest[2:])
    if len(lines) > 1:
        warnings = (*warnings, f"{path.name}: lists {len(lines)} cameras; the first one was taken.")
    if not all(1 <= side < _LARGEST for side in values[:2]):
        raise InvalidInputError(f"{path}: its first camera has no size; write it again.")
    return matrix, (int(values[1]), int(values[0])), warnings


def _numbers(path: Path, text: str) -> list[float]:
    try:
        return [float(word) for word in re.split(r"[\s,]+", text.strip()) if word]
    except ValueError as error:
        raise InvalidInputError(f"{path}: holds something else than numbers ({error}).") from error


def _checked(path: Path, values: list[float]) -> np.ndarray:
    if len(values) != 9:
        raise InvalidInputError(f"{path}: its camera matrix has {len(values)} numbers, not 9.")
    try:
        return checked_matrix(np.array(values).reshape(3, 3))
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from error


def _distortion_warning(path: Path, coefficients: list[float]) -> tuple[str, ...]:
    if not coefficients or max(map(abs, coefficients)) < _DISTORTS:
        return ()
    return (f"{path.name}: the lens distorts; undistort the photos before the run.",)


_READERS: tuple[tuple[str, _Reader], ...] = (
    (re.escape(MATRIX_NAME), _matrix),
    (r"cameras\.txt", _colmap),
    (r".*\.ya?ml", _opencv),
)

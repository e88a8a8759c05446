"""`truth.npz` and `result.npz`: the file contract of a reconstruction (docs/formats.md)."""

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from anylight.errors import InvalidInputError
from anylight.geometry.camera import (
    Camera,
    Orthographic,
    camera_from_matrix,
    checked_matrix,
    kind_of,
)
from anylight.geometry.normals import OPENGL_TO_CAMERA
from anylight.model.reconstruction import Reconstruction, outside_nan
from anylight.model.result import Result, scene_of
from anylight.photometry.harmonics import DEGREES, num_harmonics

from .numbers import read_npz

FIELDS = (
    "depth", "normals", "albedo", "lighting", "confidence", "openness", "lamps", "bounce",
    "near_light",
)  # fmt: skip
_LIGHTS = {"lighting", "lamps", "bounce", "near_light"}
TRUTH_NAMES = ("truth.npz", "gt.npz")
_NEAR_NUMBERS = tuple((order + 1) ** 2 for order in DEGREES)
_LEVEL = 1
"""Of packing: measured floats hardly repeat, so looking longer saves one percent."""
_AWAY = 0.5
"""Share of normals that look away from the camera from which their frame must be another."""
NUMBERS = tuple(num_harmonics(order) for order in DEGREES)


def save_reconstruction(path: Path | str, scene: Reconstruction | Result) -> None:
    """Write a reconstruction; the same values give the same bytes."""
    scene = scene_of(scene)
    path = Path(path)
    arrays = {
        "mask": scene.mask,
        "frame": np.array("camera"),
    }
    if scene.camera is not None:
        arrays |= {"K": scene.camera.matrix, "camera": np.array(kind_of(scene.camera))}
    for name in FIELDS:
        value = getattr(scene, name)
        if value is not None:
            kind = np.float64 if name == "depth" else np.float32
            arrays[name] = value.astype(kind, copy=False)
    if scene.photos is not None:
        arrays["photos"] = scene.photos
    if scene.exposures is not None:
        arrays["exposures"] = scene.exposures
    if scene.pixel_mm is not None:
        arrays["pixel_mm"] = np.array(scene.pixel_mm)
    if scene.near_light is not None:
        arrays["closeness"] = np.array(scene.closeness)
    if scene.unit is not None:
        arrays["unit"] = np.array(scene.unit)
    path = path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(value), allow_pickle=False)


def load_reconstruction(path: Path | str) -> Reconstruction:
    """Read a reconstruction, turned into the camera frame if the file uses another.

    Raises:
        InvalidInputError: the file is missing, damaged, or breaks the contract.
    """
    path = Path(path)
    arrays = read_npz(path)
    try:
        return _assemble(arrays)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from error


def _assemble(arrays: dict[str, np.ndarray]) -> Reconstruction:
    _expect(arrays, "mask", 2)
    mask = arrays["mask"].astype(bool)
    if not mask.any():
        raise InvalidInputError("its mask is empty.")
    frame = str(arrays.get("frame", "camera"))
    if frame not in ("camera", "opengl"):
        raise InvalidInputError(f'frame is "{frame}"; it must be "camera" or "opengl".')
    fields: dict[str, np.ndarray] = {}
    for name, axes in zip(FIELDS, (2, 3, 3, 3, 2, 2, 3, 1, 3), strict=True):
        if name in arrays:
            _expect(arrays, name, axes)
            fields[name] = arrays[name].astype(float)
    for name in fields.keys() - _LIGHTS:
        if fields[name].shape[:2] != mask.shape:
            raise InvalidInputError(
                f"'{name}' has {fields[name].shape[:2]} rows and columns, the mask {mask.shape}."
            )
        fields[name] = outside_nan(fields[name], mask)
    if fields.get("normals", np.zeros(3)).shape[-1] != 3:
        raise InvalidInputError("'normals' must have three components.")
    _check_light(fields)
    if "frame" not in arrays:
        _check_frame(fields.get("normals"), mask)
    if frame == "opengl" and "normals" in fields:
        fields["normals"] = fields["normals"] * OPENGL_TO_CAMERA
    if "photos" in arrays:
        fields["photos"] = _photo_numbers(arrays["photos"], fields.get("lighting"))
    if "exposures" in arrays:
        _expect(arrays, "exposures", 1)
        fields["exposures"] = arrays["exposures"].astype(float)
    unit = str(arrays.get("unit", ""))
    if unit not in ("", "mm"):
        raise InvalidInputError(f'unit is "{unit}"; it must be "mm" or missing.')
    size = arrays.get("pixel_mm")
    return Reconstruction(
        mask=mask,
        camera=_camera(arrays),
        unit="mm" if unit else None,
        pixel_mm=None if size is None else float(size),
        closeness=_closeness(arrays, fields),
        **fields,
    )


def _check_frame(normals: np.ndarray | None, mask: np.ndarray) -> None:
    """Refuse normals of an unnamed frame that cannot be the camera's: there they face it, −z."""
    if normals is not None and np.mean(normals[mask][:, 2] > 0) > _AWAY:
        raise InvalidInputError(
            "names no frame, and most of its normals look away from the camera in the camera "
            'frame; add frame="opengl" to the archive if z points to the viewer.'
        )


def _closeness(arrays: dict[str, np.ndarray], fields: dict[str, np.ndarray]) -> float:
    light = fields.get("near_light")
    if light is None:
        return 0.0
    given = arrays.get("closeness", np.array(""))
    if given.ndim or given.dtype.kind not in "fiu" or not 0 < float(given) <= 1:
        raise InvalidInputError("'near_light' needs a 'closeness' between 0 and 1.")
    alike = "lighting" in fields and light.shape[:2] == fields["lighting"].shape[:2]
    if light.shape[2] not in _NEAR_NUMBERS or not alike:
        raise InvalidInputError("'near_light' must belong to the photos of 'lighting'.")
    return float(given)


def _check_light(fields: dict[str, np.ndarray]) -> None:
    if "lighting" in fields and fields["lighting"].shape[2] not in NUMBERS:
        raise InvalidInputError(
            f"'lighting' has {fields['lighting'].shape[2]} coefficients; {NUMBERS} are possible."
        )
    if "lamps" in fields and (
        "lighting" not in fields or fields["lamps"].shape[:2] != fields["lighting"].shape[:2]
    ):
        raise InvalidInputError("'lamps' must belong to the photos and channels of 'lighting'.")
    if "bounce" in fields and (
        "lamps" not in fields or len(fields["bounce"]) != fields["lamps"].shape[1]
    ):
        raise InvalidInputError("'bounce' must belong to the channels of 'lamps'.")


def _camera(arrays: dict[str, np.ndarray]) -> Camera | None:
    kind = str(arrays.get("camera", "perspective"))
    if "K" not in arrays:
        return Orthographic((0.0, 0.0)) if kind == "orthographic" else None
    _expect(arrays, "K", 2)
    try:
        return camera_from_matrix(kind, checked_matrix(arrays["K"]))
    except InvalidInputError as error:
        raise InvalidInputError(f"K {error}") from error


def _photo_numbers(photos: np.ndarray, lighting: np.ndarray | None) -> np.ndarray:
    is_good = photos.ndim == 1 and photos.dtype.kind in "iu" and (photos >= 0).all()
    if not is_good or (lighting is not None and len(photos) != len(lighting)):
        raise InvalidInputError("'photos' must hold one number, zero or more, for each light.")
    return photos.astype(int)


def _expect(arrays: dict[str, np.ndarray], name: str, axes: int) -> None:
    if name not in arrays:
        raise InvalidInputError(f"holds no array '{name}'.")
    array = arrays[name]
    if array.ndim != axes or array.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"'{name}' must be a numeric array of {axes} axes, not {array.dtype} {array.shape}."
        )


def find_truth(path: Path) -> Path:
    """Resolve a truth given as a file or as the folder that holds it."""
    if path.is_dir():
        for name in TRUTH_NAMES:
            if (path / name).is_file():
                return path / name
        raise InvalidInputError(f"{path}: holds neither {' nor '.join(TRUTH_NAMES)}.")
    return path


def find_result(path: Path) -> Path:
    """Resolve a result given as a folder with `result.npz`, or as the file itself."""
    return path / "result.npz" if path.is_dir() else path

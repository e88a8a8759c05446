"""Captures that come as arrays in one file: `.mat` of the paper's authors, `.npz`."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from jaxtyping import Shaped

from anylight.errors import InvalidInputError
from anylight.geometry.camera import camera_from_matrix, checked_matrix
from anylight.io import numbers
from anylight.io.room import check_memory
from anylight.model.capture import MIN_PHOTOS

Arrays = dict[str, Any]
_WANTED = ("I", "I_noise", "mask", "K")


def read_mat(path: Path) -> Arrays:
    """Read `I` (or `I_noise`: H×W×C×M or H×W×M), `mask` and `K` of a MATLAB file."""
    with path.open("rb") as file:
        if b"MATLAB 7.3" in file.read(64):
            raise InvalidInputError(
                f"{path}: is a MATLAB 7.3 file; save it again with save(..., '-v7')."
            )
    try:
        sizes = [math.prod(shape) for name, shape, _ in scipy.io.whosmat(path) if name in _WANTED]
        check_memory(path, 8 * sum(sizes), "give a smaller file.")
        variables = scipy.io.loadmat(path, variable_names=_WANTED)
    except InvalidInputError:
        raise
    except Exception as error:  # the reader raises whatever the damage leads to
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InvalidInputError(f"{path}: is not a readable .mat file ({reason}).") from error
    images = variables.get("I_noise", variables.get("I"))
    if images is None or images.ndim not in (3, 4) or images.dtype.kind not in "uf":
        raise InvalidInputError(
            f"{path}: holds no images; expected an array I (or I_noise) of height × width × "
            "channels × photos."
        )
    if images.ndim == 3:
        images = images[:, :, None, :]
    return _checked(path, {**variables, "photos": np.moveaxis(images, 3, 0)})


def read_npz(path: Path) -> Arrays:
    """Read `photos` (M×H×W×C, linear), and `mask`, `K`, `camera` if they are there."""
    arrays: Arrays = dict(numbers.read_npz(path, ("photos", "mask", "K", "camera")))
    photos = arrays.get("photos")
    if photos is None or photos.ndim not in (3, 4) or photos.dtype.kind not in "uf":
        raise InvalidInputError(
            f"{path}: holds no photos; expected an array 'photos' of photos × height × width × "
            "channels."
        )
    return _checked(path, {**arrays, "photos": photos[..., None] if photos.ndim == 3 else photos})


def _checked(path: Path, arrays: Arrays) -> Arrays:
    """What belongs to a capture, each of it as it must be."""
    photos = arrays["photos"]
    if len(photos) < MIN_PHOTOS or not photos.size:
        shape = "×".join(map(str, photos.shape))
        raise InvalidInputError(
            f"{path}: holds photos of {shape} (photos × height × width × channels); at least "
            f"{MIN_PHOTOS} are needed."
        )
    checked: Arrays = {"photos": _stored(path, photos), "mask": None, "K": None}
    mask = arrays.get("mask")
    if mask is not None:
        mask = np.squeeze(mask)
        if mask.dtype.kind not in "buif" or mask.shape != photos.shape[1:3]:
            raise InvalidInputError(
                f"{path}: its mask is {'×'.join(map(str, mask.shape))} of {mask.dtype}, its photos "
                f"are {photos.shape[1]}×{photos.shape[2]}; save both at the same size."
            )
        checked["mask"] = mask > 0
        if not checked["mask"].any():
            raise InvalidInputError(f"{path}: its mask is empty; make it 1 on the object.")
    try:
        if arrays.get("K") is not None:
            checked["K"] = checked_matrix(np.asarray(arrays["K"], dtype=float))
            checked["camera"] = str(arrays.get("camera", "perspective"))
            camera_from_matrix(checked["camera"], checked["K"])
    except (InvalidInputError, TypeError, ValueError) as error:
        raise InvalidInputError(f"{path}: its K: {error}") from error
    return checked


def _stored(path: Path, photos: np.ndarray) -> Shaped[np.ndarray, "M H W C"]:
    """Photos in a type that a capture holds; floats are brought to a largest value of one."""
    if photos.dtype in (np.uint8, np.uint16):
        return np.ascontiguousarray(photos)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
        values = np.ascontiguousarray(photos, dtype=np.float32)
    if not np.isfinite(values).all() or values.min() < 0:
        raise InvalidInputError(
            f"{path}: holds negative, NaN or infinite pixels; replace them by 0 and mask them out."
        )
    return values / max(float(values.max()), 1.0)

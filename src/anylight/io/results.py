"""Shapes in files, ours or other programs': normal maps and depths in the formats people write."""

from pathlib import Path
from typing import Literal, get_args

import numpy as np

from anylight.errors import InvalidInputError
from anylight.geometry.normals import OPENGL_TO_CAMERA
from anylight.io.archive import find_result, load_reconstruction
from anylight.io.depths import DEPTH_SUFFIXES, read_depth_map
from anylight.io.images import read_image
from anylight.io.normals import normals_from_image, stated_convention, unit_normals
from anylight.io.numbers import read_npy, read_npz
from anylight.model.reconstruction import Reconstruction, outside_nan

Frame = Literal["opengl", "directx", "camera"]
_TO_CAMERA = {
    "opengl": OPENGL_TO_CAMERA,
    "directx": np.array([1.0, 1.0, -1.0]),
    "camera": np.ones(3),
}
_SUFFIXES = (*DEPTH_SUFFIXES, ".hdr")
_AWAY = 0.5
"""Share of normals that look away from the camera from which their frame must be another."""


def find_named(folder: Path, name: str) -> Path | None:
    """A result of a data set in a folder: a file of that name, or a folder with result.npz."""
    for suffix in _SUFFIXES:
        if (folder / f"{name}{suffix}").is_file():
            return folder / f"{name}{suffix}"
    inside = find_result(folder / name)
    return inside if inside.is_file() else None


def load_result(path: Path | str, frame: Frame = "opengl") -> Reconstruction:
    """Read a result: ours, or a normal map or depth of another program.

    Args:
        path: result.npz or its folder; an image with three channels (normals) or one (depth);
            an .npz or .npy with normals (H×W×3) or a depth (H×W).
        frame: of normals, where the file does not say it: opengl (x right, y up, z to the viewer),
            directx (y down) or camera (x right, y down, z away).
    """
    if frame not in get_args(Frame):
        raise InvalidInputError(f"frame must be one of {', '.join(get_args(Frame))}, not {frame}.")
    path = find_result(Path(path))
    if not path.is_file():
        raise InvalidInputError(f"{path}: no such file; check the name.")
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _from_archive(path, frame)
    if suffix == ".npy":
        return _from_array(path, read_npy(path), frame)
    if suffix == ".pfm":
        return _depth(read_depth_map(path)[0])
    image = read_image(path)
    if image.shape[2] == 1:
        return _depth(read_depth_map(path)[0])
    normals = normals_from_image(path, image) * OPENGL_TO_CAMERA
    return _normals(path, normals * _TO_CAMERA[stated_convention(path) or frame])


def load_normals(path: Path | str, frame: Frame = "opengl") -> Reconstruction:
    """Read a result that must have normals; arguments as for `load_result`."""
    path = Path(path)
    if path.is_file() and path.suffix.lower() not in (".npz", ".npy", ".pfm"):
        normals_from_image(path, read_image(path))  # says so if it is no normal map
    found = load_result(path, frame)
    if found.normals is None:
        raise InvalidInputError(f"{path}: holds no normals.")
    return found


def _from_archive(path: Path, frame: Frame) -> Reconstruction:
    """An archive as in docs/formats.md, which has a mask, or one without, in the stated frame."""
    arrays = read_npz(path)
    if "mask" in arrays:
        return load_reconstruction(path)
    stated = str(arrays.get("frame", frame))
    if stated not in get_args(Frame):
        raise InvalidInputError(f'{path}: frame is "{stated}"; it must be camera or opengl.')
    for name in ("normals", "normal", "depth"):
        if name in arrays:
            return _from_array(path, arrays[name], stated)  # type: ignore[arg-type]
    raise InvalidInputError(f"{path}: holds neither 'normals' nor 'depth'.")


def _from_array(path: Path, array: np.ndarray, frame: Frame) -> Reconstruction:
    if array.dtype.kind not in "iuf":
        raise InvalidInputError(f"{path}: holds {array.dtype}, not numbers.")
    if array.ndim == 3 and array.shape[2] == 3:
        if array.dtype.kind != "f":
            raise InvalidInputError(
                f"{path}: holds normals as integers; save them as floats from −1 to 1."
            )
        return _normals(path, unit_normals(array.astype(float) * _TO_CAMERA[frame]))
    if array.ndim != 2:
        raise InvalidInputError(
            f"{path}: is {'×'.join(map(str, array.shape))}; normals are H×W×3, a depth is H×W."
        )
    return _depth(np.where(np.isfinite(array) & (array != 0), array.astype(float), np.nan), path)


def _depth(depth: np.ndarray, path: Path | None = None) -> Reconstruction:
    holds = np.isfinite(depth)
    if not holds.any():
        raise InvalidInputError(f"{path}: holds no depth.")
    return Reconstruction(holds, depth=outside_nan(depth, holds))


def _normals(path: Path, normals: np.ndarray) -> Reconstruction:
    holds = np.isfinite(normals).all(axis=-1)
    if not holds.any():
        raise InvalidInputError(f"{path}: holds no normals.")
    if (normals[holds][:, 2] > 0).mean() > _AWAY:
        raise InvalidInputError(
            f"{path}: most normals look away from the camera, so their frame is not the one "
            "assumed; say which with --frame (opengl: x right, y up, z to the viewer; camera: x "
            "right, y down, z away)."
        )
    return Reconstruction(holds, normals=outside_nan(normals, holds))

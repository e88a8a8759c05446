"""Results of other programs: normal maps and depths in the formats that people write."""

from pathlib import Path
from typing import Literal

import numpy as np

from anylight.errors import InvalidInputError
from anylight.io.archive import find_result, load_reconstruction
from anylight.io.images import read_image
from anylight.io.normals import normals_from_image, unit_normals
from anylight.model.reconstruction import Reconstruction, outside_nan

Frame = Literal["opengl", "camera"]
_OPENGL_TO_CAMERA = np.array([1.0, -1.0, -1.0])
_SUFFIXES = (".npz", ".npy", ".exr", ".png", ".tif", ".tiff", ".hdr", ".pfm")


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
        frame: of normals in images and .npy files: opengl (x right, y up, z to the viewer) or
            camera (x right, y down, z away).
    """
    path = find_result(Path(path))
    if not path.is_file():
        raise InvalidInputError(f"{path}: no such file; check the name.")
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _from_archive(path, frame)
    if suffix == ".npy":
        return _from_array(path, _numpy(path), frame)
    image = read_image(path)
    if image.shape[2] == 1:
        return _from_array(path, image[..., 0], frame)
    normals = normals_from_image(path, image)
    return _normals(path, normals if frame == "opengl" else normals * _OPENGL_TO_CAMERA)


def _numpy(path: Path) -> np.ndarray:
    try:
        found = np.load(path, allow_pickle=False)
    except Exception as error:  # a damaged file can raise nearly anything
        raise InvalidInputError(f"{path}: is not a readable .npy file of numbers.") from error
    return np.asarray(found)


def _from_archive(path: Path, frame: Frame) -> Reconstruction:
    """Our own archive, or one that has neither mask nor frame."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            names = set(archive.files)
            arrays = {} if "mask" in names else {name: archive[name] for name in names}
    except Exception:  # noqa: BLE001  the reader below says what is wrong with it
        return load_reconstruction(path)
    if "mask" in names:
        return load_reconstruction(path)
    for name in ("normals", "normal", "depth"):
        if name in arrays:
            stated = str(arrays.get("frame", frame))
            return _from_array(path, arrays[name], "camera" if stated == "camera" else "opengl")
    raise InvalidInputError(f"{path}: holds neither 'normals' nor 'depth'.")


def _from_array(path: Path, array: np.ndarray, frame: Frame) -> Reconstruction:
    if array.dtype.kind not in "iuf":
        raise InvalidInputError(f"{path}: holds {array.dtype}, not numbers.")
    if array.ndim == 3 and array.shape[2] == 3:
        turned = array.astype(float) * (1.0 if frame == "camera" else _OPENGL_TO_CAMERA)
        return _normals(path, unit_normals(turned))
    if array.ndim != 2:
        raise InvalidInputError(
            f"{path}: is {'×'.join(map(str, array.shape))}; normals are H×W×3, a depth is H×W."
        )
    holds = np.isfinite(array) & (array != 0)
    if not holds.any():
        raise InvalidInputError(f"{path}: holds no depth.")
    return Reconstruction(holds, depth=outside_nan(array.astype(float), holds))


def _normals(path: Path, normals: np.ndarray) -> Reconstruction:
    holds = np.isfinite(normals).all(axis=-1)
    if not holds.any():
        raise InvalidInputError(f"{path}: holds no normals.")
    return Reconstruction(holds, normals=outside_nan(normals, holds))

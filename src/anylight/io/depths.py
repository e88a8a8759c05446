"""Depth maps of any origin: our own files, and the ways in which other programs store depth."""

import re
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float

from anylight.arrays import DepthMap
from anylight.errors import InvalidInputError

from .images import read_attributes, read_image
from .numbers import read_npy, read_npz

DEPTH_SUFFIXES = (".exr", ".png", ".tif", ".tiff", ".npy", ".npz", ".pfm")
PREFIX = "anylight:"
"""What our words in EXR files begin with; PNG files have them plain."""

_FAR = 1e9
"""Renderers write 1e10 where there is nothing."""

_PFM_HEAD = re.compile(rb"\A(P[fF])\s+(\d+)\s+(\d+)\s+([-+.\deE]+)(?:\r\n|\s)")

Unit = Literal["mm"] | None


def load_depth_map(path: Path, mask_shape: tuple[int, int]) -> tuple[DepthMap, Unit]:
    """Read a depth map that must have the size of the photos; see `read_depth_map`."""
    depth, unit = read_depth_map(path)
    if depth.shape != mask_shape:
        raise InvalidInputError(
            f"{path}: has {depth.shape[1]}×{depth.shape[0]} pixels, the photos "
            f"{mask_shape[1]}×{mask_shape[0]}; give depth for every pixel of the photos."
        )
    return depth, unit


def read_depth_map(path: Path) -> tuple[DepthMap, Unit]:
    """Read depth along the optical axis, NaN where there is none, and its unit if that is known.

    16-bit integers are millimetres unless the file says otherwise; what is not positive is missing,
    but for depth of our own, whose origin may be free.

    Raises:
        InvalidInputError: the file is missing, damaged, or not a depth map.
    """
    if not path.is_file():
        kind = "is a folder, not a depth map" if path.is_dir() else "no such file"
        raise InvalidInputError(f"{path}: {kind}; check the name.")
    readers = {".npy": _read_npy, ".npz": _read_npz, ".pfm": _read_pfm}
    suffix = path.suffix.lower()
    if suffix not in DEPTH_SUFFIXES:
        raise InvalidInputError(
            f"{path}: is not a depth map; use one of {', '.join(DEPTH_SUFFIXES)}."
        )
    depth, unit, may_be_negative = readers.get(suffix, _read_image)(path)
    if depth.ndim != 2:
        raise InvalidInputError(
            f"{path}: has the shape {depth.shape}; a depth map has rows and columns only."
        )
    holds = np.isfinite(depth) & (np.abs(np.nan_to_num(depth)) < _FAR)
    if not may_be_negative:
        holds &= np.nan_to_num(depth) > 0
    if not holds.any():
        raise InvalidInputError(
            f"{path}: holds no positive depth; give distances along the optical axis."
        )
    return np.where(holds, depth, np.nan), unit


def stated(path: Path, keyword: str) -> str | None:
    """Find what an image file that we wrote says under a keyword."""
    words = read_attributes(path)
    return words.get(PREFIX + keyword, words.get(keyword))


def _read_image(path: Path) -> tuple[np.ndarray, Unit, bool]:
    image = read_image(path)
    if image.shape[2] != 1:
        raise InvalidInputError(
            f"{path}: has {image.shape[2]} channels; a depth map has one, export it as such."
        )
    values = image[..., 0]
    unit: Unit = "mm" if stated(path, "unit") == "mm" else None
    if values.dtype == np.float32:
        return values.astype(float), unit, read_attributes(path).get(PREFIX + "unit") is not None
    if values.dtype == np.uint8:
        raise InvalidInputError(
            f"{path}: has 8 bits, too few for depth; export it with 16 bits or as float EXR."
        )
    offset, step = stated(path, "offset"), stated(path, "step")
    if offset is None or step is None:
        return values.astype(float), "mm", False
    try:
        depth = float(offset) + (values.astype(float) - 1) * float(step)
    except ValueError as error:
        raise InvalidInputError(
            f"{path}: its offset or step is not a number ({error}); write it again."
        ) from error
    return np.where(values > 0, depth, np.nan), unit, True


def _read_npy(path: Path) -> tuple[np.ndarray, Unit, bool]:
    return _numeric(path, read_npy(path)), None, False


def _read_npz(path: Path) -> tuple[np.ndarray, Unit, bool]:
    arrays = read_npz(path, ("depth", "unit", "camera"))
    if "depth" not in arrays:
        raise InvalidInputError(f"{path}: holds no array 'depth'; name the depth map so.")
    depth = arrays["depth"]
    unit, kind = (str(arrays.get(name, "")) for name in ("unit", "camera"))
    if unit not in ("", "mm"):
        raise InvalidInputError(f'{path}: unit is "{unit}"; it must be "mm" or missing.')
    return _numeric(path, depth), "mm" if unit else None, kind == "orthographic"


def _read_pfm(path: Path) -> tuple[Float[np.ndarray, "H W"], Unit, bool]:
    content = path.read_bytes()
    head = _PFM_HEAD.match(content)
    if head is None:
        raise InvalidInputError(f"{path}: is not a PFM file; write it again.")
    if head[1] == b"PF":
        raise InvalidInputError(f"{path}: has 3 channels; a depth map has one, export it as such.")
    width, height = int(head[2]), int(head[3])
    try:
        kind = "<f4" if float(head[4]) < 0 else ">f4"
    except ValueError as error:
        raise InvalidInputError(f"{path}: is not a PFM file; write it again.") from error
    data = content[head.end() :]
    if len(data) != 4 * width * height:
        raise InvalidInputError(
            f"{path}: holds {len(data)} bytes of pixels instead of {4 * width * height}; "
            "copy it again."
        )
    rows = np.frombuffer(data, kind).reshape(height, width)
    return rows[::-1].astype(float), None, False


def _numeric(path: Path, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "iuf":
        raise InvalidInputError(
            f"{path}: holds {array.dtype}, not numbers; save the depth as floats."
        )
    return array.astype(float)

"""Normal maps as images."""

from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from anylight.arrays import NormalMap
from anylight.errors import InvalidInputError
from anylight.geometry.normals import OPENGL_TO_CAMERA

from .depths import stated


def stated_convention(path: Path) -> str | None:
    """Find in which frame a normal map of ours is; None if the file does not say."""
    word = stated(path, "convention")
    return word if word in ("opengl", "directx", "camera") else None


def normals_from_image(path: Path, image: Shaped[np.ndarray, "H W C"]) -> NormalMap:
    """Unit normals in the camera frame from a map in the OpenGL look; NaN where it is black.

    Integers code [−1, 1] over their range; floats are taken as they are.
    """
    if image.shape[2] != 3:
        raise InvalidInputError(f"{path}: a normal map has three channels, not {image.shape[2]}.")
    values = image.astype(float)
    is_black = (values == 0).all(axis=-1, keepdims=True)
    if image.dtype.kind == "u":
        values = values / np.iinfo(image.dtype).max * 2 - 1
    return unit_normals(np.where(is_black, np.nan, values)) * OPENGL_TO_CAMERA


def unit_normals(field: NormalMap) -> NormalMap:
    """Normals of length one; NaN where there is none."""
    size = np.linalg.norm(field, axis=-1, keepdims=True)
    return field / np.where(size > 0, size, np.nan)

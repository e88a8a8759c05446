"""General light from one-light photos: light adds, so do photographs.

Real pixels under light that is known only to us: every new photo is a non-negative mixture of the
photos of a calibrated set (DiLiGenT).
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.io

from anylight.errors import InvalidInputError
from anylight.geometry.normals import OPENGL_TO_CAMERA
from anylight.model.capture import Capture
from anylight.model.reconstruction import Reconstruction, outside_nan

_LAMPS = 8.0
"""About so many of the lamps are bright in a mixture."""
_WHITE = 0.995
"""Quantile of a mixture that becomes white."""


def mixtures(num_lamps: int, num_photos: int, seed: int = 0) -> np.ndarray:
    """Weights of the lamps in every mixture: few strong ones, most of them faint."""
    rng = np.random.default_rng(seed)
    return rng.gamma(_LAMPS / num_lamps, size=(num_photos, num_lamps)) + 1e-3


def mix(capture: Capture, num_photos: int, seed: int = 0) -> Capture:
    """Mix the photos of a capture into photos under general light, 16 bit.

    Args:
        capture: one lamp per photo, linear.
        num_photos: how many to make.
        seed: of the random mixtures.
    """
    if capture.num_photos < 8:
        raise InvalidInputError(
            f"{capture.num_photos} one-light photos are too few to mix; take 8 or more."
        )
    weights = mixtures(capture.num_photos, num_photos, seed)
    photos = np.empty((num_photos, *capture.photos.shape[1:]), np.uint16)
    for row, out in zip(weights, photos, strict=True):
        total = np.zeros(capture.photos.shape[1:], np.float32)
        for weight, photo in zip(row, capture.photos, strict=True):
            total += np.float32(weight) * photo
        white = max(float(np.quantile(total[capture.mask], _WHITE)), 1e-12)
        out[:] = np.round(np.clip(total / white, 0, 1) * 65535)
    names = tuple(f"mix_{index:02d}.png" for index in range(num_photos))
    return replace(capture, photos=photos, names=names, exposures=(), lights=None)


def true_normals(folder: Path) -> Reconstruction | None:
    """`Normal_gt.mat` of a DiLiGenT folder, if it is there."""
    path = folder / "Normal_gt.mat"
    if not path.is_file():
        return None
    try:
        variables = scipy.io.loadmat(path)
    except Exception as error:  # the reader raises whatever the damage leads to
        raise InvalidInputError(f"{path}: is not a readable .mat file ({error}).") from error
    found = [value for name, value in variables.items() if not name.startswith("__")]
    normals = next((v for v in found if getattr(v, "ndim", 0) == 3 and v.shape[2] == 3), None)
    if normals is None:
        raise InvalidInputError(f"{path}: holds no array of normals.")
    mask = np.linalg.norm(normals, axis=2) > 0.5
    return Reconstruction(mask, normals=outside_nan(normals * OPENGL_TO_CAMERA, mask))

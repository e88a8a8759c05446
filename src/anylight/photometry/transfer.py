"""The sRGB transfer curve, undone."""

from functools import cache

import numpy as np
from jaxtyping import Float, Shaped, UInt8, UInt16


def srgb_to_linear(coded: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """Linear value of an sRGB-coded one, both in [0, 1]."""
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(linear: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """Inverse of `srgb_to_linear`; values are clipped to [0, 1]."""
    clipped = np.clip(linear, 0, 1)
    return np.where(clipped <= 0.0031308, clipped * 12.92, 1.055 * clipped ** (1 / 2.4) - 0.055)


@cache
def _screen_table() -> UInt8[np.ndarray, " 65536"]:
    return np.round(linear_to_srgb(np.arange(65536) / 65535) * 255).astype(np.uint8)


def screen_bytes(linear: Float[np.ndarray, "*n"]) -> UInt8[np.ndarray, "*n"]:
    """Linear values in [0, 1] as the 8 bits that a screen takes, by a table; others are clipped."""
    steps = np.minimum(np.fmax(linear, 0), 1)  # what is no number is dark
    steps *= 65535
    steps += 0.5
    coded = np.empty(steps.shape, np.uint8)
    np.take(_screen_table(), steps.astype(np.uint16), out=coded, mode="clip")
    return coded


@cache
def _linear_table(top: int) -> UInt16[np.ndarray, " levels"]:
    return np.round(srgb_to_linear(np.arange(top + 1) / top) * 65535).astype(np.uint16)


def linear_from_srgb(
    photo: Shaped[np.ndarray, "*n"], out: UInt16[np.ndarray, "*n"] | None = None
) -> Shaped[np.ndarray, "*n"]:
    """Undo the curve by a table; 8 and 16 bit become linear 16 bit.

    Linear 16 bit separate all 256 coded levels of 8 bit; of 16 coded bits the darkest levels merge,
    far below any camera's noise. Integers keep saying which samples are saturated. Float photos are
    linear by nature and pass unchanged.

    Args:
        photo: coded values.
        out: of integers: where to put the linear ones.
    """
    if photo.dtype == np.float32:
        return photo
    linear = np.empty(photo.shape, np.uint16) if out is None else out
    # No index is out of range; asked to clip, NumPy writes straight into the result.
    np.take(_linear_table(int(np.iinfo(photo.dtype).max)), photo, out=linear, mode="clip")
    return linear

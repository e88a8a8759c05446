"""Linear or gamma-coded? What the files say, and where they are silent, what the values say.

Light adds, so photos of a fixed scene in linear values are near a product of few factors: every
photo a mixture of the same few images. A curve spoils that. Where files are silent we fit such a
product twice, to the stored values and to the light they would mean if they were sRGB, measure both
misfits in stored values, and believe the curve if it fits about as well: noise and shadows, which
dominate the misfit of true sRGB photos, hurt the second fit more.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Shaped

from anylight.errors import InvalidInputError
from anylight.io.metadata import Coding, Metadata
from anylight.photometry.transfer import linear_to_srgb, srgb_to_linear

_SAMPLES = 3000
_MOST_FACTORS = 6
_ROUNDS = 8
_DARK, _BRIGHT = 0.008, 0.97
"""Stored values outside are noise or clipped."""
_AS_WELL = 1.15
"""The curve is believed while its misfit is at most so many times that of linear values."""


@dataclass(frozen=True)
class FoundCoding:
    """How stored values relate to light, and why we think so."""

    coding: Coding
    source: str
    is_judged: bool = False
    """Judged by the values, not said by anybody."""


def find_coding(
    asked: Coding | None,
    noted: Coding | None,
    usual: Coding | None,
    facts: tuple[Metadata, ...],
    photos: Shaped[np.ndarray, "M H W C"],
) -> FoundCoding:
    """Decide for all photos.

    Args:
        asked: by the user.
        noted: in capture.toml.
        usual: in the dialect of the folder, for files that are silent.
        facts: of the files.
        photos: as stored.
    """
    is_float = photos.dtype == np.float32 and all(fact.bits == 32 for fact in facts)
    said = {fact.coding: fact.coding_source for fact in facts if fact.coding and fact.bits != 32}
    if len(said) > 1 and asked is None and noted is None:
        raise InvalidInputError(
            f"the photos are coded differently (some are linear: {said['linear']}; some sRGB: "
            f"{said['srgb']}); export all alike, or give --transfer."
        )
    certain: list[tuple[Coding | None, str]] = [
        ("linear" if is_float else None, "float values are"),
        (asked, "--transfer"),
        (noted, "capture.toml"),
        *said.items(),
        (
            "linear" if photos.dtype != np.uint8 else None,
            "16-bit files that say nothing usually are",
        ),
        (usual, "8-bit files in this layout are"),
    ]
    for coding, source in certain:
        if coding is not None:
            return FoundCoding(coding, source)
    return _judged(photos)


def _judged(photos: Shaped[np.ndarray, "M H W C"]) -> FoundCoding:
    ratio = curve_misfit(photos)
    if ratio is None:
        return FoundCoding("srgb", "8-bit files usually are", is_judged=True)
    words = f"judged by the values: undoing a curve changes the misfit by a factor {ratio:.2f}"
    return FoundCoding("srgb" if ratio < _AS_WELL else "linear", words, is_judged=True)


def curve_misfit(photos: Shaped[np.ndarray, "M H W C"]) -> float | None:
    """Misfit with the curve undone over the misfit of the values as they are; None: cannot tell."""
    count = len(photos)
    stored = photos.reshape(count, -1, photos.shape[3])
    middle = min(1, photos.shape[3] - 1)
    bright = np.flatnonzero(stored[:, :: max(1, stored.shape[1] // 200_000), middle].mean(0) > 12)
    step = max(1, stored.shape[1] // 200_000)
    chosen = bright[:: max(1, len(bright) // _SAMPLES)] * step
    values = stored[:, chosen, middle] / 255.0
    good = (values < _BRIGHT) & (values > _DARK)
    enough = good.sum(axis=0) >= max(4, 0.6 * count)
    values, good = values[:, enough], good[:, enough]
    factors = min(_MOST_FACTORS, count // 2)
    if factors < 2 or values.shape[1] < 20 * factors:
        return None
    as_stored = _product(values, good.astype(float), factors)
    light = srgb_to_linear(values)
    steepness = 1 / np.maximum(_d_srgb_to_linear(values), 1e-6)
    as_coded = linear_to_srgb(np.maximum(_product(light, good * steepness**2, factors), 0))
    plain, coded = (((values - fit)[good] ** 2).sum() for fit in (as_stored, as_coded))
    return float(coded / max(plain, 1e-12))


def _d_srgb_to_linear(coded: Float[np.ndarray, "M n"]) -> Float[np.ndarray, "M n"]:
    return np.where(coded <= 0.04045, 1 / 12.92, 2.4 / 1.055 * ((coded + 0.055) / 1.055) ** 1.4)


def _product(
    values: Float[np.ndarray, "M n"],
    weights: Float[np.ndarray, "M n"] | Bool[np.ndarray, "M n"],
    factors: int,
) -> Float[np.ndarray, "M n"]:
    """Weighted least-squares product of few factors, by turns."""
    left = np.linalg.svd(values, full_matrices=False)[0][:, :factors]
    ridge = 1e-9 * np.eye(factors)
    for _ in range(_ROUNDS):
        squares = np.einsum("mi,mn,mj->nij", left, weights, left, optimize=True) + ridge
        right = np.linalg.solve(squares, ((weights * values).T @ left)[..., None])[..., 0]
        squares = np.einsum("ni,mn,nj->mij", right, weights, right, optimize=True) + ridge
        left = np.linalg.solve(squares, ((weights * values) @ right)[..., None])[..., 0]
    return left @ right.T

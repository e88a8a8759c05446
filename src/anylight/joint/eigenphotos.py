"""Photos compressed, channel by channel, to their leading eigen-photos.

A rotation of the photos commutes with weights per pixel, so the joint solver may work on a few
combinations of all photos instead of the photos themselves.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from anylight.geometry.domain import ABSENT, Domain
from anylight.kernels.averaging import average_alike
from anylight.model.capture import Capture
from anylight.model.options import JointOptions

MOST = JointOptions().eigenphotos
"""Eigen-photos kept per channel."""
_SATURATED = 0.985
"""Integer samples above this share of the full scale tell only that they were bright."""
_ROUNDS = 3
_BLOCK = 16384
_RADIUS = 3
_QUIET = 1e-4
"""Noise below this is none."""


@dataclass(frozen=True, eq=False)
class EigenPhotos:
    """The photos of the masked pixels in their own basis."""

    values: Float[np.ndarray, "P CR"]
    basis: Float[np.ndarray, "C M R"]
    """Photo m of channel c is basis[c, m] · values of that channel."""
    good: Float[np.ndarray, " P"]
    """Share of a pixel's samples that could be used."""
    bad_share: float
    """Share of all samples that are saturated or black."""
    noise: float
    """Standard deviation of a sample's noise, relative to white: an upper bound from the smallest
    eigenvalue, which holds little else."""

    @property
    def num_kept(self) -> int:
        """Number R of eigen-photos per channel."""
        return self.basis.shape[2]

    def lighting(self, light: Float[np.ndarray, "K CR"]) -> Float[np.ndarray, "M C K"]:
        """Light of every photo from the light of the eigen-photos."""
        split = light.reshape(len(light), len(self.basis), self.num_kept)
        return np.einsum("kcr,cmr->mck", split, self.basis)


def is_usable(photos: np.ndarray) -> Bool[np.ndarray, "*n"]:
    """Samples that are neither saturated nor black; all, for floating-point photos."""
    if photos.dtype.kind != "u":
        return np.isfinite(photos)
    return (photos > 0) & (photos < _SATURATED * np.iinfo(photos.dtype).max)


def compress(capture: Capture, white: float, most: int = MOST) -> EigenPhotos:
    """Find the eigen-photos; saturated and black samples carry no weight.

    Args:
        capture: the photos.
        white: stored value that becomes one.
        most: eigen-photos to keep per channel.

    A pixel with unusable samples gets the coefficients that explain the others, held by the
    spread of the coefficients over the object (a few rounds, because the basis itself is found
    from the filled-in samples).
    """
    num, channels = capture.num_photos, capture.num_channels
    kept = min(most, num)
    flat = capture.photos.reshape(num, -1, channels)
    places = np.flatnonzero(capture.mask)
    values = np.empty((len(places), channels * kept), np.float32)
    basis = np.empty((channels, num, kept))
    good = np.zeros(len(places), np.float32)
    bad = 0
    least = []
    for c in range(channels):
        gram = np.zeros((num, num))
        lacking = []
        for start in range(0, len(places), _BLOCK):
            stored = flat[:, places[start : start + _BLOCK], c]
            usable = is_usable(stored)
            good[start : start + _BLOCK] += usable.mean(axis=0) / channels
            whole = usable.all(axis=0)
            sample = (stored / white).astype(np.float64)
            gram += sample[:, whole] @ sample[:, whole].T
            lacking.append(start + np.flatnonzero(~whole))
            bad += int(np.count_nonzero(~usable))
        lacks = np.concatenate(lacking)
        if len(lacks):
            basis[c], gram = _fill(flat[:, places[lacks], c], white, gram, kept, values, lacks, c)
        else:
            basis[c] = _leading(gram, kept)[0]
        least.append(max(float(np.linalg.eigvalsh(gram)[0]), 0.0) / len(places))
        whole = np.setdiff1d(np.arange(len(places)), lacks, assume_unique=True)
        for start in range(0, len(whole), _BLOCK):
            own = whole[start : start + _BLOCK]
            sample = flat[:, places[own], c] / white
            values[own, c * kept : (c + 1) * kept] = sample.T @ basis[c]
    noise = float(np.sqrt(np.mean(least)))
    bad_share = bad / (num * channels * len(places))
    return EigenPhotos(values, basis, good, bad_share, noise)


def _leading(gram: np.ndarray, kept: int) -> tuple[np.ndarray, np.ndarray]:
    size, vectors = np.linalg.eigh(gram)
    return vectors[:, ::-1][:, :kept], np.maximum(size[::-1][:kept], 0)


def _fill(
    stored: np.ndarray,
    white: float,
    complete: np.ndarray,
    kept: int,
    values: np.ndarray,
    lacks: np.ndarray,
    channel: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of the pixels that lack samples; the basis and Gram matrix with them."""
    columns = slice(channel * kept, (channel + 1) * kept)
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(lacks), _BLOCK)]
    basis = np.zeros((len(stored), kept))
    for turn in range(_ROUNDS):
        gram = complete.copy()
        for own in blocks:
            filled = (stored[:, own] / white).T
            if turn:
                guess = values[lacks[own], columns] @ basis.T
                filled = np.where(is_usable(stored[:, own]).T, filled, guess)
            gram += filled.T @ filled
        basis, power = _leading(gram, kept)
        spread = power / max(power.sum(), 1e-30)
        hold = np.diag(1e-4 / np.maximum(spread, 1e-9)) * spread.max()
        for own in blocks:
            weight = is_usable(stored[:, own]).T.astype(float)
            normal = np.einsum("pm,mr,ms->prs", weight, basis, basis, optimize=True)
            source = (weight * (stored[:, own] / white).T) @ basis
            found = np.linalg.solve(normal + hold, source[..., None])[..., 0]
            values[lacks[own], columns] = found
    return basis, gram


def averaged(photos: EigenPhotos, domain: Domain) -> EigenPhotos:
    """Average pixels with neighbours that differ from them by no more than the noise.

    Noise that every normal fits by itself would bias the light that all share.
    """
    if not photos.noise > _QUIET:
        return photos
    num = photos.values.shape[1]
    limit = 2 * photos.noise**2 * (num + 2 * np.sqrt(2 * num))
    numbers = np.pad(domain.numbers, _RADIUS, constant_values=ABSENT)
    places = np.flatnonzero(numbers.ravel() >= 0)
    values = np.empty_like(photos.values)
    average_alike(
        photos.values, places, numbers.ravel(), numbers.shape[1], _RADIUS, np.float32(limit), values
    )
    return replace(photos, values=values)

"""Photos compressed, channel by channel, to their leading eigen-photos.

A rotation of the photos commutes with weights per pixel, so the joint solver may work on a few
combinations of all photos instead of the photos themselves.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Shaped

from anylight.arrays import Mask
from anylight.geometry.domain import ABSENT, Domain
from anylight.joint.options import DefaultOptions
from anylight.kernels import compression
from anylight.kernels.averaging import average_alike
from anylight.model.capture import Capture
from anylight.model.samples import GLARE, is_usable, saturation, scaled

MOST = DefaultOptions().eigenphotos
"""Eigen-photos kept per channel. (definition)"""
_ROUNDS = 3
"""Rounds of filling in bad samples. [rounds]"""
_BLOCK = 16384
"""Pixels that are looked at together. (memory)"""
_RADIUS = 3
"""Neighbours to average noise with lie within so many rows and columns. [pixels]"""
_ALIKE = 2.0
"""Standard deviations of the noise's square that neighbours may differ by beyond its mean.
[standard deviations]"""
_HOLD = 1e-4
"""A pixel that lacks samples keeps near what is usual, as if its samples had noise of one percent:
trusting them more made albedo and shape worse, because what is lost lies beside what is clipped.
[squared share]"""
_SAMPLED = 5000
"""Pixels that the noise is measured on. (memory)"""
_FAINT = 1e-12
"""Relative power of an eigen-photo below which there is none. (guard)"""
_QUIET = 1e-4
"""Noise below this, relative to white, is none. (guard)"""
_ENOUGH = 10
"""Whole pixels per photo from which the noise can be told from them. (guard)"""
_GAUSSIAN = 1.4826
"""Standard deviation of a Gaussian over the median of its size. (definition)"""


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
    """Standard deviation of a sample's noise, relative to white: the smaller of two upper bounds,
    what no eigen-photo explains and what no straight line from pixel to pixel explains."""

    @property
    def num_kept(self) -> int:
        """Number R of eigen-photos per channel."""
        return self.basis.shape[2]

    def without_values(self) -> "EigenPhotos":
        """The same without the pixels, which are large."""
        return replace(self, values=self.values[:0].copy(), good=self.good[:0].copy())

    def lighting(self, light: Float[np.ndarray, "K CR"]) -> Float[np.ndarray, "M C K"]:
        """Light of every photo from the light of the eigen-photos."""
        split = light.reshape(len(light), len(self.basis), self.num_kept)
        return np.einsum("kcr,cmr->mck", split, self.basis)


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
    rough = _roughness(flat, capture.mask, white)
    blocks = -(-len(places) // compression.BLOCK)
    good, whole = np.empty(len(places), np.float32), np.empty((channels, len(places)), bool)
    bad, grams = np.empty(blocks, np.int64), np.empty((blocks, channels, num, num))
    top = float(saturation(flat.dtype))
    compression.look(flat, places, float(white), top, GLARE, good, whole, bad, grams)
    least = []
    for c, gram in enumerate(grams.sum(axis=0)):
        lacks = np.flatnonzero(~whole[c])
        if len(lacks):
            complete = _Complete(gram, len(places) - len(lacks))
            into = values[:, c * kept : (c + 1) * kept]
            basis[c], rest = _fill(flat[:, places[lacks], c], white, complete, into, lacks)
        else:
            basis[c] = _leading(gram, kept)[0]
            rest = max(float(np.linalg.eigvalsh(gram)[0]), 0.0) / len(places)
        least.append(rest)
    own = np.ascontiguousarray(basis.transpose(0, 2, 1), np.float32)
    compression.describe(flat, places, float(white), GLARE, whole, own, values)
    noise = min(float(np.sqrt(np.mean(least))), rough)
    bad_share = float(bad.sum()) / (num * channels * len(places))
    return EigenPhotos(values, basis, good, bad_share, noise)


def _leading(gram: np.ndarray, kept: int) -> tuple[np.ndarray, np.ndarray]:
    size, vectors = np.linalg.eigh(gram)
    return vectors[:, ::-1][:, :kept], np.maximum(size[::-1][:kept], 0)


@dataclass(frozen=True, eq=False)
class _Complete:
    """What the pixels that lack no sample say about a channel."""

    gram: Float[np.ndarray, "M M"]
    num: int

    @property
    def variance(self) -> float:
        """Bound on the noise's variance from what no eigen-photo explains; inf if few pixels."""
        if self.num <= _ENOUGH * len(self.gram):
            return np.inf
        return max(float(np.linalg.eigvalsh(self.gram)[0]), 0.0) / self.num


def _fill(
    stored: np.ndarray,
    white: float,
    complete: _Complete,
    values: Float[np.ndarray, "P R"],
    lacks: np.ndarray,
) -> tuple[np.ndarray, float]:
    """Coefficients of the pixels that lack samples; the basis with them, and the variance left."""
    kept = values.shape[1]
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(lacks), _BLOCK)]
    basis = np.zeros((len(stored), kept))
    for turn in range(_ROUNDS):
        gram, left, freedom = complete.gram.copy(), 0.0, 0.0
        for own in blocks:
            usable, sample = _usable_samples(stored[:, own], white)
            filled = np.where(usable, sample, values[lacks[own]] @ basis.T) if turn else sample
            gram += filled.T @ filled
        basis, power = _leading(gram, kept)
        hold = _HOLD * power[0] / np.maximum(power, _FAINT * max(power[0], _FAINT))
        for own in blocks:
            usable, sample = _usable_samples(stored[:, own], white)
            normal = np.einsum("pm,mr,ms->prs", usable, basis, basis, optimize=True)
            normal[:, np.arange(kept), np.arange(kept)] += np.maximum(hold, _FAINT)
            source = (usable * sample) @ basis
            found = np.linalg.solve(normal, source[..., None])[..., 0]
            values[lacks[own]] = found
            left += float((usable * (sample - found @ basis.T) ** 2).sum())
            freedom += float(np.maximum(usable.sum(axis=1) - kept, 0).sum())
    rest = complete.variance
    if not np.isfinite(rest):
        rest = left / freedom if freedom > 0 else np.inf
    return basis, rest


def _usable_samples(
    stored: Shaped[np.ndarray, "M n"], white: float
) -> tuple[Bool[np.ndarray, "n M"], Float[np.ndarray, "n M"]]:
    """Which samples are usable, and all of them as they are: a first guess for the others."""
    sample = scaled(stored, white).T
    return is_usable(stored).T, np.where(np.isfinite(sample), sample, 0)


def _roughness(flat: Shaped[np.ndarray, "M N C"], mask: Mask, white: float) -> float:
    """Noise that would explain the usual second difference along a row."""
    middle = np.flatnonzero((mask[:, :-2] & mask[:, 1:-1] & mask[:, 2:]).ravel())
    if not len(middle):
        return np.inf
    rows, columns = np.divmod(middle[:: max(1, len(middle) // _SAMPLED)], mask.shape[1] - 2)
    place = rows * mask.shape[1] + columns
    left, here, right = (scaled(flat[:, place + k], white) for k in range(3))
    bend = np.abs(left - 2 * here + right)
    return float(_GAUSSIAN * np.median(bend) / np.sqrt(6))


def averaged(photos: EigenPhotos, domain: Domain) -> EigenPhotos:
    """Average pixels with neighbours that differ from them by no more than the noise.

    Noise that every normal fits by itself would bias the light that all share.
    """
    if not photos.noise > _QUIET:
        return photos
    num = photos.values.shape[1]
    limit = 2 * photos.noise**2 * (num + _ALIKE * np.sqrt(2 * num))
    numbers = np.pad(domain.numbers, _RADIUS, constant_values=ABSENT)
    places = np.flatnonzero(numbers.ravel() >= 0)
    values = np.empty_like(photos.values)
    average_alike(
        photos.values, places, numbers.ravel(), numbers.shape[1], _RADIUS, np.float32(limit), values
    )
    return replace(photos, values=values)

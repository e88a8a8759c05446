"""Did the camera move? Shifts between photos, to a fraction of a pixel.

Light changes brightness and shading but not where paint and outline are. So every photo is reduced
to how its details differ from their surroundings (the logarithm, less a blur of itself, squashed)
and compared by phase correlation with the mean of all.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Shaped
from scipy import fft, ndimage

from anylight.photometry.means import block_means
from anylight.threads import in_parallel

_WORKING_SIDE = 700
_SEARCH = 0.06
"""Shifts of up to this share of the longer side are found."""
_SURE = 8.0
"""Height of the correlation's peak over its standard deviation from where a shift is believed."""
_PEAK = 3.5
"""Radius of the peak, in working pixels."""
_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Shifts:
    """How far the content of every photo is from that of the mean photo, in pixels."""

    offsets: Float[np.ndarray, "M 2"]
    """Right and down."""
    sureness: Float[np.ndarray, " M"]

    @property
    def are_sure(self) -> Bool[np.ndarray, " M"]:
        """Whether each offset can be believed."""
        return self.sureness > _SURE

    @property
    def lengths(self) -> Float[np.ndarray, " M"]:
        """Distance that every photo moved; zero where that cannot be told."""
        found: Float[np.ndarray, " M"] = np.where(
            self.sureness > _SURE, np.hypot(*self.offsets.T), 0.0
        )
        return found


def find_shifts(photos: Shaped[np.ndarray, "M H W C"]) -> Shifts:
    """Measure all photos against their mean, refined as the mean gets sharper."""
    step = max(1, min(max(photos.shape[1:3]) // _WORKING_SIDE, *photos.shape[1:3]))
    details = in_parallel(lambda photo: _details(photo, step), photos)
    spectra = np.stack(in_parallel(fft.rfft2, details))
    shape = details[0].shape
    del details
    offsets, sureness = np.zeros((len(photos), 2)), np.zeros(len(photos))
    for _ in range(_ROUNDS):
        back = [(spectrum, -offset) for spectrum, offset in zip(spectra, offsets, strict=True)]
        moved = in_parallel(lambda one: _moved(*one, shape), back)
        total = np.sum(moved, axis=0)
        others = [(spectrum, total, own) for spectrum, own in zip(spectra, moved, strict=True)]
        found = in_parallel(lambda one: _offset(one[0], one[1] - one[2], shape), others)
        offsets, sureness = (np.array(part) for part in zip(*found, strict=True))
        offsets -= np.median(offsets, axis=0)
    return Shifts(offsets * step, sureness)


def align(
    photos: Shaped[np.ndarray, "M H W C"], offsets: Float[np.ndarray, "M 2"]
) -> Shaped[np.ndarray, "M H W C"]:
    """Move the content of every photo back, by cubic interpolation."""
    moved = np.empty_like(photos)
    top = np.iinfo(photos.dtype).max if photos.dtype.kind == "u" else np.inf
    for photo, (right, down), out in zip(photos, offsets, moved, strict=True):
        if np.hypot(right, down) < 0.02:
            out[:] = photo
            continue
        for channel in range(photo.shape[2]):
            back = ndimage.shift(
                photo[..., channel].astype(np.float32), (-down, -right), order=3, mode="nearest"
            )
            back = np.clip(back, 0, top)
            out[..., channel] = np.round(back) if np.isfinite(top) else back
    return moved


def _details(photo: Shaped[np.ndarray, "H W C"], step: int) -> Float[np.ndarray, "h w"]:
    grey = block_means(photo, step).mean(axis=2, dtype=np.float32)
    logarithm = np.log(grey + 0.02 * max(float(np.quantile(grey, 0.99)), 1e-9))
    detail = ndimage.gaussian_filter(logarithm, 0.8) - ndimage.gaussian_filter(logarithm, 4.0)
    spread = ndimage.gaussian_filter(detail**2, 8.0) + 1e-4
    window = np.outer(np.hanning(detail.shape[0]), np.hanning(detail.shape[1]))
    squashed: Float[np.ndarray, "h w"] = np.clip(detail / np.sqrt(spread), -2, 2) * window
    return squashed


def _moved(spectrum: np.ndarray, offset: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    u = fft.rfftfreq(shape[1])
    v = fft.fftfreq(shape[0])[:, None]
    return spectrum * np.exp(-2j * np.pi * (u * offset[0] + v * offset[1]))


def _offset(
    spectrum: np.ndarray, reference: np.ndarray, shape: tuple[int, int]
) -> tuple[Float[np.ndarray, "2"], float]:
    """Peak of the correlation, refined by a parabola."""
    cross = spectrum * reference.conj()
    phase = cross / np.maximum(np.abs(cross), 1e-3 * np.abs(cross).mean() + 1e-30)
    correlation = fft.irfft2(phase * np.sqrt(np.abs(cross)), shape)
    reach = max(3, int(_SEARCH * max(shape)))
    reach = max(min(reach, min(shape) // 2 - 2), 0)
    window = np.roll(correlation, (reach, reach), (0, 1))[: 2 * reach + 1, : 2 * reach + 1]
    row, column = np.unravel_index(np.argmax(window), window.shape)
    down_by, right_by = np.ogrid[-row : len(window) - row, -column : len(window) - column]
    near = down_by**2 + right_by**2 < _PEAK**2
    rest = window[~near]
    if not rest.size:
        return np.zeros(2), 0.0
    sureness = float((window[row, column] - rest.mean()) / (rest.std() + 1e-12))
    right = column - reach + _parabola(window[row], int(column))
    down = row - reach + _parabola(window[:, column], int(row))
    return np.array([right, down]), sureness


def _parabola(values: np.ndarray, peak: int) -> float:
    if not 0 < peak < len(values) - 1:
        return 0.0
    before, here, after = values[peak - 1 : peak + 2]
    bend = before - 2 * here + after
    return float(0.5 * (before - after) / bend) if bend < 0 else 0.0

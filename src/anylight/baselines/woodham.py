r"""Woodham 1980: photometric stereo with known lights, by least squares in every pixel.

$I_m = \rho\, n \cdot \ell_m$ for the lamps that a pixel sees; the scaled normal $\rho n$ comes from
the mean over the channels, the albedo of every channel from the normal.
"""

import math

import msgspec
import numpy as np
from jaxtyping import Bool, Float, Shaped

from anylight.arrays import Lighting
from anylight.errors import InvalidInputError
from anylight.integration.smooth import clamp_slant
from anylight.model.capture import Capture
from anylight.model.samples import is_usable
from anylight.photometry.harmonics import half_cosines
from anylight.photometry.harmonics import harmonics as orthonormal

from .estimate import Estimate

_LEAST = 3
"""Samples without which there is no normal."""
_COPLANAR = 1e-3
"""Smallest singular value of the lights, relative to the largest, from which they span space."""
_DEGENERATE = 1e-4
"""The same, squared, for the lights that a pixel's usable samples leave, relative to all."""
_FACING_DEG = 89.99
"""Normals beyond this slant are turned back to it: nobody sees them."""
_BLOCK = 8192


class WoodhamOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Plain least squares unless told otherwise."""

    discard: float = 0.0
    """Share of the photos left out in every pixel, the darkest ones: shadows."""

    def __post_init__(self) -> None:
        if not 0 <= self.discard < 1:
            raise InvalidInputError("woodham: the share to discard must be from 0 to below 1.")


PLAIN = WoodhamOptions()


def woodham(capture: Capture, options: WoodhamOptions = PLAIN) -> Estimate:
    """Normals and albedo under known lights.

    Saturated and black samples have no weight where the others suffice.
    """
    lights = _known(capture)
    domain = capture.domain()
    flat = capture.photos.reshape(capture.num_photos, -1, capture.num_channels)
    places = np.flatnonzero(capture.mask)
    normals = np.empty((domain.size, 3))
    albedo = np.empty((capture.num_channels, domain.size))
    used = np.empty(domain.size)
    for start in range(0, domain.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        stored = flat[:, places[block]]
        radiance = np.nan_to_num(stored / capture.full_scale, posinf=0.0, neginf=0.0)
        weight = _weights(stored, radiance, lights, options)
        unit = _normals(radiance.mean(axis=2), weight, lights)
        normals[block] = clamp_slant(capture.camera, domain.pixels[block], unit, _FACING_DEG)
        albedo[:, block] = _albedo(radiance, weight, lights @ normals[block].T)
        used[block] = weight.mean(axis=0)
    diagnostics = {"photos": capture.num_photos, "used_samples": float(used.mean())}
    return Estimate(normals, None, albedo, _lighting(lights, capture.num_channels), diagnostics)


def _known(capture: Capture) -> Float[np.ndarray, "M 3"]:
    """Lights as the photos saw them: times their exposure."""
    if capture.lights is None:
        raise InvalidInputError(
            "woodham needs known lights: add DiLiGenT light files or an .lp file to the photos, or "
            "take a method for unknown light."
        )
    lights = np.asarray(capture.lights, float)
    if lights.shape != (capture.num_photos, 3) or not np.isfinite(lights).all():
        raise InvalidInputError(
            f"woodham needs one finite light for each of the {capture.num_photos} photos."
        )
    if capture.exposures:
        lights = lights * np.array(capture.exposures)[:, None]
    sizes = np.linalg.svd(lights, compute_uv=False)
    if not sizes[2] > _COPLANAR * sizes[0]:
        raise InvalidInputError(
            "the known lights lie in one plane, which leaves the normals open: light the object "
            "from a third side."
        )
    return lights


def _weights(
    stored: Shaped[np.ndarray, "M n C"],
    radiance: Float[np.ndarray, "M n C"],
    lights: Float[np.ndarray, "M 3"],
    options: WoodhamOptions,
) -> Float[np.ndarray, "M n"]:
    """One for the samples to use, zero for the others."""
    usable = _usable(stored)
    weight = _where_enough(usable, np.isfinite(stored).all(axis=2), lights)
    discarded = math.floor(options.discard * len(lights))
    if not discarded:
        return weight.astype(float)
    order = np.argsort(radiance.mean(axis=2), axis=0, kind="stable")
    bright = np.ones_like(weight)
    np.put_along_axis(bright, order[:discarded], False, axis=0)
    return _where_enough(weight & bright, weight, lights).astype(float)


def _usable(stored: Shaped[np.ndarray, "M n C"]) -> Bool[np.ndarray, "M n"]:
    """Samples that are neither saturated nor black in any channel."""
    good: np.ndarray = is_usable(stored)
    return np.all(good, axis=2)


def _where_enough(
    wanted: Bool[np.ndarray, "M n"],
    otherwise: Bool[np.ndarray, "M n"],
    lights: Float[np.ndarray, "M 3"],
) -> Bool[np.ndarray, "M n"]:
    """The samples that are wanted, where their lights are three and span space."""
    least = np.linalg.eigvalsh(_products(wanted.astype(float), lights))[:, 0]
    all_least = np.linalg.eigvalsh(lights.T @ lights)[0]
    enough = (wanted.sum(axis=0) >= _LEAST) & (least > _DEGENERATE * all_least)
    return np.where(enough, wanted, otherwise)


def _products(
    weight: Float[np.ndarray, "M n"], lights: Float[np.ndarray, "M 3"]
) -> Float[np.ndarray, "n 3 3"]:
    outer = (lights[:, :, None] * lights[:, None, :]).reshape(-1, 9)
    return (weight.T @ outer).reshape(-1, 3, 3)


def _normals(
    grey: Float[np.ndarray, "M n"],
    weight: Float[np.ndarray, "M n"],
    lights: Float[np.ndarray, "M 3"],
) -> Float[np.ndarray, "n 3"]:
    """Least squares; a pixel without any light faces the camera."""
    matrices = _products(weight, lights)
    wanted = (weight * grey).T @ lights
    scaled = (np.linalg.pinv(matrices, hermitian=True) @ wanted[:, :, None])[:, :, 0]
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    towards = np.array([0.0, 0.0, -1.0])
    return np.where(length > 0, scaled / np.where(length > 0, length, 1.0), towards)


def _albedo(
    radiance: Float[np.ndarray, "M n C"],
    weight: Float[np.ndarray, "M n"],
    cosines: Float[np.ndarray, "M n"],
) -> Float[np.ndarray, "C n"]:
    """Least squares under the lamps that shine on the surface; zero where none does."""
    shading = weight * np.maximum(cosines, 0.0)
    shown = np.einsum("mn,mnc->cn", shading, radiance)
    power = (shading**2).sum(axis=0)
    return np.where(power > 0, shown / np.where(power > 0, power, 1.0), 0.0)


def _lighting(lights: Float[np.ndarray, "M 3"], channels: int) -> Lighting:
    """First-order harmonics of the lamps, the same for every channel."""
    strength = np.linalg.norm(lights, axis=1, keepdims=True)
    towards = lights / np.where(strength > 0, strength, 1.0)
    coefficients = strength * orthonormal(towards, 1) * half_cosines(1)
    return np.repeat(coefficients[:, None], channels, axis=1)

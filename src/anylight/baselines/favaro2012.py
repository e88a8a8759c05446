"""Favaro and Papadhimitri (CVPR 2012): light from one direction, bas-relief from diffuse maxima.

Photos of rank three → integrability up to a bas-relief transformation → its three numbers where
photos are locally brightest → hill or hollow by integration. The camera's rays count as parallel.
"""

from typing import Any

import msgspec
import numpy as np
from jaxtyping import Float

from anylight.arrays import Lighting
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic
from anylight.geometry.domain import Domain
from anylight.model.capture import MIN_PHOTOS, Capture

from .bas_relief import BasRelief, bas_relief, segments
from .branches import MIRROR, bulge, inpainted
from .estimate import Estimate
from .factorisation import Factors, factorise, gray_photos, without_outliers
from .integrability import TO_CAMERA, bas_relief_start, cofactors, variation
from .maxima import Maxima, diffuse_maxima

MIN_PIXELS = 100
_PARALLEL_RAYS = Orthographic((0.0, 0.0))
_BLACK = 1e-9
"""Relative albedo below which a pixel has no normal of its own."""


class FavaroOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The method's numbers."""

    rpca: bool = False
    """Clean the photos first: low rank plus sparse outliers."""
    smoothing_px: float = 2.5
    """Standard deviation of the smoothing before derivatives are taken; zero for none."""

    def __post_init__(self) -> None:
        if not 0 <= self.smoothing_px <= 100:
            raise InvalidInputError("smoothing_px must be between 0 and 100.")


def favaro2012(capture: Capture, options: FavaroOptions = FavaroOptions()) -> Estimate:  # noqa: B008
    """Normals, gray albedo and one directional light per photo.

    The other branch is normals and lights times `MIRROR`; diagnostics say which one was taken.
    """
    domain = capture.domain()
    check_size("favaro2012", capture.num_photos, domain.size)
    photos = gray_photos(capture)
    if options.rpca:
        photos = without_outliers(photos, domain.mask.size)
    factors = factorise(photos)
    start, condition = pseudo_matrix(domain, factors, options.smoothing_px)
    pseudo_normals = factors.parts @ start.T
    pseudo_lights = factors.mixes * factors.strengths @ np.linalg.inv(start)
    maxima = diffuse_maxima(domain, photos)
    relief, scaled, lights = resolved(pseudo_normals, pseudo_lights, maxima)

    scaled, lights = scaled * TO_CAMERA, lights * TO_CAMERA
    albedo = np.linalg.norm(scaled, axis=1)
    normals = inpainted(domain, scaled, albedo > _BLACK * albedo.max(initial=0.0))
    height = bulge(_PARALLEL_RAYS, domain, normals)
    is_mirrored = height < 0
    if is_mirrored:
        normals, lights = normals * MIRROR, lights * MIRROR
    return Estimate(
        normals=normals,
        albedo=np.tile(albedo, (capture.num_channels, 1)),
        lighting=_harmonic(lights, capture.num_channels),
        diagnostics=_record(maxima, relief, factors, condition)
        | {
            "branch": "mirrored" if is_mirrored else "as found",
            "bulge_px": abs(height),
        },
        warnings=()
        if relief.intersections
        else (
            "no two diffuse maxima agree: the bas-relief transformation stays unknown and the "
            "shape may be squeezed and sheared.",
        ),
    )


def check_size(method: str, photos: int, pixels: int) -> None:
    """Refuse what is too small."""
    if photos < MIN_PHOTOS:
        raise InvalidInputError(f"{method} needs at least {MIN_PHOTOS} photos, not {photos}.")
    if pixels < MIN_PIXELS:
        raise InvalidInputError(
            f"{method} needs at least {MIN_PIXELS} pixels on the object, not {pixels}."
        )


def pseudo_matrix(
    domain: Domain, factors: Factors, smoothing_px: float
) -> tuple[Float[np.ndarray, "3 3"], Float[np.ndarray, " 6"]]:
    """P that makes the factors integrable, up to bas-relief; singular values of its system."""
    margin = max(2, round(3 * smoothing_px))
    field = variation(domain, factors.parts, sigma_px=smoothing_px, margin_px=margin)
    solution, values = cofactors(field)
    return bas_relief_start(solution), values


def resolved(
    normals: Float[np.ndarray, "P 3"], lights: Float[np.ndarray, "M 3"], maxima: Maxima
) -> tuple[BasRelief, Float[np.ndarray, "P 3"], Float[np.ndarray, "M 3"]]:
    """The bas-relief transformation and what it makes of pseudo-normals and pseudo-lights."""
    if normals[:, 2].mean() < 0:
        towards = np.array([1.0, 1.0, -1.0])
        normals, lights = normals * towards, lights * towards
    relief = bas_relief(segments(normals[maxima.pixel], lights[maxima.photo], maxima.photo))
    return relief, relief.normals(normals), relief.lights(lights)


def _harmonic(lights: Float[np.ndarray, "M 3"], channels: int) -> Lighting:
    """Directional lights as harmonics of order one: shading = n · l."""
    x, y, z = lights.T / np.sqrt(3 / (4 * np.pi))
    coefficients = np.stack([np.zeros_like(x), y, z, x], axis=-1)
    return np.repeat(coefficients[:, None, :], channels, axis=1)


def _record(
    maxima: Maxima, relief: BasRelief, factors: Factors, condition: Float[np.ndarray, " 6"]
) -> dict[str, Any]:
    return {
        "maxima": len(maxima.pixel),
        "intersections": relief.intersections,
        "bas_relief_found": relief.intersections > 0,
        "gbr": (relief.mu, relief.nu, relief.lam),
        "singular_values": _relative(factors.spectrum),
        "integrability_singular_values": _relative(condition),
    }


def _relative(values: Float[np.ndarray, " S"]) -> list[float]:
    return [float(value) for value in values / max(values.max(initial=0.0), 1e-300)]

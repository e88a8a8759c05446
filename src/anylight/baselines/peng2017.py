r"""Peng et al. 2017: first-order light with a depth prior, at the prior's own resolution.

$E(z, \rho, s) = |z - z^0|^2 + \lambda \sum (\rho_c\, s_{ci}\cdot(n, 1) - I_{ci})^2$, minimised in
turn over light, albedo and depth (θ lagged). No clamping, no robust loss, no smooth albedo. Written
from the published description; the depth prior here is a balloon instead of a depth sensor's map.

Depth is measured in units of the prior's mean, photos in units of their 99 % quantile, so neither
scale matters.
"""

import math

import numpy as np
from jaxtyping import Float

from anylight.arrays import Lighting
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic
from anylight.initial.options import BalloonOptions
from anylight.model.capture import Capture
from anylight.model.samples import white_level

from .estimate import Estimate
from .prior_depth import PriorDepth

MIN_PHOTOS = 4
"""First-order light has four numbers."""
_AUTHORS_WEIGHT = 0.38465
"""Makes λ equal to λ₀ on the data of the method's authors."""
_NO_LIGHT = 1e-12
"""Least sum of squared shadings, relative to the largest, from which an albedo is computed."""
_RANK = 1e-12
"""Smallest eigenvalue of the light's normal equations, relative to the largest, that counts."""


class PengOptions(BalloonOptions, frozen=True, kw_only=True):
    """The published numbers."""

    weight: float = 0.01
    """Weight λ₀ of the photos against the prior; 0.001 to 0.1 is usual."""
    tolerance: float = 1e-3
    """Stop when the depth changes by less, relative to the prior."""
    iterations: int = 10
    """Most rounds of light, albedo and depth."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.weight < 1e9:
            raise InvalidInputError("peng2017: the weight must not be negative.")
        if not 0 <= self.tolerance < math.inf:
            raise InvalidInputError("peng2017: the tolerance must not be negative.")
        if not 1 <= self.iterations <= 10000:
            raise InvalidInputError("peng2017: iterations must be between 1 and 10000.")


PUBLISHED = PengOptions()

Harmonics = Float[np.ndarray, "4 P"]
"""(n₁, n₂, n₃, 1), without constants."""
Light = Float[np.ndarray, "C M 4"]
"""Coefficients s of these."""


def peng2017(
    capture: Capture, prior: Float[np.ndarray, " P"], options: PengOptions = PUBLISHED
) -> Estimate:
    """Refine a depth by photos under unknown first-order light.

    Args:
        capture: four photos or more, perspective camera.
        prior: depth of the masked pixels, in any unit; the result has the same.
        options: the published numbers.
    """
    _check(capture, prior)
    assert not isinstance(capture.camera, Orthographic)
    white = white_level(capture) / capture.full_scale
    photos = np.ascontiguousarray(np.moveaxis(capture.radiance(), 1, 0)) / white
    unit = float(prior.mean())
    first = prior / unit
    weight = options.weight * _AUTHORS_WEIGHT / (capture.num_channels * capture.num_photos)
    surface = PriorDepth(capture.camera, capture.domain())
    power = (photos**2).sum(axis=1)

    depth, albedo = first, photos.mean(axis=1)
    normals, length = surface.normals(depth)
    light = np.zeros((capture.num_channels, capture.num_photos, 4))
    energies: list[float] = []
    changes: list[float] = []
    stop = "iterations"
    for _ in range(options.iterations):
        light = fit_light(photos, albedo, harmonics(normals))
        lit, squares = light.swapaxes(1, 2) @ photos, light.swapaxes(1, 2) @ light
        albedo = fit_albedo(lit, squares, harmonics(normals))
        products, source = photometric(lit, squares, albedo)
        before = depth
        depth = surface.solve(first, weight * products, weight * source, length, depth)
        normals, length = surface.normals(depth)
        misfit = _misfit(power, lit, squares, albedo, harmonics(normals))
        energies.append(float(((depth - first) ** 2).sum() + weight * misfit))
        changes.append(float(np.linalg.norm(depth - before) / np.linalg.norm(first)))
        if changes[-1] < options.tolerance:
            stop = "tolerance"
            break
        if len(energies) > 1 and energies[-1] > energies[-2]:
            stop = "energy grew"
            break
    diagnostics = {
        "iterations": len(energies),
        "stop": stop,
        "lambda": weight * unit**2,
        "energies": energies,
        "changes": changes,
    }
    return Estimate(normals.T.copy(), depth * unit, albedo, lighting(light) * white, diagnostics)


def _check(capture: Capture, prior: Float[np.ndarray, " P"]) -> None:
    if capture.num_photos < MIN_PHOTOS:
        raise InvalidInputError(
            f"peng2017 needs {MIN_PHOTOS} photos or more, not {capture.num_photos}."
        )
    if isinstance(capture.camera, Orthographic):
        raise InvalidInputError(
            "peng2017 needs a perspective camera: it measures photos against the distance of its "
            "depth prior, which parallel rays do not have."
        )
    if prior.shape != (np.count_nonzero(capture.mask),):
        raise InvalidInputError("peng2017: the depth prior must have one depth per masked pixel.")
    if not (np.isfinite(prior).all() and prior.min() > 0):
        raise InvalidInputError(
            "peng2017: the depth prior must be positive on the whole mask; fill its holes first."
        )


def harmonics(normals: Float[np.ndarray, "3 P"]) -> Harmonics:
    """First-order harmonics without their constants."""
    return np.concatenate([normals, np.ones((1, normals.shape[1]))])


def fit_light(
    photos: Float[np.ndarray, "C M P"], albedo: Float[np.ndarray, "C P"], basis: Harmonics
) -> Light:
    """Least squares for every photo and channel; the shortest solution where many fit."""
    painted = albedo[:, None] * basis
    matrices = painted @ painted.swapaxes(1, 2)
    wanted = photos @ painted.swapaxes(1, 2)
    return wanted @ np.linalg.pinv(matrices, rcond=_RANK, hermitian=True)


def fit_albedo(
    lit: Float[np.ndarray, "C 4 P"], squares: Float[np.ndarray, "C 4 4"], basis: Harmonics
) -> Float[np.ndarray, "C P"]:
    """Least squares for every pixel and channel; zero where no light falls.

    Args:
        lit: Σ_i s_ci I_ci.
        squares: Σ_i s_ci s_ciᵀ.
        basis: the harmonics.
    """
    shown = (lit * basis).sum(axis=1)
    shading = ((squares @ basis) * basis).sum(axis=1)
    albedo = np.zeros_like(shown)
    np.divide(shown, shading, out=albedo, where=shading > _NO_LIGHT * shading.max(initial=0.0))
    return albedo


def photometric(
    lit: Float[np.ndarray, "C 4 P"],
    squares: Float[np.ndarray, "C 4 4"],
    albedo: Float[np.ndarray, "C P"],
) -> tuple[Float[np.ndarray, "6 P"], Float[np.ndarray, "3 P"]]:
    """The photos as a quadratic form of the unit normal: Σ ρ² s sᵀ, and Σ ρ s (I − ρ s₄)."""
    rows, columns = np.triu_indices(3)
    products = squares[:, rows, columns].T @ albedo**2
    shown = (albedo[:, None] * lit[:, :3]).sum(axis=0)
    return products, shown - squares[:, :3, 3].T @ albedo**2


def _misfit(
    power: Float[np.ndarray, "C P"],
    lit: Float[np.ndarray, "C 4 P"],
    squares: Float[np.ndarray, "C 4 4"],
    albedo: Float[np.ndarray, "C P"],
    basis: Harmonics,
) -> float:
    """Σ (ρ s·h − I)², from sums over the photos."""
    shown = (lit * basis).sum(axis=1)
    shading = ((squares @ basis) * basis).sum(axis=1)
    return float((power + albedo * (albedo * shading - 2 * shown)).sum())


def lighting(light: Light) -> Lighting:
    """Coefficients of (n, 1) as those of the orthonormal harmonics 1, y, z, x."""
    first, zeroth = math.sqrt(4 * math.pi / 3), math.sqrt(4 * math.pi)
    scaled = light * np.array([first, first, first, zeroth])
    return scaled[..., [3, 1, 2, 0]].swapaxes(0, 1).copy()

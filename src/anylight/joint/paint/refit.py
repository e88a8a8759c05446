"""Light and albedo from the photos themselves, normals held: the last step.

The joint solver works on eigen-photos with one robust weight per pixel. Here every sample of every
photo has its own (saturated and black ones none), every photo its own light, and the albedo the
Huber total variation of the published method, at a weight that follows the noise.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.kernels import samples as sums_of_samples
from anylight.kernels.harmonics import some_harmonics
from anylight.kernels.monomials import basis, combine, num_tiles
from anylight.kernels.variation import huber_step
from anylight.linalg.grid import Grid
from anylight.model.capture import Capture
from anylight.model.samples import GLARE, is_usable, saturation, scaled
from anylight.photometry.products import products

_NOISE_EACH = 7
"""The noise is told from every so many of the pixels that light is fitted to. (memory)"""
_ROUNDS = 2
"""Rounds of light and albedo. [rounds]"""
_LIGHT_PIXELS = 12_000
"""The light is fitted to about so many pixels, evenly spread. (memory)"""
_CAUCHY = 3.0
"""Scale of the robust penalty. [standard deviations of the residual]"""
_BRIGHTEST = 10.0
"""No paint is so many times brighter than nine tenths of the object. (guard)"""
_WILD = 2.0
"""A robust light may leave so many times the squares that plain least squares leave. (guard)"""
_PLAIN = 1e3
"""A noise at which no sample is an outlier. (definition)"""
_LEAST_NOISE = 1e-5
"""Noise of photos without any, relative to white. (guard)"""
_HUBER = 0.01
"""Contrast up to which the total variation is quadratic, relative to white. [albedo]"""
_STRENGTH = 0.5
"""Weight of the total variation. [standard deviations of the albedo before it]"""
_RIDGE = 1e-6
"""What holds light and albedo where no photo says anything, relative to the others. (guard)"""


@dataclass(frozen=True, eq=False)
class Painting:
    """Albedo of every pixel and light of every photo."""

    albedo: Float[np.ndarray, "C P"]
    lighting: Float[np.ndarray, "M C K"]
    noise: float
    """Standard deviation of the residual, relative to white."""


def paint(
    capture: Capture,
    white: float,
    unit: Float[np.ndarray, "3 P"],
    albedo: Float[np.ndarray, "C P"],
    lighting: Float[np.ndarray, "M C K"],
    order: int,
) -> Painting:
    """Fit the light of every photo and the albedo of every pixel.

    Args:
        capture: the photos.
        white: stored value that becomes one.
        unit: normals of the masked pixels.
        albedo: where to start.
        lighting: where to start.
        order: of the harmonics.
    """
    samples = _Samples(capture, white, unit, order)
    albedo = plausible(albedo)
    lighting = samples.fit_light(albedo, lighting, _PLAIN)
    for _ in range(_ROUNDS):
        noise = samples.noise(albedo, lighting)
        lighting = samples.fit_light(albedo, lighting, noise)
        diagonal, source = samples.albedo_system(albedo, lighting, noise)
        albedo = plausible(_smooth(Grid(capture.mask), albedo, diagonal, source, noise))
    return Painting(albedo, _bounded(samples, albedo, lighting), noise)


def _bounded(
    samples: "_Samples", albedo: Float[np.ndarray, "C P"], lighting: Float[np.ndarray, "M C K"]
) -> Float[np.ndarray, "M C K"]:
    """Robust light, but plain least squares where it misses the outliers beyond all measure.

    Many harmonics fitted to part of an object may run wild on the rest.
    """
    plain = samples.fit_light(albedo, lighting, _PLAIN)
    wild = samples.residual(albedo, lighting) > _WILD * samples.residual(albedo, plain)
    return np.where(wild[..., None], plain, lighting)


def plausible(albedo: Float[np.ndarray, "C P"]) -> Float[np.ndarray, "C P"]:
    """Albedo without pixels so bright that only a normal in the dark can explain them."""
    some = albedo[:, :: max(1, albedo.shape[1] // _LIGHT_PIXELS)]
    most = _BRIGHTEST * np.quantile(some, 0.9, axis=1, keepdims=True)
    return np.minimum(albedo, most.astype(albedo.dtype))


class _Samples:
    """Passes over the samples of the masked pixels, or of those that light is fitted to."""

    def __init__(
        self, capture: Capture, white: float, unit: Float[np.ndarray, "3 P"], order: int
    ) -> None:
        self._flat = np.asarray(capture.photos).reshape(
            capture.num_photos, -1, capture.num_channels
        )
        self._places = np.flatnonzero(capture.mask)
        self._white, self._unit, self._basis = white, unit, basis(order)
        self._every = slice(None, None, max(1, len(self._places) // _LIGHT_PIXELS))
        some = np.ascontiguousarray(unit[:, self._every], np.float32)
        self._terms = combine(np.eye(self._basis.size), some, order)
        self._functions = some_harmonics(some, products(order).wanted)
        stored = self._flat[:, self._places[self._every]].transpose(2, 0, 1)
        values = np.where(is_usable(stored), scaled(stored, white), -1)
        self._values = np.ascontiguousarray(values, np.float32)

    def _sums(
        self, albedo: np.ndarray, lighting: np.ndarray, noise: float
    ) -> tuple[Float[np.ndarray, "M C A"], Float[np.ndarray, "M C K"], Float[np.ndarray, "C M n"]]:
        """What the light is found from at some light, and the residuals there."""
        own = np.ascontiguousarray(albedo[:, self._every], np.float32)
        light = np.ascontiguousarray(lighting.transpose(1, 0, 2), np.float32)
        shape = (num_tiles(own.shape[1]), *light.shape[:2])
        sums = np.empty((*shape, len(self._functions)), np.float32)
        source = np.empty((*shape, len(self._terms)), np.float32)
        left = np.empty(self._values.shape, np.float32)
        sums_of_samples.light_system(
            self._terms, self._functions, self._values, own, light, _CAUCHY * noise, sums, source,
            left,
        )  # fmt: skip
        squares, pulls = (part.sum(axis=0, dtype=float).swapaxes(0, 1) for part in (sums, source))
        return squares, pulls, left

    def noise(self, albedo: np.ndarray, lighting: np.ndarray) -> float:
        """Robust standard deviation of the residual of the pixels that the light is fitted to."""
        left = self._sums(albedo, lighting, _PLAIN)[2][:, :, ::_NOISE_EACH]
        together = np.abs(left[self._values[:, :, ::_NOISE_EACH] >= 0])
        return (
            max(1.48 * float(np.median(together)), _LEAST_NOISE) if len(together) else _LEAST_NOISE
        )

    def fit_light(self, albedo: np.ndarray, lighting: np.ndarray, noise: float) -> np.ndarray:
        """Robust least squares for every photo and channel."""
        made, size = products(self._basis.order), lighting.shape[2]
        squares, source, _ = self._sums(albedo, lighting, noise)
        normal = (squares @ made.table)[:, :, made.place]
        trace = np.trace(normal, axis1=2, axis2=3)[..., None, None] / size
        ridge = (_RIDGE * trace + 1e-20) * np.eye(size)
        right = source + np.einsum("mcij,mcj->mci", ridge, lighting)
        return np.linalg.solve(normal + ridge, right[..., None])[..., 0]

    def residual(self, albedo: np.ndarray, lighting: np.ndarray) -> Float[np.ndarray, "M C"]:
        """Sum of squares over the pixels that the light is fitted to."""
        left = self._sums(albedo, lighting, _PLAIN)[2]
        return (left**2).sum(axis=2, dtype=float).T

    def albedo_system(
        self, albedo: np.ndarray, lighting: np.ndarray, noise: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Diagonal and right-hand side of the albedo's robust least squares."""
        own, shape = self._basis, albedo.shape
        light = np.ascontiguousarray(lighting.transpose(1, 0, 2) @ own.matrix, np.float32)
        diagonal, source = np.empty(shape, np.float32), np.empty(shape, np.float32)
        sums_of_samples.albedo_system(
            own.exponents, np.ascontiguousarray(self._unit, np.float32), light, self._flat,
            self._places, float(self._white), saturation(self._flat.dtype), np.float32(GLARE),
            _CAUCHY * noise, np.ascontiguousarray(albedo, np.float32), diagonal, source,
        )  # fmt: skip
        return diagonal, source


def _smooth(
    grid: Grid, albedo: np.ndarray, diagonal: np.ndarray, source: np.ndarray, noise: float
) -> np.ndarray:
    """Minimise Σ (d ρ² − 2 b ρ) + Σ μ |∇ρ|, μ following the noise of the albedo."""
    result = np.empty_like(albedo)

    def smooth(c: int) -> None:
        before = albedo[c]
        typical = float(np.median(diagonal[c, :: max(1, len(before) // _LIGHT_PIXELS)]))
        strength = 2 * _STRENGTH * noise * np.sqrt(max(typical, 1e-12))
        hold = _RIDGE * max(typical, 1e-12)
        data = (diagonal[c] + hold, source[c] + hold * before)
        solve = huber_step(grid, before, data, strength, _HUBER)
        result[c] = np.maximum(grid.collect(solve.solution), 0)

    for c in range(len(albedo)):
        smooth(c)
    return result

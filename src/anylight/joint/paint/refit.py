"""Light and albedo from the photos themselves, normals held: the last step.

The joint solver works on eigen-photos with one robust weight per pixel. Here every sample of every
photo has its own (saturated and black ones none), every photo its own light, and the albedo the
Huber total variation of the published method, at a weight that follows the noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Bool, Float

from anylight.kernels import samples as sums_of_samples
from anylight.kernels.harmonics import some_harmonics
from anylight.kernels.monomials import basis, combine
from anylight.kernels.variation import huber_step
from anylight.linalg.grid import Grid
from anylight.model.capture import Capture
from anylight.model.samples import GLARE, is_usable, saturation, scaled
from anylight.photometry.products import products
from anylight.photometry.robust import cauchy_weight
from anylight.threads import chunks, in_parallel

_CHUNK = 1024
"""Pixels that are looked at together. (memory)"""
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


Made = TypeVar("Made")


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
    """Passes over all samples of the masked pixels, some pixels at a time."""

    def __init__(
        self, capture: Capture, white: float, unit: Float[np.ndarray, "3 P"], order: int
    ) -> None:
        self._flat = np.asarray(capture.photos).reshape(
            capture.num_photos, -1, capture.num_channels
        )
        self._places = np.flatnonzero(capture.mask)
        self._white, self._unit, self._basis = white, unit, basis(order)
        self._every = max(1, len(self._places) // _LIGHT_PIXELS)
        self._kept: dict[int, np.ndarray] = {}
        self._parts: dict[int, _Part] = {}

    def _over(self, function: Callable[["_Part"], Made]) -> list[Made]:
        """Call a function for parts of the pixels that light is fitted to; on all threads."""
        every = self._every
        num = len(range(0, len(self._places), every))
        return in_parallel(
            lambda some: function(self._part(slice(every * some.start, every * some.stop, every))),
            chunks(num, _CHUNK),
        )

    def _part(self, part: slice) -> "_Part":
        """Some pixels; kept, because the light is fitted often."""
        if part.start not in self._parts:
            self._parts[part.start] = self._read(part)
        return self._parts[part.start]

    def _read(self, part: slice) -> "_Part":
        terms = combine(np.eye(self._basis.size), self._unit[:, part], self._basis.order).T
        stored = self._flat[:, self._places[part], :]
        usable = is_usable(stored)
        values = scaled(stored, self._white).astype(np.float32)
        values[~usable] = 0
        return _Part(part, terms, values, usable)

    def _functions(self, part: slice) -> Float[np.ndarray, "A n"]:
        """What products of harmonics are made of; kept, because the light is fitted often."""
        if part.start not in self._kept:
            wanted = products(self._basis.order).wanted
            self._kept[part.start] = some_harmonics(self._unit[:, part], wanted)
        return self._kept[part.start]

    def noise(self, albedo: np.ndarray, lighting: np.ndarray) -> float:
        """Robust standard deviation of the residual of the pixels that the light is fitted to."""

        def some(own: _Part) -> np.ndarray:
            left = [own.residual(albedo, lighting, c)[own.usable[:, :, c]] for c in range(channels)]
            return np.concatenate([np.abs(each)[::7] for each in left])

        channels = len(albedo)
        together = np.concatenate(self._over(some))
        return (
            max(1.48 * float(np.median(together)), _LEAST_NOISE) if len(together) else _LEAST_NOISE
        )

    def fit_light(self, albedo: np.ndarray, lighting: np.ndarray, noise: float) -> np.ndarray:
        """Robust least squares for every photo and channel."""
        num, channels, size = lighting.shape
        made = products(self._basis.order)

        def some(own: _Part) -> tuple[np.ndarray, np.ndarray]:
            squares = np.empty((num, channels, len(made.table)), np.float32)
            source = np.empty((num, channels, size), np.float32)
            for c in range(channels):
                reflected = albedo[c, own.pixels].astype(np.float32)
                painted = own.terms * reflected[:, None]
                residual = lighting[:, c].astype(np.float32) @ painted.T - own.values[:, :, c]
                weight = own.usable[:, :, c] * cauchy_weight(residual, _CAUCHY * noise)
                squares[:, c] = (weight * reflected**2) @ self._functions(own.pixels).T
                source[:, c] = (weight * own.values[:, :, c]) @ painted
            return squares, source

        squares = np.zeros((num, channels, len(made.table)))
        source = np.zeros((num, channels, size))
        for products_of_two, sums in self._over(some):
            squares += products_of_two
            source += sums
        normal = (squares @ made.table)[:, :, made.place]
        trace = np.trace(normal, axis1=2, axis2=3)[..., None, None] / size
        ridge = (_RIDGE * trace + 1e-20) * np.eye(size)
        right = source + np.einsum("mcij,mcj->mci", ridge, lighting)
        return np.linalg.solve(normal + ridge, right[..., None])[..., 0]

    def residual(self, albedo: np.ndarray, lighting: np.ndarray) -> Float[np.ndarray, "M C"]:
        """Sum of squares over the pixels that the light is fitted to."""

        def some(own: _Part) -> np.ndarray:
            left = (own.residual(albedo, lighting, c) for c in range(len(albedo)))
            squares = [(r * own.usable[:, :, c]) ** 2 for c, r in enumerate(left)]
            return np.stack([each.sum(axis=1, dtype=float) for each in squares], axis=1)

        return np.asarray(sum(self._over(some)))

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


class _Part(NamedTuple):
    """Some pixels: their harmonics, samples, and which of these are usable."""

    pixels: slice
    terms: Float[np.ndarray, "n K"]
    values: Float[np.ndarray, "M n C"]
    usable: Bool[np.ndarray, "M n C"]

    def residual(
        self, albedo: np.ndarray, lighting: np.ndarray, channel: int
    ) -> Float[np.ndarray, "M n"]:
        """What light and albedo leave of a channel."""
        shading = lighting[:, channel].astype(np.float32) @ self.terms.T
        shading *= albedo[channel, self.pixels].astype(np.float32)
        shading -= self.values[:, :, channel]
        return shading


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

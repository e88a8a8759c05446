"""Light and albedo from the photos themselves, normals held: the last step.

The joint solver works on eigen-photos with one robust weight per pixel. Here every sample of every
photo has its own (saturated and black ones none), every photo its own light, and the albedo the
Huber total variation of the published method, at a weight that follows the noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.kernels import monomials
from anylight.kernels.monomials import TILE, basis, num_tiles
from anylight.kernels.surface import assemble, neighbours, slope_sizes
from anylight.linalg.grid import Grid
from anylight.linalg.pcg import jacobi, pcg
from anylight.model.capture import Capture

from .eigenphotos import is_usable, scaled
from .fit import chunks

_CHUNK = 8192
_ROUNDS = 2
_LIGHT_PIXELS = 50_000
"""The light is fitted to about so many pixels, evenly spread."""
_CAUCHY = 3.0
"""Scale of the robust penalty, in standard deviations of the residual."""
_BRIGHTEST = 10.0
"""No paint is so many times brighter than nine tenths of the object."""
_WILD = 2.0
"""A robust light may leave so many times the squares that plain least squares leave."""
_PLAIN = 1e3
"""A noise at which no sample is an outlier."""
_HUBER = 0.01
"""Contrast up to which the total variation is quadratic, relative to white."""
_STRENGTH = 0.5
"""Weight of the total variation, in standard deviations of the albedo before it."""


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
    albedo = _plausible(albedo)
    lighting = samples.fit_light(albedo, lighting, _PLAIN)
    for _ in range(_ROUNDS):
        noise = samples.noise(albedo, lighting)
        lighting = samples.fit_light(albedo, lighting, noise)
        diagonal, source = samples.albedo_system(albedo, lighting, noise)
        albedo = _plausible(_smooth(Grid(capture.mask), albedo, diagonal, source, noise))
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


def _plausible(albedo: Float[np.ndarray, "C P"]) -> Float[np.ndarray, "C P"]:
    """Albedo without pixels so bright that only a normal in the dark can explain them."""
    most = _BRIGHTEST * np.quantile(albedo, 0.9, axis=1, keepdims=True)
    return np.minimum(albedo, most.astype(albedo.dtype))


class _Samples:
    """Passes over all samples of the masked pixels, some pixels at a time."""

    def __init__(
        self, capture: Capture, white: float, unit: Float[np.ndarray, "3 P"], order: int
    ) -> None:
        self._flat = capture.photos.reshape(capture.num_photos, -1, capture.num_channels)
        self._places = np.flatnonzero(capture.mask)
        self._white, self._unit, self._basis = white, unit, basis(order)

    def _chunks(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        for part in chunks(len(self._places), _CHUNK):
            num = part.stop - part.start
            tiles = np.empty((num_tiles(num), self._basis.size, TILE), np.float32)
            monomials.evaluate(self._basis.exponents, self._unit[:, part], tiles)
            terms = monomials.flat(tiles, num)
            stored = self._flat[:, self._places[part], :]
            usable = is_usable(stored)
            values = scaled(stored, self._white).astype(np.float32)
            values[~usable] = 0
            harmonics = (terms.T @ self._basis.matrix.T).astype(np.float32)
            yield part, harmonics, values, usable

    def noise(self, albedo: np.ndarray, lighting: np.ndarray) -> float:
        """Robust standard deviation of the residual."""
        found = []
        for part, terms, values, usable in self._chunks():
            for c in range(len(albedo)):
                shading = lighting[:, c].astype(np.float32) @ terms.T
                residual = albedo[c, part].astype(np.float32) * shading - values[:, :, c]
                found.append(np.abs(residual[usable[:, :, c]])[::7])
        together = np.concatenate(found)
        return max(1.48 * float(np.median(together)), 1e-5) if len(together) else 1e-5

    def fit_light(self, albedo: np.ndarray, lighting: np.ndarray, noise: float) -> np.ndarray:
        """Robust least squares for every photo and channel."""
        num, channels, size = lighting.shape
        normal = np.zeros((num, channels, size, size))
        source = np.zeros((num, channels, size))
        scale = (_CAUCHY * noise) ** 2
        every = max(1, len(self._places) // _LIGHT_PIXELS)
        for part, all_terms, all_values, all_usable in self._chunks():
            terms, values, usable = (
                all_terms[::every], all_values[:, ::every], all_usable[:, ::every]
            )  # fmt: skip
            for c in range(channels):
                scaled = terms * albedo[c, part][::every].astype(np.float32)[:, None]
                residual = lighting[:, c].astype(np.float32) @ scaled.T - values[:, :, c]
                weight = usable[:, :, c] / (1 + residual**2 / np.float32(scale))
                for m in range(num):
                    weighed = scaled * weight[m][:, None]
                    normal[m, c] += weighed.T @ scaled
                    source[m, c] += weighed.T @ values[m, :, c]
        trace = np.trace(normal, axis1=2, axis2=3)[..., None, None] / size
        ridge = (1e-6 * trace + 1e-20) * np.eye(size)
        right = source + np.einsum("mcij,mcj->mci", ridge, lighting)
        return np.linalg.solve(normal + ridge, right[..., None])[..., 0]

    def residual(self, albedo: np.ndarray, lighting: np.ndarray) -> Float[np.ndarray, "M C"]:
        """Sum of squares over the pixels that the light is fitted to."""
        total = np.zeros(lighting.shape[:2])
        every = max(1, len(self._places) // _LIGHT_PIXELS)
        for part, terms, values, usable in self._chunks():
            for c in range(len(albedo)):
                shading = lighting[:, c].astype(np.float32) @ terms[::every].T
                left = albedo[c, part][::every].astype(np.float32) * shading
                left -= values[:, ::every, c]
                total[:, c] += ((left * usable[:, ::every, c]) ** 2).sum(axis=1, dtype=float)
        return total

    def albedo_system(
        self, albedo: np.ndarray, lighting: np.ndarray, noise: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Diagonal and right-hand side of the albedo's robust least squares."""
        diagonal, source = np.zeros_like(albedo), np.zeros_like(albedo)
        scale = np.float32((_CAUCHY * noise) ** 2)
        for part, terms, values, usable in self._chunks():
            for c in range(len(albedo)):
                shading = lighting[:, c].astype(np.float32) @ terms.T
                residual = albedo[c, part].astype(np.float32) * shading - values[:, :, c]
                weight = usable[:, :, c] / (1 + residual**2 / scale)
                diagonal[c, part] = (weight * shading**2).sum(axis=0)
                source[c, part] = (weight * shading * values[:, :, c]).sum(axis=0)
        return diagonal, source


def _smooth(
    grid: Grid, albedo: np.ndarray, diagonal: np.ndarray, source: np.ndarray, noise: float
) -> np.ndarray:
    """Minimise Σ (d ρ² − 2 b ρ) + Σ μ |∇ρ|, μ following the noise of the albedo."""
    near = neighbours(grid.inside, backward=False)
    result = np.empty_like(albedo)
    for c, before in enumerate(albedo):
        sizes = np.empty(len(before))
        slope_sizes(grid.spread(before.astype(float)).ravel(), near, sizes)
        typical = float(np.median(diagonal[c]))
        strength = 2 * _STRENGTH * noise * np.sqrt(max(typical, 1e-12))
        form = np.zeros((6, len(before)), np.float32)
        form[0] = diagonal[c] + 1e-6 * max(typical, 1e-12)
        form[3] = form[5] = strength / 2 / np.maximum(_HUBER, sizes)
        operator = assemble(form, near, grid.shape).astype(np.float32)
        right = source[c] + 1e-6 * max(typical, 1e-12) * before
        start = grid.spread(before.astype(np.float32))
        solve = pcg(
            operator, grid.spread(right.astype(np.float32)), jacobi(operator), 1e-4, 200, start
        )
        result[c] = np.maximum(grid.collect(solve.solution), 0)
    return result

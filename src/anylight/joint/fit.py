"""How well a surface under some light explains the eigen-photos, with the best albedo."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.kernels import elimination, monomials
from anylight.kernels.monomials import Basis, basis
from anylight.photometry.harmonics import harmonics, num_harmonics, order_of

from .level import Level, Surface

CHUNK = 16384
"""Pixels that pass through the matrix products together."""
Light = Float[np.ndarray, "K CR"]
"""Harmonic coefficients of every eigen-photo, channel by channel."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Normals, best albedo and squared residual of every pixel."""

    unit: Float[np.ndarray, "3 P"]
    length: Float[np.ndarray, " P"]
    albedo: Float[np.ndarray, "P C"]
    misfit: Float[np.ndarray, " P"]


def polynomial(light: Light) -> tuple[Basis, Float[np.ndarray, "K CR"]]:
    """Coefficients of the monomials, in float32, for the matrix products."""
    own = basis(order_of(len(light)))
    return own, np.ascontiguousarray(own.matrix.T @ light, np.float32)


def evaluate(level: Level, surface: Surface, light: Light) -> Fit:
    """Fit the albedo to a surface under a light."""
    return evaluate_slopes(level, *level.slopes(surface), light)


def evaluate_slopes(
    level: Level, p: Float[np.ndarray, " P"], q: Float[np.ndarray, " P"], light: Light
) -> Fit:
    """Fit the albedo to facets of given slopes, whether or not they make a surface."""
    unit, length = level.normals(p, q)
    own, coefficients = polynomial(light)
    albedo = np.empty((level.size, level.num_channels), np.float32)
    misfit = np.empty(level.size, np.float32)
    size = min(CHUNK, level.size)
    terms = np.empty((own.size, size), np.float32)
    shading = np.empty((size, light.shape[1]), np.float32)
    for start in range(0, level.size, CHUNK):
        part = slice(start, min(start + CHUNK, level.size))
        num = part.stop - part.start
        monomials.evaluate(own.exponents, unit[:, part], terms[:, :num])
        np.dot(terms[:, :num].T, coefficients, out=shading[:num])
        elimination.residuals(
            level.photos[part], shading[:num], level.num_channels, albedo[part], misfit[part]
        )
    return Fit(unit, length, albedo, misfit.astype(float))


def shade_with_slopes(
    part: slice,
    fit: Fit,
    turns: tuple[np.ndarray, np.ndarray],
    light: tuple[Basis, np.ndarray],
    out: tuple[np.ndarray, np.ndarray],
) -> None:
    """Shading of some pixels and its derivatives by their slopes.

    Args:
        part: which pixels.
        fit: with their normals.
        turns: derivatives of the normals by p and by q.
        light: from `polynomial`.
        out: monomials (3, K, n) and shades (3, n, CR) to fill: value, by p, by q.
    """
    (own, coefficients), (terms, shades) = light, out
    along_p, along_q = (turn[:, part] for turn in turns)
    monomials.evaluate_with_slopes(own.exponents, fit.unit[:, part], along_p, along_q, *terms)
    for term, shade in zip(terms, shades, strict=True):
        np.dot(term.T, coefficients, out=shade)


def first_light(level: Level, surface: Surface, order: int, rounds: int = 5) -> Light:
    """Light of a surface, the albedo starting at the photos' overall brightness."""
    unit, _ = level.normals(*level.slopes(surface))
    terms = harmonics(unit.T, order)
    num = level.photos.shape[1] // level.num_channels
    light = np.zeros((num_harmonics(order), level.photos.shape[1]))
    for c in range(level.num_channels):
        own = slice(c * num, (c + 1) * num)
        photos = level.photos[:, own].astype(float)
        albedo = np.linalg.norm(photos, axis=1)
        for _ in range(rounds):
            scaled = terms * albedo[:, None]
            weighed = scaled * level.cover[:, None]
            normal = scaled.T @ weighed
            normal += 1e-4 * np.trace(normal) / len(normal) * np.eye(len(normal))
            light[:, own] = np.linalg.solve(normal, weighed.T @ photos)
            shading = terms @ light[:, own]
            power = (shading**2).sum(axis=1)
            albedo = np.maximum((shading * photos).sum(axis=1) / np.maximum(power, 1e-20), 0)
    return light


def raised(light: Light, order: int) -> Light:
    """The same light at another order: coefficients are added as zeros, or dropped."""
    result = np.zeros((num_harmonics(order), light.shape[1]))
    num = min(len(result), len(light))
    result[:num] = light[:num]
    return result

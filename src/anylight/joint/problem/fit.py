"""How well a surface under some light explains the eigen-photos, with the best albedo."""

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from anylight.facets.grid import EVERY, Heights
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import elimination
from anylight.kernels.monomials import (
    EVERYWHERE,
    TILE,
    Basis,
    basis,
    near_basis,
    num_tiles,
)
from anylight.photometry.harmonics import harmonics, is_shading, num_harmonics, order_of

_FIRST_ROUNDS = 5
"""Rounds of light and albedo that a start's first light takes. [rounds]"""
_FIRST_RIDGE = 1e-4
"""What holds a start's first light, relative to its own weight. [share]"""
Light = Float[np.ndarray, "_ CR"]
"""Harmonic coefficients of every eigen-photo, channel by channel."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Normals, best albedo and squared residual of every pixel."""

    unit: Float[np.ndarray, "3 P"]
    length: Float[np.ndarray, " P"]
    albedo: Float[np.ndarray, "P C"]
    misfit: Float[np.ndarray, " P"]
    fields: Float[np.ndarray, "F P"] | None = None
    """What the light changes with from pixel to pixel (see `PyramidLevel.fields`)."""

    @classmethod
    def of_nothing(cls, num_channels: int) -> "Fit":
        """The fit of no pixels: where it is not known yet, or not asked for any more."""
        none = np.empty((3, 0), np.float32)
        return cls(none, none[0], np.empty((0, num_channels), np.float32), none[0])

    def some(self, which: Int[np.ndarray, " n"]) -> "Fit":
        """The fit of some pixels."""
        fields = None if self.fields is None else self.fields[:, which]
        albedo, misfit = self.albedo[which], self.misfit[which]
        unit = np.ascontiguousarray(self.unit[:, which])
        return Fit(unit, self.length[which], albedo, misfit, fields)


def basis_of(level: PyramidLevel, light: Light) -> Basis:
    """The functions that a light is made of."""
    order = isqrt(len(light)) - 1
    if level.closeness and (order + 1) ** 2 == len(light):
        return near_basis(order, level.closeness)
    return basis(order_of(len(light)))


def polynomial(level: PyramidLevel, light: Light) -> tuple[Basis, Float[np.ndarray, "CR K"]]:
    """Coefficients of the monomials, in float32, for the matrix products."""
    own = basis_of(level, light)
    return own, np.ascontiguousarray(light.T @ own.matrix, np.float32)


def evaluate(level: PyramidLevel, surface: Heights, light: Light) -> Fit:
    """Fit the albedo to a surface under a light."""
    p, q = level.slopes(surface)
    return evaluate_slopes(level, p, q, light, fields=level.fields(surface))


def evaluate_slopes(
    level: PyramidLevel,
    p: Float[np.ndarray, " n"],
    q: Float[np.ndarray, " n"],
    light: Light,
    fields: Float[np.ndarray, "F n"] | None = None,
) -> Fit:
    """Fit the albedo to facets of given slopes, whether or not they make a surface.

    Args:
        level: the photos.
        p: slopes of the pixels along u.
        q: slopes along v.
        light: the light.
        fields: what the light changes with, under near lamps.
    """
    unit, length = level.normals(p, q)
    own, coefficients = polynomial(level, light)
    albedo = np.empty((level.size, level.num_channels), np.float32)
    misfit = np.empty(level.size, np.float32)
    places = EVERYWHERE if fields is None else np.ascontiguousarray(fields)
    elimination.residuals(
        own.exponents, unit, own.fields, places, coefficients, level.photos.numbers,
        level.photos.scale, level.num_channels, albedo, misfit,
    )  # fmt: skip
    return Fit(unit, length, albedo, misfit, fields)


@dataclass(frozen=True, eq=False)
class Linearised:
    """The photos' misfit of some pixels to first order, all that is needed to multiply with it."""

    at: tuple[Any, ...]
    """Exponents, normals, lengths, camera, pixels, fields and places, light: what shading is made
    of; and the photos."""
    blocks: Float[np.ndarray, "3 n"]
    """Curvature uu, uv, vv by the slopes."""
    slopes: Float[np.ndarray, "2 n"]
    """Gradient by the slopes."""
    light: Float[np.ndarray, "K CR"]
    """Gradient by the monomials' light; zero if it was not asked for."""
    terms: Float[np.ndarray, "g K t"]
    """Monomials, tile by tile, if they are kept."""
    shades: Float[np.ndarray, "g 3 CR t"]
    """Shading and its derivatives by the slopes, tile by tile, if they are kept."""


def linearise(
    level: PyramidLevel,
    light: Light,
    fit: Fit,
    weight: Float[np.ndarray, " n"],
    pixels: slice | Int[np.ndarray, " n"] = EVERY,
    *,
    gather: bool = True,
    keep: bool = False,
) -> Linearised:
    """Linearise the misfit of some pixels.

    Args:
        level: the photos.
        light: the light.
        fit: of these pixels.
        weight: of these pixels.
        pixels: which they are.
        gather: find the gradient by the light.
        keep: keep monomials and shades.
    """
    own, coefficients = polynomial(level, light)
    num, columns = len(fit.misfit), light.shape[1]
    facing = (np.ascontiguousarray(fit.unit), fit.length)
    view = (level.camera.numbers, level.domain.pixels[pixels])
    photos = level.photos.some(pixels)
    places = EVERYWHERE if fit.fields is None else np.ascontiguousarray(fit.fields)
    shading = (own.exponents, *facing, *view, own.fields, places, coefficients)
    at: tuple[Any, ...] = (*shading, photos.numbers, photos.scale)
    tiles, passes = num_tiles(num) if keep else 0, elimination.num_passes(num)
    terms = np.empty((tiles, own.size, TILE), np.float32)
    shades = np.empty((tiles, 3, columns, TILE), np.float32)
    gathered = np.empty((passes if gather else 0, own.size, columns), np.float32)
    blocks, slopes = np.empty((3, num), np.float32), np.empty((2, num), np.float32)
    elimination.linearise(
        *at, weight, level.num_channels, fit.albedo, blocks, slopes, gathered, terms, shades
    )  # fmt: skip
    return Linearised(at, blocks, slopes, elimination.summed(gathered), terms, shades)


def first_light(level: PyramidLevel, surface: Heights, order: int) -> Light:
    """Light of a surface, the albedo starting at the photos' overall brightness."""
    unit, _ = level.normals(*level.slopes(surface))
    terms = harmonics(unit.T.astype(float), order)
    every = level.photos.values()
    num = every.shape[1] // level.num_channels
    light = np.zeros((num_harmonics(order), every.shape[1]))
    for c in range(level.num_channels):
        own = slice(c * num, (c + 1) * num)
        photos = every[:, own].astype(float)
        albedo = np.linalg.norm(photos, axis=1)
        for _ in range(_FIRST_ROUNDS):
            scaled = terms * albedo[:, None]
            weighed = scaled * level.cover[:, None]
            normal = scaled.T @ weighed
            normal += (_FIRST_RIDGE * np.trace(normal) / len(normal) + 1e-20) * np.eye(len(normal))
            light[:, own] = np.linalg.solve(normal, weighed.T @ photos)
            shading = terms @ light[:, own]
            power = (shading**2).sum(axis=1)
            albedo = np.maximum((shading * photos).sum(axis=1) / np.maximum(power, 1e-20), 0)
    return light


def raised(level: PyramidLevel, light: Light, order: int) -> Light:
    """The same light at another order: coefficients are added as zeros, or dropped.

    Under near lamps the harmonics of all degrees count.
    """
    if level.closeness and len(light) != isqrt(len(light)) ** 2:
        every = is_shading(order_of(len(light)))
        far, light = light, np.zeros((len(every), light.shape[1]))
        light[every] = far
    result = np.zeros(
        ((order + 1) ** 2 if level.closeness else num_harmonics(order), light.shape[1])
    )
    num = min(len(result), len(light))
    result[:num] = light[:num]
    return result


def seen_from_middle(level: PyramidLevel, light: Light) -> Light:
    """The light in the middle of the object, where it shades like that of far lamps."""
    own = basis_of(level, light)
    return light if not len(own.fields) else light[is_shading(own.order)]

"""How well a surface under some light explains the eigen-photos, with the best albedo."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import EVERY, Heights
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.kernels import elimination, monomials
from anylight.kernels.monomials import TILE, Basis, basis, near_basis, num_tiles
from anylight.photometry.harmonics import harmonics, is_shading, num_harmonics, order_of

CHUNK = 16384
"""Pixels that pass through the matrix products together. (memory)"""
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
    fields: Float[np.ndarray, "9 P"] | None = None
    """What the light changes with from pixel to pixel (see `PyramidLevel.fields`)."""


def basis_of(level: PyramidLevel, light: Light) -> Basis:
    """The functions that a light is made of."""
    order = isqrt(len(light)) - 1
    if level.closeness and (order + 1) ** 2 == len(light):
        return near_basis(order, level.closeness)
    return basis(order_of(len(light)))


def polynomial(level: PyramidLevel, light: Light) -> tuple[Basis, Float[np.ndarray, "K CR"]]:
    """Coefficients of the monomials, in float32, for the matrix products."""
    own = basis_of(level, light)
    return own, np.ascontiguousarray(own.matrix.T @ light, np.float32)


def evaluate(level: PyramidLevel, surface: Heights, light: Light) -> Fit:
    """Fit the albedo to a surface under a light."""
    return evaluate_slopes(level, *level.slopes(surface), light, fields=level.fields(surface))


def evaluate_slopes(
    level: PyramidLevel,
    p: Float[np.ndarray, " n"],
    q: Float[np.ndarray, " n"],
    light: Light,
    part: slice = EVERY,
    fields: Float[np.ndarray, "9 n"] | None = None,
) -> Fit:
    """Fit the albedo to facets of given slopes, whether or not they make a surface.

    Args:
        level: the photos.
        p: slopes of the pixels along u.
        q: slopes along v.
        light: the light.
        part: which pixels these are.
        fields: of these pixels, under near lamps.
    """
    unit, length = level.normals(p, q, part)
    photos = level.photos[part]
    own, coefficients = polynomial(level, light)
    albedo = np.empty((len(photos), level.num_channels), np.float32)
    misfit = np.empty(len(photos), np.float32)
    most = num_tiles(min(CHUNK, len(photos)))
    terms = np.empty((most, own.size, TILE), np.float32)
    shading = np.empty((most * TILE, light.shape[1]), np.float32)
    for some in chunks(len(photos)):
        num = some.stop - some.start
        tiles = num_tiles(num)
        monomials.evaluate(own.exponents, np.ascontiguousarray(unit[:, some]), terms[:tiles])
        if own.fields is not None:
            assert fields is not None
            monomials.spread(own.fields, fields[:, some], terms[:tiles])
        monomials.shade(terms[:tiles], coefficients, shading)
        elimination.residuals(
            photos[some], shading[:num], level.num_channels, albedo[some], misfit[some]
        )
    return Fit(unit, length, albedo, misfit, fields)


def chunks(num: int, size: int = CHUNK) -> Iterator[slice]:
    """Cut so many pixels into parts."""
    for start in range(0, num, size):
        yield slice(start, min(start + size, num))


def shade_with_slopes(
    unit: Float[np.ndarray, "3 n"],
    turns: tuple[Float[np.ndarray, "3 n"], Float[np.ndarray, "3 n"]],
    light: tuple[Basis, np.ndarray],
    out: tuple[np.ndarray, np.ndarray],
    fields: Float[np.ndarray, "9 n"] | None = None,
) -> None:
    """Shading of some pixels and its derivatives by their slopes.

    Args:
        unit: their normals.
        turns: derivatives of the normals by p and by q.
        light: from `polynomial`.
        out: tiles of monomials (3, g, K, TILE) and shades (3, g · TILE, CR) to fill: value, by p,
            by q.
        fields: of these pixels, under near lamps.
    """
    (own, coefficients), (terms, shades) = light, out
    monomials.evaluate_with_slopes(
        own.exponents, *(np.ascontiguousarray(part) for part in (unit, *turns)), *terms
    )
    for term, shade in zip(terms, shades, strict=True):
        if own.fields is not None:
            monomials.spread(own.fields, fields, term)
        monomials.shade(term, coefficients, shade)


def first_light(level: PyramidLevel, surface: Heights, order: int) -> Light:
    """Light of a surface, the albedo starting at the photos' overall brightness."""
    unit, _ = level.normals(*level.slopes(surface))
    terms = harmonics(unit.T.astype(float), order)
    num = level.photos.shape[1] // level.num_channels
    light = np.zeros((num_harmonics(order), level.photos.shape[1]))
    for c in range(level.num_channels):
        own = slice(c * num, (c + 1) * num)
        photos = level.photos[:, own].astype(float)
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
    return light if own.fields is None else light[is_shading(own.order)]

"""The normal of every pixel by itself: with the light known, no neighbour is needed.

A table of directions finds the best one anywhere on the visible hemisphere, a few damped Newton
steps make it exact. Such normals do not care whether the surface is continuous, so they are right
at depth steps and show where the surface is caught in a wrong place.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.geometry.normals import slopes_from_normals
from anylight.initial.integrate import clamp_slant
from anylight.kernels import elimination
from anylight.photometry.harmonics import harmonics, order_of

from .fit import CHUNK, Fit, Light, evaluate_slopes, polynomial, shade_with_slopes
from .level import Level

_DIRECTIONS = 800
_BEHIND = -0.05
"""Largest cosine with the viewing ray that a visible normal may have."""
_STEPS = 5
_ROWS = 1024
"""Pixels compared with the table at once."""


@dataclass(frozen=True, eq=False)
class Facing:
    """Slopes of every pixel by itself, and how they fit."""

    p: Float[np.ndarray, " P"]
    q: Float[np.ndarray, " P"]
    fit: Fit
    blocks: Float[np.ndarray, "3 P"]
    """Curvature uu, uv, vv of the squared residual by the slopes."""


def directions(num: int = _DIRECTIONS) -> Float[np.ndarray, "n 3"]:
    """Directions spread evenly over the side of the sphere that a camera can see."""
    index = np.arange(2 * num) + 0.5
    height = 1 - index / num
    angle = np.pi * (1 + np.sqrt(5)) * index
    radius = np.sqrt(1 - height**2)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
    return points[points[:, 2] < 0.2]


def search(level: Level, light: Light) -> Float[np.ndarray, "P 3"]:
    """Best direction of the table for every pixel."""
    table = directions()
    shading = harmonics(table, order_of(len(light))) @ light
    num = shading.shape[1] // level.num_channels
    shading = shading.reshape(len(table), level.num_channels, num).astype(np.float32)
    shading /= np.linalg.norm(shading, axis=2, keepdims=True) + 1e-20
    found = np.empty(level.size, np.intp)
    pixels, narrow = level.domain.pixels, table.T.astype(np.float32)
    for start in range(0, level.size, _ROWS):
        part = slice(start, start + _ROWS)
        rays = level.camera.rays(*pixels[part].T)
        rays /= np.linalg.norm(rays, axis=1, keepdims=True)
        explained = np.zeros((len(rays), len(table)), np.float32)
        for c in range(level.num_channels):
            photos = level.photos[part, c * num : (c + 1) * num]
            explained += np.maximum(photos @ shading[:, c].T, 0) ** 2
        explained[rays.astype(np.float32) @ narrow > _BEHIND] = -1
        found[part] = explained.argmax(axis=1)
    return table[found]


def face(
    level: Level,
    light: Light,
    start: tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]] | None = None,
    steps: int = _STEPS,
) -> Facing:
    """Slopes that explain every pixel best by itself.

    Args:
        level: the photos.
        light: the light.
        start: slopes to start from; the table's best if not given.
        steps: Newton steps.
    """
    if start is None:
        pixels = level.domain.pixels
        found = clamp_slant(level.camera, pixels, search(level, light))
        start = tuple(slopes_from_normals(level.camera, pixels, found).T.copy())
    p, q = start
    damping = np.full(level.size, 1e-3)
    fit = evaluate_slopes(level, p, q, light)
    for _ in range(steps):
        blocks, gradient = curvature(level, light, fit)
        uu, uv, vv = blocks
        uu, vv = uu * (1 + damping) + 1e-20, vv * (1 + damping) + 1e-20
        det = np.maximum(uu * vv - uv**2, 1e-30)
        dp = -(vv * gradient[0] - uv * gradient[1]) / det
        dq = -(uu * gradient[1] - uv * gradient[0]) / det
        trial = evaluate_slopes(level, p + dp, q + dq, light)
        better = trial.misfit < fit.misfit
        p, q = np.where(better, p + dp, p), np.where(better, q + dq, q)
        fit = Fit(
            np.where(better, trial.unit, fit.unit),
            np.where(better, trial.length, fit.length),
            np.where(better[:, None], trial.albedo, fit.albedo),
            np.where(better, trial.misfit, fit.misfit),
        )
        damping = np.where(better, damping / 5, damping * 10)
    blocks, _ = curvature(level, light, fit)
    return Facing(p, q, fit, blocks)


def curvature(
    level: Level, light: Light, fit: Fit
) -> tuple[Float[np.ndarray, "3 P"], Float[np.ndarray, "2 P"]]:
    """Blocks and gradient of every pixel's squared residual by its slopes."""
    own, coefficients = polynomial(light)
    turns = level.turns(fit.unit, fit.length)
    blocks, gradient = np.empty((3, level.size)), np.empty((2, level.size))
    num = min(CHUNK, level.size)
    terms = np.empty((3, own.size, num), np.float32)
    shades = np.empty((3, num, light.shape[1]), np.float32)
    source = np.empty((num, light.shape[1]), np.float32)
    ones = np.ones(num, np.float32)
    for start in range(0, level.size, CHUNK):
        part = slice(start, min(start + CHUNK, level.size))
        size = part.stop - part.start
        filled = (terms[:, :, :size], shades[:, :size])
        shade_with_slopes(part, fit, turns, (own, coefficients), filled)
        elimination.linearise(
            level.photos[part], shades[0, :size], shades[1, :size], shades[2, :size], ones[:size],
            level.num_channels, fit.albedo[part], blocks[:, part], gradient[:, part],
            source[:size],
        )  # fmt: skip
    return blocks, gradient

"""Depth of every pixel from the normals of single pixels, with steps where the normals want them.

A pixel's slope should hold towards the next and the previous pixel, but may give way on one side:
the side that fits worse loses its weight (bilateral normal integration, after Cao, Santo, Shi,
Okura and Matsushita, 2022). So every pixel keeps to the surface it belongs to, and depth jumps
between two pixels, not inside one.
"""

import numpy as np
from jaxtyping import Float

from anylight.geometry.camera import Camera, Perspective
from anylight.geometry.domain import Domain
from anylight.geometry.normals import slopes_from_normals
from anylight.initial.integrate import clamp_slant
from anylight.linalg.grid import Grid
from anylight.linalg.multigrid import Multigrid, Stencil
from anylight.linalg.pcg import pcg

_STEEPEST_DEG = 87.0
_SHARPNESS = 2.0
"""How decidedly a side that fits worse (in squared pixels of depth) loses its weight."""
_ROUNDS = 25
_ANCHOR = 1e-7
_SURE = 30.0
"""Exponent beyond which a side has all the weight, or none."""


def step_heights(
    camera: Camera, domain: Domain, unit: Float[np.ndarray, "3 P"], rounds: int = _ROUNDS
) -> Float[np.ndarray, " P"]:
    """Log-depth (orthographic: depth) of every pixel."""
    grid = Grid(domain.mask)
    pixels = domain.pixels
    normals = clamp_slant(camera, pixels, unit.T, _STEEPEST_DEG)
    slopes = slopes_from_normals(camera, pixels, normals)
    focal = camera.focal_px[0] if isinstance(camera, Perspective) else 1.0
    facing = (normals * camera.rays(*pixels.T)).sum(axis=1)
    strength = grid.spread((focal * facing) ** 2)
    inside = grid.inside
    hold = _ANCHOR * float(strength.max()) * inside
    axes = []
    for axis, slope in ((1, slopes[:, 0]), (0, slopes[:, 1])):
        pair = inside & np.roll(inside, -1, axis)
        axes.append((axis, grid.spread(slope), pair, np.roll(pair, 1, axis)))
    nothing = np.zeros(grid.shape)
    height = nothing
    for k in range(rounds):
        weights, targets = [], []
        for axis, slope, ahead, behind in axes:
            step = np.roll(height, -1, axis) - height
            front = np.where(ahead, strength * (step - slope) ** 2, 0)
            back = np.where(behind, strength * (np.roll(step, 1, axis) - slope) ** 2, 0)
            both = ahead & behind & (k > 0)
            doubt = np.clip(_SHARPNESS * (front - back), -_SURE, _SURE)
            share = np.where(both, 1 / (1 + np.exp(doubt)), 0.5)
            forward = strength * share * ahead
            backward = np.roll(strength * (1 - share) * behind, -1, axis)
            weights.append(forward + backward)
            targets.append(forward * slope + backward * np.roll(slope, -1, axis))
        centre = hold.copy()
        source = hold * height
        for (axis, *_), weight, target in zip(axes, weights, targets, strict=True):
            centre += weight + np.roll(weight, 1, axis)
            source += np.roll(target, 1, axis) - target
        operator = Stencil(centre, -weights[0], -weights[1], nothing, nothing)
        height = pcg(operator, source, Multigrid(operator), 1e-3, 30, start=height).solution
    return grid.collect(height)

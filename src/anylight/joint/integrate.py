"""From the normals of single pixels to one surface that may jump.

Every facet should have its pixel's normal; a robust penalty lets few facets fail badly (those that
span a depth step) instead of bending all.
"""

import numpy as np
from jaxtyping import Float

from anylight.kernels import facets
from anylight.linalg.multigrid import Multigrid
from anylight.linalg.pcg import pcg

from .level import Level, Surface

_EDGE = 1e-4
"""What holds the checkerboard, relative to the mean curvature."""
_ROUNDS = 6
_SCALE = 0.1
"""Distance between two unit normals at which a facet counts half."""


def smooth_surface(level: Level, p: Float[np.ndarray, " P"], q: Float[np.ndarray, " P"]) -> Surface:
    """Surface whose facets have the given slopes, by plain least squares."""
    ones, zeros = np.ones(level.size), np.zeros(level.size)
    blocks = np.stack([ones, zeros, ones])
    operator = facets.assemble(blocks, 1e-5 * ones, level.here, level.grid.shape)
    operator.centre[level.grid.inside] += 1e-9
    source = level.scatter(p, q)
    return level.centred(pcg(operator, source, Multigrid(operator), 1e-6, 200).solution)


def robust_surface(
    level: Level,
    p: Float[np.ndarray, " P"],
    q: Float[np.ndarray, " P"],
    start: Surface,
    rounds: int = _ROUNDS,
) -> tuple[Surface, Float[np.ndarray, " P"]]:
    """Surface whose facets have the given slopes, and the weight each facet got."""
    unit, length = level.normals(p, q)
    along_p, along_q = level.turns(unit, length)
    form = np.stack(
        [(along_p**2).sum(axis=0), (along_p * along_q).sum(axis=0), (along_q**2).sum(axis=0)]
    )
    form /= max(float(form.max()), 1e-300)
    edge = np.full(level.size, _EDGE * float((form[0] + form[2]).mean()))
    surface = start
    for k in range(rounds):
        now, _ = level.normals(*level.slopes(surface))
        scale = _SCALE * max(1.0, 3.0 * (1 - k / 3))
        weight = 1 / (1 + ((now - unit) ** 2).sum(axis=0) / scale**2)
        blocks = form * (weight * level.cover)
        operator = facets.assemble(blocks, edge, level.here, level.grid.shape)
        operator.centre[level.grid.inside] += 1e-9 * operator.centre.max()
        source = level.scatter(blocks[0] * p + blocks[1] * q, blocks[1] * p + blocks[2] * q)
        surface = pcg(operator, source, Multigrid(operator), 1e-4, 40, start=surface).solution
    return level.centred(surface), weight

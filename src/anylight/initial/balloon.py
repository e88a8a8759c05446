r"""The balloon: the surface of least area over the silhouette that holds a given volume.

$\min \int \sqrt{1 + |\nabla z|^2}$ subject to $\int z = V$ and $z = 0$ on the silhouette (the
paper's balloon; the silhouette's condition is missing in its formula but present in the released
codes). Solved by the primal-dual Newton method of Chan, Golub and Mulet: the flux
$w = \nabla z / \sqrt{1 + |\nabla z|^2}$ is kept as a second unknown, so steep walls do no harm and
few steps suffice. Heights are in pixels and bulge to the viewer (positive).
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from anylight.geometry.domain import Domain
from anylight.kernels.minimal_surface import advance_dual, linearise
from anylight.kernels.pixel_differences import assemble, neighbours, scatter, slope_sizes
from anylight.linalg.grid import Grid
from anylight.linalg.multigrid import Multigrid, Stencil
from anylight.linalg.pcg import pcg

_MAX_STEPS = 40
"""Newton steps of a balloon, at most. (guard)"""
_LINEAR_RTOL = 0.03
"""When conjugate gradients stop. [relative residual]"""
_RTOL = 1e-2
"""Deviation of the mean curvature from a constant at which a balloon is done. (guard)"""
_SOFTEST = 15.0
"""A balloon is full when a little more pressure adds this much · P^⅛ times the volume it adds to a
flat one. A disc reaches that at its hemisphere, at any resolution; no smooth height map goes on.
(definition)"""
_MORE_THAN_ANY = 0.45
"""No silhouette holds more than the disc, whose hemisphere is 0.376. (definition)"""
_HALVINGS = 6
"""Halvings that find the largest volume of a silhouette. (guard)"""


@dataclass(frozen=True, eq=False)
class Balloon:
    """A height map and how it came about."""

    height: Float[np.ndarray, " P"]
    """Height of every pixel towards the camera, in pixels."""
    volume: Float[np.ndarray, " components"]
    """Mean height of each component over the square root of its pixel count."""
    is_capped: Bool[np.ndarray, " components"]
    """Components where a smaller volume was taken: no smooth height map holds the one asked for."""
    steps: int
    residual: float
    """Deviation of the mean curvature from a constant, relative to that constant."""


def inflate(
    domain: Domain, volume: float | Float[np.ndarray, " components"], rtol: float | None = None
) -> Balloon:
    """Inflate every component to mean height `volume` · √(its pixel count).

    A component too thin to have inner pixels stays flat. Where no smooth height map holds the
    volume, the largest that one holds is taken.
    """
    rtol = _RTOL if rtol is None else rtol
    counts = np.bincount(domain.components, minlength=domain.num_components)
    asked = np.full(domain.num_components, 0.0) + volume
    wanted = np.minimum(asked, _MORE_THAN_ANY)
    limit = _SOFTEST * counts**0.125
    balloon, softness = _minimise(domain, wanted, rtol)
    is_capped = (softness > limit) | ((asked > wanted) & (balloon.volume > 0))
    if not is_capped.any():
        return balloon
    low, high = np.where(is_capped, 0.0, wanted), wanted.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        _, softness = _minimise(domain, middle, 3 * rtol)
        is_full = is_capped & (softness > limit)
        low, high = np.where(is_full, low, middle), np.where(is_full, middle, high)
    balloon, _ = _minimise(domain, low, rtol)
    return replace(balloon, is_capped=is_capped)


def _minimise(
    domain: Domain, volume: Float[np.ndarray, " components"], rtol: float
) -> tuple[Balloon, Float[np.ndarray, " components"]]:
    """Solve for given volumes; also how much softer than a flat one each balloon is."""
    grid = Grid(domain.mask)
    near = neighbours(grid.inside, backward=False)
    free = grid.spread((~domain.is_rim).astype(np.float32))
    component, num = domain.components, domain.num_components
    counts = np.bincount(component, minlength=num)
    num_free = grid.sums(free, component, num)
    target = np.where(num_free > 0, volume * np.sqrt(counts) * counts, 0.0)

    z = np.zeros(grid.shape)
    dual = np.zeros((2, domain.size))
    form, flux = (np.zeros((rows, domain.size), np.float32) for rows in (6, 3))
    residual, step = np.inf, 0
    flat = softness = np.ones(num)
    for step in range(1, _MAX_STEPS + 1):
        linearise(z.ravel(), near, dual, form, flux)
        area_gradient = scatter(flux, near, grid.shape) * free
        pressure = grid.sums(area_gradient, component, num) / np.maximum(num_free, 1)
        unbalanced = area_gradient - grid.spread(pressure[component]) * free
        scale = np.sqrt((pressure[component] ** 2 * ~domain.is_rim).sum())
        residual = float(np.sqrt((unbalanced**2).sum()) / max(scale, 1e-300))
        if (step > 1 and residual < rtol) or not target.any():
            break
        operator = _hold(assemble(form, near, grid.shape), free).astype(np.float32)
        inverse = Multigrid(operator)
        ease = pcg(operator, -unbalanced.astype(np.float32), inverse, _LINEAR_RTOL, 60).solution
        blow = pcg(operator, free, inverse, _LINEAR_RTOL, 60).solution
        lack = target - grid.sums(z, component, num) - grid.sums(ease, component, num)
        room = grid.sums(blow, component, num)
        flat = room if step == 1 else flat
        softness = room / np.where(flat > 0, flat, 1)
        more = np.where(room > 0, lack / np.where(room > 0, room, 1), 0.0)
        del operator, inverse
        change = ease + blow * grid.spread(more[component])
        advance_dual(z.ravel(), change.ravel(), near, dual)
        z += change
    height = grid.collect(z)
    means = np.bincount(component, height, num) / np.maximum(counts, 1)
    none = np.zeros(num, bool)
    balloon = Balloon(height, means / np.sqrt(np.maximum(counts, 1)), none, step, residual)
    return balloon, softness


def _hold(operator: Stencil, free: Float[np.ndarray, "h w"]) -> Stencil:
    """Drop, in place, the rows and columns of the nodes that are held at zero."""
    d, e, s, se, sw = operator
    d *= free
    e[:, :-1] *= free[:, :-1] * free[:, 1:]
    s[:-1] *= free[:-1] * free[1:]
    se[:-1, :-1] *= free[:-1, :-1] * free[1:, 1:]
    sw[:-1, 1:] *= free[:-1, 1:] * free[1:, :-1]
    return operator


def area(domain: Domain, height: Float[np.ndarray, " P"]) -> float:
    """Discrete area of a height map: what the balloon minimises."""
    grid = Grid(domain.mask)
    near = neighbours(grid.inside, backward=False)
    slopes = np.zeros(domain.size)
    slope_sizes(grid.spread(height).ravel(), near, slopes)
    return float(np.sqrt(1 + slopes**2).sum())

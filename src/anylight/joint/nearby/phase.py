"""The phase under near lamps: after the course, which expands their light in the place.

The course knows neither what lies beyond its expansion nor how far the surface jumps at a depth
step, and near lamps see both. So shape, light and distance are found once more, together, at a
resolution that tells them; the details of finer ones stay as the course left them.
"""

from collections.abc import Generator
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.facets.resolution import block_of, refine
from anylight.geometry.camera import Orthographic
from anylight.joint.pixels.normals import pixel_normals
from anylight.joint.problem.fit import Light, raised
from anylight.joint.problem.pyramid import PyramidLevel, halve
from anylight.model.journal import page
from anylight.model.method import Progress

from .descent import descend_near
from .energy import NearModel, State

_MOST_PIXELS = 40_000
"""The resolution has at most so many pixels. [pixels]"""
_STEPS = 25
"""Newton steps, at most. [steps]"""


@dataclass(frozen=True, eq=False)
class Settled:
    """Shape, light and distance, for the photos' own pixels."""

    surface: Heights
    light: Light
    closeness: float


def settle(
    finest: PyramidLevel, surface: Heights, light: Light, order: int, share: float
) -> Generator[Progress, None, Settled]:
    """Find shape, light and distance of near lamps once more, or recall what that came to.

    Args:
        finest: the photos, and how near the lamps are thought to be.
        surface: what the course ended in.
        light: its light.
        order: of the light that is found.
        share: of the whole work that is done, for progress.
    """
    place = page("near lamps", finest, surface, light, order)
    known = None if place is None else place.recall(Settled)
    if known is not None:
        recalled: Settled = known[0]
        return recalled
    begin = perf_counter()
    levels = [finest]
    while levels[-1].size > _MOST_PIXELS:
        levels.append(halve(levels[-1]))
    begun = _coarsened(levels, surface)
    state = yield from _descended(levels[-1], begun, light, order, share)
    change = state.surface - begun
    for coarse, fine in pairwise(levels[::-1]):
        change = refine(coarse, fine, change)
    found = Settled(finest.centred(surface + change), state.light, round(float(state.closeness), 4))
    return found if place is None else place.keep(found, perf_counter() - begin, Settled)


def _descended(
    level: PyramidLevel, surface: Heights, light: Light, order: int, share: float
) -> Generator[Progress, None, State]:
    """Steps at one level, from normals of single pixels."""
    found = pixel_normals(level, light, level.fields(surface))
    smooth, _ = level.normals(*level.slopes(surface))
    turn = (found.fit.unit - smooth).T.astype(float)
    start = State(surface, turn, raised(level, light, order), level.closeness)
    steps = descend_near(NearModel(level, order), start, _STEPS)
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            state: State = end.value
            return state
        line = f"near lamps, step {step.number}: log-energy {step.energy:.4g}"
        yield Progress(share, f"{line}, at {1 / step.state.closeness:.3g} sizes", "near lamps")


def _coarsened(levels: list[PyramidLevel], surface: Heights) -> Heights:
    """A surface of the first level at the last: heights, and with them steps, are averaged."""
    if len(levels) == 1:
        return surface
    height = levels[0].at_pixels(surface).astype(float)
    for fine in levels[:-1]:
        height = _halved(fine, height)
    return levels[-1].over_pixels(height)


def _halved(level: PyramidLevel, height: Float[np.ndarray, " P"]) -> Float[np.ndarray, " B"]:
    """Mean heights of blocks of two by two pixels."""
    _, own = block_of(level.mask)
    scale = 2.0 if isinstance(level.camera, Orthographic) else 1.0
    return np.bincount(own, height) / np.bincount(own) / scale

"""Which lens, where nobody says it: what the photos, usual lenses and usual shapes support.

Perspective tells tilt and relief from the photos, so a wrong lens tells them wrongly, and the
energy alone hardly minds: surface and light make up for it. So a few lenses are tried at a low
resolution. Each is weighed by its energy, against what errors of the model do to energies; by how
usual the tilt and relief are that it leads to; and by how usual it is itself.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.geometry.camera import Camera, Perspective
from anylight.joint.problem.pyramid import PyramidLevel, halve
from anylight.joint.terms.gauge import strain
from anylight.model.capture import GUESSED_35MM
from anylight.model.journal import page, remembered
from anylight.model.method import Progress

from .plan import Plan
from .schedule import Course, solve

LENSES = (50.0, 75.0, 120.0, 250.0, 800.0, 35.0, 24.0)
"""Lenses to try, in mm on 35 mm film; each begins where its neighbour ended. (definition)"""
_PIXELS = 4000
"""They are tried on the finest resolution with at most so many pixels. (definition)"""
_DOUBT = 0.08
"""Errors of the model change the logarithm of an energy by about so much: in 18 scenes with a known
lens the true one was worse than the best by 0.05 in the median, 0.12 in the root mean square.
(definition)"""
_USUAL, _RANGE = GUESSED_35MM, 1.0
"""The usual lens, and the spread of lenses around it as a logarithm: a factor of e. (definition)"""
_STANDARD = 3.0
"""The usual lens itself is so many times as likely as its neighbours: it is the standard one.
(definition)"""
_SURE = 0.95
"""Share of the weight that the stated play covers. (definition)"""


@dataclass(frozen=True, eq=False)
class LensTrial:
    """A lens and what it leads to."""

    focal_35mm: float
    energy: float
    strain: Float[np.ndarray, " 3"]
    """Of tilt and relief, in spreads of usual objects."""
    unit: Float[np.ndarray, "3 P"]
    surface: Heights


@dataclass(frozen=True, eq=False)
class LensChoice:
    """The lens that is best supported, and what others would have made of the photos."""

    focal_35mm: float
    weights: dict[float, float]
    """Of every lens that was tried, one in all."""
    play_deg: float
    """Mean angle by which the normals differ from those of other lenses that are possible."""

    @property
    def possible(self) -> tuple[float, float]:
        """The shortest and the longest lens, nearly all of the weight between them."""
        lenses = sorted(self.weights)
        sums = np.cumsum([self.weights[lens] for lens in lenses])
        rest = (1 - _SURE) / 2
        low, high = np.searchsorted(sums, rest), np.searchsorted(sums, 1 - rest)
        return lenses[low], lenses[min(int(high), len(lenses) - 1)]


def choose_lens(finest: PyramidLevel, plan: Plan) -> Generator[Progress, None, LensChoice]:
    """Try several lenses; the level's own camera stands for the usual one.

    Args:
        finest: the photos at full resolution behind a guessed lens.
        plan: of the course.
    """
    level = finest
    while level.size > _PIXELS:
        level = halve(level)
    tried: dict[float, LensTrial] = {}
    for number, lens in enumerate(LENSES):
        yield Progress(0.0, f"which lens: {lens:g} mm, {number + 1} of {len(LENSES)}", "lens")
        near = min(tried, key=lambda other: abs(np.log(other / lens)), default=None)
        begun = (level, plan, lens, None if near is None else tried[near])
        tried[lens] = remembered(page("lens", *begun), partial(_try, *begun), (LensTrial,))
    return weighed(tuple(tried.values()))


def with_lens(guess: Camera, focal_35mm: float) -> Perspective:
    """A guessed camera with another lens."""
    assert isinstance(guess, Perspective)
    longer = focal_35mm / GUESSED_35MM
    return Perspective((guess.focal_px[0] * longer, guess.focal_px[1] * longer), guess.centre_px)


def _try(level: PyramidLevel, plan: Plan, lens: float, near: LensTrial | None) -> LensTrial:
    """What a lens leads to, from where a neighbouring one ended."""
    behind = replace(level, camera=with_lens(level.camera, lens))
    given = None
    if near is not None:
        given, plan = near.surface * (near.focal_35mm / lens), replace(plan, rivals=False)
    course = _run_out(solve(behind, plan, (), given))
    state = course.state
    return LensTrial(
        lens, state.energy, strain(behind, state.fit.unit), state.fit.unit, state.surface
    )


def _run_out(steps: Generator[object, None, Course]) -> Course:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            course: Course = end.value
            return course


def weighed(tried: tuple[LensTrial, ...]) -> LensChoice:
    """The lens in the middle of those that are possible, and how far they are apart."""
    lenses = np.log([trial.focal_35mm for trial in tried])
    energy = np.log([max(trial.energy, 1e-300) for trial in tried])
    shape = np.array([float(trial.strain @ trial.strain) for trial in tried])
    score = -energy / _DOUBT - shape / 2 - ((lenses - np.log(_USUAL)) / _RANGE) ** 2 / 2
    score = np.where(np.isclose(lenses, np.log(_USUAL)), score + np.log(_STANDARD), score)
    score = np.where(np.isfinite(score), score, -np.inf)
    weights = np.exp(score - score.max())
    weights /= weights.sum()
    rising = np.argsort(lenses)
    middle = rising[int(np.searchsorted(np.cumsum(weights[rising]), 0.5))]
    chosen = tried[int(middle)]
    cosines = [np.clip((chosen.unit * trial.unit).sum(axis=0), -1, 1) for trial in tried]
    apart = np.array([float(np.rad2deg(np.arccos(cosine)).mean()) for cosine in cosines])
    order = np.argsort(apart)
    covered = np.searchsorted(np.cumsum(weights[order]), _SURE)
    play = float(apart[order][min(int(covered), len(order) - 1)])
    place = int(np.flatnonzero(rising == middle)[0])
    beside = [rising[k] for k in (place - 1, place + 1) if 0 <= k < len(rising)]
    play = max([play, *(float(apart[k]) / 2 for k in beside)])  # lenses between two that were tried
    named = {trial.focal_35mm: float(w) for trial, w in zip(tried, weights, strict=True)}
    return LensChoice(chosen.focal_35mm, named, play)

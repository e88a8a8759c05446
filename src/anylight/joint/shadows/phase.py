"""The phase of the solver that knows about cast shadows: after the course, from coarse to fine.

It begins where the course ended. At a low resolution two explanations compete, one whose surface
hides light from itself and one whose surface does not; if hiding explains the photos better, it
goes on to the next resolution and ends with the normal of every pixel of the photos.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float, Int

from anylight.geometry.camera import Orthographic
from anylight.geometry.domain import Domain
from anylight.integration.jumps import step_heights
from anylight.model.capture import Capture
from anylight.model.journal import page, remembered
from anylight.model.method import Progress
from anylight.sky import Sky, lamp_directions

from .descent import Round
from .energy import FullModel, State
from .facing import Faces, Lights, face
from .levels import Blocks, finer, first_state, has_hard_lamps, reduced
from .memory import descended, lit_up

MIN_PHOTOS = 8
"""Fewer leave too much open: paint and shape explain every shadow. (definition)"""
_MOST_PIXELS = 10_000
"""The finest resolution at which all unknowns are found together has at most so many pixels.
[pixels]"""
_LEAST_PIXELS = 200
"""A resolution with fewer pixels has no horizons worth the name. (guard)"""
_MOST_PHOTOS = 24
"""So many photos, evenly chosen, decide about the shape. [photos]"""
_FIRST_LIGHT = 150
"""Steps that find the first light. [steps]"""
_LATER_LIGHT = 60
"""Steps that adapt the light to the next resolution. [steps]"""
_COARSE_STEPS = 300
"""Steps at the lower resolution. [steps]"""
_FINE_STEPS = 300
"""Steps at the finer resolution. [steps]"""
_EXPLAINED = 0.005
"""Photos that are explained so well show no shadows. [share of white]"""
_MARGIN = 0.1
"""By how much a surface that hides light must lower the (logarithmic) energy to be believed; under
hard lamps, which only this model explains sample by sample, by how much it may raise it.
[log-energy]"""
_ALIKE = 10.0
"""So many samples of a pixel count as one: residuals of a model that is not quite right are alike.
[samples]"""
_HIDDEN_DEG = 7.0
"""Spread of a normal that sees half of its sky, from errors of the horizons. [degrees]"""
_SHARE = (0.1, 0.2, 0.7, 1.0)
"""Share of the phase's work done after every part. (progress)"""


@dataclass(frozen=True, eq=False)
class Shadowed:
    """An explanation that cast shadows are part of, for the photos' own pixels."""

    faces: Faces
    height: Float[np.ndarray, " P"]
    lamps: Float[np.ndarray, "M C D"]
    """Strength of every lamp in every photo."""
    bounce: Float[np.ndarray, " C"]
    """What hidden directions give, relative to what the surroundings radiate."""
    noise: float
    """Root of the mean squared residual, relative to white."""
    num_samples: int
    """Of every pixel."""

    def spread_deg(self) -> Float[np.ndarray, " P"]:
        """Standard deviation of every normal in degrees, errors of the model included.

        Residuals of a model that is not quite right are alike in many photos and over many
        pixels, so a pixel's samples count as few; and where little of the sky is seen, small
        errors of the horizons turn normals far.
        """
        faces = self.faces
        usual = float(np.median(faces.misfit))
        variance = (faces.misfit + usual) / self.num_samples * _ALIKE
        own = np.rad2deg(np.sqrt(variance * faces.spread))
        hidden = _HIDDEN_DEG * (1 - faces.openness) / np.maximum(faces.openness, 0.05)
        return np.minimum(np.hypot(own, hidden), 90.0)


@dataclass(frozen=True, eq=False)
class Seen:
    """What the phase came to."""

    verdict: str
    """One sentence."""
    found: Shadowed | None = None
    energies: tuple[tuple[str, float], ...] = ()
    """Of the full model, by name of the explanation."""


def see(
    capture: Capture,
    white: float,
    height: Float[np.ndarray, " P"],
    unit: Float[np.ndarray, "3 P"],
    albedo: Float[np.ndarray, "C P"],
    noise: float,
) -> Generator[Progress, None, Seen]:
    """Look for cast shadows, and explain them if there are any.

    Args:
        capture: the photos.
        white: stored value that becomes one.
        height: log-depth (orthographic: depth) that the course ended in.
        unit: its normals.
        albedo: its paint.
        noise: usual residual that it left, relative to white.
    """
    if noise < _EXPLAINED:
        return Seen("the photos are explained without cast shadows.")
    if capture.num_photos < MIN_PHOTOS:
        return Seen(f"cast shadows were not looked for: that takes {MIN_PHOTOS} photos or more.")
    factor = _factor(np.asarray(capture.mask))
    some = capture.some(_chosen(capture.num_photos))
    begin = (height, unit, albedo)
    coarse = reduced(some, white, 2 * factor)
    if coarse.facets.size < _LEAST_PIXELS:
        return Seen("cast shadows were not looked for: the object has too few pixels.")
    directions = lamp_directions()
    start = first_state(
        coarse, Blocks(np.asarray(capture.mask), 2 * factor), *begin, len(directions)
    )
    plain = FullModel(
        coarse, Sky(coarse.facets.mask, coarse.facets.camera, directions, hides=False)
    )
    lit = lit_up(plain, start, _FIRST_LIGHT)
    open_ = yield from _told(
        descended(plain, lit, _COARSE_STEPS), "without shadows", 0.0, _SHARE[0]
    )
    full = FullModel(coarse, Sky(coarse.facets.mask, coarse.facets.camera, directions))
    lit = lit_up(full, start, _FIRST_LIGHT)
    hiding = yield from _told(descended(full, lit, _COARSE_STEPS), "with shadows", *_SHARE[:2])
    energies: tuple[tuple[str, float], ...] = (
        ("open", open_.energy.total),
        ("hiding", hiding.energy.total),
    )
    hard = has_hard_lamps(coarse)
    margin = -_MARGIN if hard else _MARGIN
    if not hiding.energy.total < open_.energy.total - margin:
        return Seen("the photos show no cast shadows that the shape explains.", energies=energies)
    fine = reduced(some, white, factor)
    model = FullModel(fine, Sky(fine.facets.mask, fine.facets.camera, directions))
    raised = finer(hiding.state, coarse, fine)
    model.look_around(raised)
    lit = lit_up(model, raised, _LATER_LIGHT)
    before = FullModel(fine, Sky(fine.facets.mask, fine.facets.camera, directions, hides=False))
    blocks = Blocks(np.asarray(capture.mask), factor)
    course = before(
        lit_up(before, first_state(fine, blocks, *begin, len(directions)), _LATER_LIGHT)
    ).total
    ended = yield from _told(descended(model, lit, _FINE_STEPS), "with shadows", *_SHARE[1:3])
    energies = (*energies, ("course", course), ("shadows", ended.energy.total))
    if not ended.energy.total < course:
        return Seen("the photos show no cast shadows that the shape explains.", energies=energies)
    yield Progress(_SHARE[2], "normals of single pixels under the lamps", "shadows")
    lights = _all_lights(capture, white, factor, ended, model)
    faces, depths = _finish(capture, white, blocks, ended, lights)
    strength = lights.strength.reshape(len(directions), capture.num_channels, capture.num_photos)
    found = Shadowed(
        faces,
        depths,
        strength.transpose(2, 1, 0).astype(float),
        np.exp(ended.state.bounce).astype(float),
        float(np.sqrt(ended.energy.misfit.mean())),
        capture.num_channels * capture.num_photos,
    )
    told = "single hard lamps and their shadows" if hard else "cast shadows"
    return Seen(f"{told} are part of the explanation.", found, energies)


def _factor(mask: np.ndarray) -> int:
    """Side of the squares of pixels that are averaged at the finest resolution."""
    factor = 1
    while np.count_nonzero(Blocks(mask, factor).coarse) > _MOST_PIXELS:
        factor *= 2
    return factor


def _chosen(num: int) -> Int[np.ndarray, " m"]:
    """Numbers of the photos that decide about the shape."""
    return np.unique(np.linspace(0, num - 1, min(num, _MOST_PHOTOS)).round().astype(int))


def _told(
    rounds: Generator[Round, None, Round], what: str, begin: float, end: float
) -> Generator[Progress, None, Round]:
    """Rounds as progress."""
    while True:
        try:
            done = next(rounds)
        except StopIteration as last:
            return last.value
        share = begin + (end - begin) * done.share
        yield Progress(share, f"{what}, step {done.step}: log-energy {done.energy.total:.4g}", what)


def _all_lights(
    capture: Capture, white: float, factor: int, ended: Round, model: FullModel
) -> Lights:
    """Lamps of every photo; the shape stays."""
    state, misfit, around = ended.state, ended.energy.misfit, model.around
    if capture.num_photos > model.scene.num_photos:
        scene = reduced(capture, white, factor)
        usual = state.light.reshape(len(state.light), -1, model.scene.num_photos).mean(axis=2)
        light = np.repeat(usual, capture.num_photos, axis=1)
        every = FullModel(scene, model.sky)
        every.look_around(state)
        around = every.around
        state = lit_up(
            every,
            State(state.surface, state.turn, state.paint, light, state.bounce),
            _FIRST_LIGHT,
            keep=True,
        )
        misfit = every(state).misfit
    assert around is not None
    counted = misfit + misfit.mean()
    around = np.repeat(np.exp(state.bounce), capture.num_photos) * around
    return Lights(
        model.sky.lamps,
        np.exp(state.light),
        float(np.median(counted)) / counted,
        around.astype(np.float32),
    )


def _finish(
    capture: Capture,
    white: float,
    blocks: Blocks,
    ended: Round,
    lights: Lights,
) -> tuple[Faces, Float[np.ndarray, " P"]]:
    """Normals, albedo and heights of the photos' own pixels."""
    domain = Domain(np.asarray(capture.mask))
    scale = blocks.factor if isinstance(capture.camera, Orthographic) else 1.0
    height = scale * _spread_out(blocks, ended.energy.height[:, None])[:, 0]
    unit = _spread_out(blocks, ended.energy.unit)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    unit = np.ascontiguousarray(unit.T, np.float32)
    albedo = np.exp(ended.state.paint)[blocks.own].T
    faces = face(capture, white, height, unit, albedo, lights, blocks.own)
    known = (height, np.ones(domain.size))
    place = page("heights", capture.camera, domain, faces.unit, known)
    heights = partial(step_heights, capture.camera, domain, faces.unit, known=known)
    return faces, remembered(place, heights)


def _spread_out(blocks: Blocks, values: Float[np.ndarray, "B c"]) -> Float[np.ndarray, "P c"]:
    """Values of a lower resolution at the photos' pixels, interpolated within the object."""
    mask = blocks.coarse
    image = np.zeros((*mask.shape, values.shape[1]))
    image[mask] = values
    rows, columns = np.nonzero(blocks.mask)
    r = (rows + 0.5) / blocks.factor - 0.5
    c = (columns + 0.5) / blocks.factor - 0.5
    total, weight = np.zeros((len(rows), values.shape[1])), np.zeros(len(rows))
    for dr in (0, 1):
        for dc in (0, 1):
            i, j = np.floor(r).astype(int) + dr, np.floor(c).astype(int) + dc
            share = (1 - np.abs(r - i)) * (1 - np.abs(c - j))
            i, j = np.clip(i, 0, mask.shape[0] - 1), np.clip(j, 0, mask.shape[1] - 1)
            share = share * mask[i, j]
            total += share[:, None] * image[i, j]
            weight += share
    return total / weight[:, None]

"""Downhill through the full model's energy: momentum, every unknown at its own pace.

Light, paint and surface make up for each other (a valley), so no unknown may wait for another. The
surface is changed at all resolutions at once, so that its tilt moves as fast as its details. Steps
are taken in rounds; a round counts only if the energy fell.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights

from .energy import Energy, FullModel, State

_PACE_SURFACE = 0.05
"""Change of slope per step, at every resolution of the surface. [slope]"""
_PACE_TURN = 0.05
"""Change of a pixel's normal per step. [radians]"""
_PACE_PAINT = 0.05
"""Change of the paint per step. [log-albedo]"""
_PACE_LIGHT = 0.1
"""Change of a lamp per step. [log-strength]"""
_PACE_BOUNCE = 0.06
"""Change of the bounce per step. [log-strength]"""
_MEMORY = (0.9, 0.999)
"""How long the mean of the derivatives and of their squares remember. (definition)"""
_TINY = 1e-12
"""Derivative that counts as none. (guard)"""
_RESOLUTIONS = 5
"""Resolutions at which the surface is changed, each half of the one before. [resolutions]"""
_ROUND = 25
"""Steps of a round. (definition)"""


_PATIENCE = 3
"""Rounds in a row that may fail to lower the energy before the pace is halved. (definition)"""


@dataclass(frozen=True, eq=False)
class Round:
    """What a round came to."""

    state: State
    energy: Energy
    step: int
    accepted: bool
    share: float = 0.0
    """Of the steps taken."""


@dataclass(frozen=True, eq=False)
class Way:
    """Where a descent is between two steps: all that it takes to go on."""

    step: int
    values: tuple[np.ndarray, ...]
    means: tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]
    slower: float
    missed: int
    best: Round


def _hats(fine: int, step: int) -> Float[np.ndarray, "fine coarse"]:
    """Linear interpolation from every `step`-th place."""
    coarse = (fine - 1) // step + 2
    place = np.arange(fine) / step
    low = np.floor(place).astype(int)
    out = np.zeros((fine, coarse), np.float32)
    out[np.arange(fine), low] = 1 - (place - low)
    out[np.arange(fine), low + 1] += place - low
    return out


class Pyramid:
    """Changes of a surface at several resolutions."""

    def __init__(self, shape: tuple[int, int], focal: float) -> None:
        self._hats = [
            (_hats(shape[0], 1 << k), _hats(shape[1], 1 << k)) for k in range(1, _RESOLUTIONS)
        ]
        self._shape = shape
        self.paces = [_PACE_SURFACE * (1 << k) / focal for k in range(_RESOLUTIONS)]

    def zeros(self) -> list[np.ndarray]:
        """No change."""
        return [np.zeros(self._shape)] + [
            np.zeros((rows.shape[1], columns.shape[1])) for rows, columns in self._hats
        ]

    def up(self, changes: list[np.ndarray]) -> Heights:
        """The change of the surface."""
        total = changes[0].copy()
        for (rows, columns), change in zip(self._hats, changes[1:], strict=True):
            total += rows @ change @ columns.T
        return total

    def down(self, by_surface: Heights) -> list[np.ndarray]:
        """Adjoint of `up`."""
        return [by_surface] + [rows.T @ by_surface @ columns for rows, columns in self._hats]


class _Adam:
    """Means of derivatives and of their squares."""

    def __init__(self, values: list[np.ndarray]) -> None:
        self._mean = [np.zeros_like(v) for v in values]
        self._square = [np.zeros_like(v) for v in values]
        self._count = 0

    @property
    def means(self) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Both, for somebody who goes on from here."""
        return tuple(self._mean), tuple(self._square)

    def go_on(self, means: tuple[tuple[np.ndarray, ...], ...], count: int) -> None:
        """Go on from both after so many steps."""
        self._mean, self._square = map(list, means)
        self._count = count

    def step(self, derivatives: list[np.ndarray], paces: list[float]) -> list[np.ndarray]:
        """The change that a step makes."""
        slow, slower = _MEMORY
        self._count += 1
        changes = []
        for k, (given, pace) in enumerate(zip(derivatives, paces, strict=True)):
            self._mean[k] = slow * self._mean[k] + (1 - slow) * given
            self._square[k] = slower * self._square[k] + (1 - slower) * given * given
            size = np.sqrt(self._square[k] / (1 - slower**self._count)) + _TINY
            changes.append(-(pace / (1 - slow**self._count)) * self._mean[k] / size)
        return changes


def descend(
    model: FullModel,
    start: State,
    num_steps: int,
    pace: float = 1.0,
    *,
    way: Way | None = None,
    passing: Callable[[Way], object] | None = None,
) -> Generator[Round, None, Round]:
    """Steps in rounds; the pace falls to nothing in the second half.

    Args:
        model: of one resolution.
        start: where to begin.
        num_steps: to take.
        pace: relative to the usual.
        way: go on from here instead.
        passing: told before every round where the descent is.
    """
    pyramid = Pyramid(start.surface.shape, model.focal)
    base = start.surface
    values = [*pyramid.zeros(), start.turn, start.paint, start.light, start.bounce]
    paces = [*pyramid.paces, _PACE_TURN, _PACE_PAINT, _PACE_LIGHT, _PACE_BOUNCE]
    adam = _Adam(values)

    def made() -> State:
        surface = base + pyramid.up(values[:_RESOLUTIONS])
        return State(surface, *values[_RESOLUTIONS:])

    if way is None:
        state, slower, missed, first = start, 1.0, 0, 0
        best = Round(start, model(start), 0, True)
    else:
        values, slower, missed, best = [*way.values], way.slower, way.missed, way.best
        adam.go_on(way.means, way.step)
        state, first = made(), way.step
    for k in range(first, num_steps):
        if passing is not None and k > first and k % _ROUND == 0:
            passing(Way(k, tuple(values), adam.means, slower, missed, best))
        energy = model(state)
        if k and k % _ROUND == 0:
            if energy.total < best.energy.total:
                best, missed = Round(state, energy, k, True, k / num_steps), 0
                yield best
            else:
                missed += 1
                if missed == _PATIENCE:
                    slower, missed = 0.5 * slower, 0
                yield Round(best.state, best.energy, k, False, k / num_steps)
        slope = model.gradient(state, energy)
        fall = slower * pace * min(1.0, 2 * (1 - k / num_steps))
        changes = adam.step(
            [*pyramid.down(slope.surface), slope.turn, slope.paint, slope.light, slope.bounce],
            [fall * p for p in paces],
        )
        values = [value + change for value, change in zip(values, changes, strict=True)]
        state = made()
    energy = model(state)
    if energy.total < best.energy.total:
        best = Round(state, energy, num_steps, True, 1.0)
    return best


def light_up(model: FullModel, start: State, num_steps: int, *, keep: bool = False) -> State:
    """Light and paint for a surface that stays.

    Args:
        model: of one resolution.
        start: where to begin.
        num_steps: to take.
        keep: keep the paint as well.
    """
    values = [start.paint, start.light, start.bounce]
    adam = _Adam(values)
    energy = model(start)
    for k in range(num_steps):
        state = State(start.surface, start.turn, *values)
        energy = model.relit(state, energy)
        fall = min(1.0, 2 * (1 - k / num_steps))
        held = (not keep) * fall
        changes = adam.step(
            list(model.light_gradient(state, energy)),
            [held * _PACE_PAINT, fall * _PACE_LIGHT, held * _PACE_BOUNCE],
        )
        values = [value + change for value, change in zip(values, changes, strict=True)]
    return State(start.surface, start.turn, *values)

"""A Gauss-Newton step of surface, normals, light and closeness under near lamps.

Albedo and turns of single pixels are eliminated pixel by pixel. What is left is never formed:
conjugate gradients multiply by it, preconditioned by multigrid for the surface and by a small dense
system of light, closeness and smooth changes of the surface, which can make up for each other.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from anylight.facets.grid import Heights
from anylight.facets.modes import smooth_modes
from anylight.joint.problem.fit import Light
from anylight.kernels import facets
from anylight.linalg.multigrid import Multigrid
from anylight.linalg.pcg import Linear, descend

from .coarse import NearCoarse
from .energy import Lit, NearModel, State, settled

_SAMPLE = 2048
"""Pixels that the couplings of light and smooth changes are estimated from. (memory)"""
_LIGHT_SHARE = 0.1
"""Damping of the light, relative to that of the surface, as in `step.newton`. (definition)"""
_FURTHEST = 0.2
"""A step turns no pixel further. (guard)"""


class Unknowns(NamedTuple):
    """What conjugate gradients find, or a derivative by it."""

    surface: Heights
    light: Light
    closeness: Float[np.ndarray, " 1"]
    """Its logarithm."""


class _Space:
    """Surface, light and closeness as one vector."""

    def copy(self, a: Unknowns) -> Unknowns:
        return Unknowns(*(part.copy() for part in a))

    def dot(self, a: Unknowns, b: Unknowns) -> float:
        return sum(float((one * other).sum()) for one, other in zip(a, b, strict=True))

    def advance(self, along: float, p: Unknowns, ap: Unknowns, x: Unknowns, r: Unknowns) -> float:
        for own, step in zip(x, p, strict=True):
            own[:] += along * step
        for left, gone in zip(r, ap, strict=True):
            left[:] -= along * gone
        return float(np.sqrt(self.dot(r, r)))

    def combine(self, z: Unknowns, share: float, p: Unknowns) -> None:
        for own, new in zip(p, z, strict=True):
            own[:] = share * own + new


@dataclass(frozen=True, eq=False)
class _Turns:
    """Turns of single pixels, eliminated."""

    across: Float[np.ndarray, "P 2 3"]
    """Two directions across every normal."""
    changes: Float[np.ndarray, "2 P N"]
    """How the samples change with turns along them."""
    inverse: Float[np.ndarray, "P 2 2"]
    """Of their curvature."""
    gradient: Float[np.ndarray, "P 2"]
    taken: Float[np.ndarray, "2 P N"]
    """Orthonormal changes (of weighted samples) that turns make up for."""


class NearSystem:
    """The linearised problem at a state."""

    def __init__(self, model: NearModel, lit: Lit, *, only_light: bool = False) -> None:
        self._only_light = only_light
        level, shape = model.level, lit.shape
        self._level, self._lit = level, lit
        self.state = settled(lit.state, shape)
        self._shape = lit.shading.shape
        num = self._shape[1] * self._shape[2]
        changes = model.lamps.changes(shape.unit, shape.place, self.state.light)
        self._paint = np.repeat(lit.albedo, self._shape[2], axis=1).astype(np.float32)
        length = np.sqrt(np.maximum((lit.shading**2).sum(axis=2, keepdims=True), 1e-12))
        self._towards = lit.shading / length
        self._weight = (level.cover / (1 + lit.misfit / lit.scale)).astype(np.float32)
        along = level.turns(shape.smooth, shape.length)
        self._by_p, self._by_q = (
            self._through(changes.by_unit, _across(shape.unit, turn.T)) for turn in along
        )
        self._by_height = self._through(changes.by_place, shape.moves)
        self._by_closeness = self._through(changes.by_place, shape.place)
        self._turns = self._eliminate(changes.by_unit, model.hold(lit))
        residual = lit.residual.reshape(-1, num).astype(np.float32)
        answer = np.einsum("pij,pj->pi", self._turns.inverse, self._turns.gradient)
        left = residual - np.einsum("ipk,pi->pk", self._turns.changes, answer.astype(np.float32))
        self.gradient = self._moving(self._back(self._weight[:, None] * left))

    def _moving(self, change: Unknowns) -> Unknowns:
        """The part of a change that may be made."""
        if self._only_light:
            change.surface[:], change.closeness[:] = 0, 0
        return change

    def _without_albedo(self, samples: Float[np.ndarray, "P N"]) -> Float[np.ndarray, "P N"]:
        """Changes of the samples that no albedo makes up for."""
        each = samples.reshape(self._shape)
        share = (each * self._towards).sum(axis=2, keepdims=True)
        return (each - share * self._towards).reshape(samples.shape)

    def _through(
        self, changes: Float[np.ndarray, "3 P N"], vectors: Float[np.ndarray, "P 3"]
    ) -> Float[np.ndarray, "P N"]:
        """Changes of the samples along a vector of every pixel."""
        total = sum(
            change * vectors[:, a : a + 1].astype(np.float32) for a, change in enumerate(changes)
        )
        return self._without_albedo(np.asarray(total) * self._paint)

    def _eliminate(
        self, by_unit: Float[np.ndarray, "3 P N"], held: Float[np.ndarray, " P"]
    ) -> _Turns:
        level, lit, shape = self._level, self._lit, self._lit.shape
        across = _tangents(shape.unit)
        changes = np.stack([self._through(by_unit, across[:, i]) for i in range(2)])
        weight = self._weight.astype(float)
        matrix = np.empty((level.size, 2, 2))
        gradient = held[:, None] * np.einsum("pia,pa->pi", across, shape.turn)
        residual = lit.residual.reshape(level.size, -1)
        for i in range(2):
            gradient[:, i] += weight * (changes[i] * residual).sum(axis=1)
            for j in range(2):
                matrix[:, i, j] = weight * (changes[i] * changes[j]).sum(axis=1) + held * (i == j)
        inverse = np.linalg.inv(matrix)
        root = np.linalg.cholesky(inverse) * np.sqrt(weight)[:, None, None]
        if self._only_light:
            inverse, root = np.zeros_like(inverse), np.zeros_like(root)
        taken = np.einsum("ipk,pij->jpk", changes, root.astype(np.float32))
        return _Turns(across, changes, inverse, gradient, taken)

    def _left(self, samples: Float[np.ndarray, "P N"]) -> Float[np.ndarray, "P N"]:
        """Changes that no turn makes up for."""
        out = samples.copy()
        for own in self._turns.taken:
            out -= own * (own * samples).sum(axis=1, keepdims=True)
        return out

    def _forth(self, change: Unknowns) -> Float[np.ndarray, "P N"]:
        """Changes of the samples."""
        p, q, height = self._moved(change.surface)
        out = self._paint * (self._lit.response @ change.light.astype(np.float32))
        out = self._without_albedo(out)
        for by, amount in ((self._by_p, p), (self._by_q, q), (self._by_height, height)):
            out += by * amount[:, None]
        return out + np.float32(change.closeness[0]) * self._by_closeness

    def _moved(self, surface: Heights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Slopes and heights of the pixels, whose mean does not count."""
        p, q = self._level.slopes(surface)
        height = self._level.at_pixels(surface)
        height = height - height.mean()
        return p.astype(np.float32), q.astype(np.float32), height.astype(np.float32)

    def _back(self, samples: Float[np.ndarray, "P N"]) -> Unknowns:
        """Adjoint of `_forth`."""
        level = self._level
        p, q, height = (
            (by * samples).sum(axis=1, dtype=float)
            for by in (self._by_p, self._by_q, self._by_height)
        )
        surface = level.scatter(p, q) + level.from_pixels(height - height.mean())
        light = (self._lit.response.T @ (self._paint * samples)).astype(float)
        closeness = np.array([(self._by_closeness * samples).sum(dtype=float)])
        return Unknowns(surface, light, closeness)

    def multiply(self, change: Unknowns) -> Unknowns:
        """Jᵀ W J with damping."""
        level = self._level
        surface, light, closeness = self._back(
            self._weight[:, None] * self._left(self._forth(change))
        )
        facets.hold(
            change.surface, self._edge, level.cover.astype(float), level.here, level.rows, surface
        )
        return Unknowns(surface, light + self._light_damping * change.light, closeness)

    def damp(self, damping: float) -> None:
        """Set the damping and build the preconditioner for it."""
        level, weight = self._level, self._weight.astype(float)
        pairs = (self._by_p, self._by_p), (self._by_p, self._by_q), (self._by_q, self._by_q)
        blocks = [weight * self._product(*pair) for pair in pairs]
        height = weight * self._product(self._by_height, self._by_height)
        self._edge = damping * float((blocks[0] + blocks[2]).mean() / 2)
        operator = level.assemble(np.stack(blocks), self._edge * level.cover.astype(float))
        operator.centre[:] += level.from_pixels(height)
        operator.centre[level.grid.inside] += 1e-9 * operator.centre.max()
        self._inverse = Multigrid(operator)
        self._light_damping = self._coarse.damp(_LIGHT_SHARE * damping)

    def _product(
        self, one: Float[np.ndarray, "P N"], other: Float[np.ndarray, "P N"]
    ) -> Float[np.ndarray, " P"]:
        """Of two changes of the samples, turns making up for what they can."""
        total = (one * other).sum(axis=1, dtype=float)
        for own in self._turns.taken:
            total -= (own * one).sum(axis=1, dtype=float) * (own * other).sum(axis=1, dtype=float)
        return total

    @cached_property
    def _modes(self) -> Float[np.ndarray, "m h w"]:
        """Smooth changes of the surface."""
        modes = smooth_modes(self._level, self.state.surface)
        out = np.zeros((len(modes), *self.state.surface.shape))
        for amounts, mode in zip(np.eye(len(modes)), out, strict=True):
            modes.add(amounts, mode)
        return out

    @cached_property
    def _coarse(self) -> NearCoarse:
        size = self._level.size
        rng = np.random.default_rng(0)
        some = np.sort(rng.choice(size, min(size, _SAMPLE), replace=False))
        changes = []
        for mode in self._modes:
            p, q, height = (part[some, None] for part in self._moved(mode))
            by_slopes = p * self._by_p[some] + q * self._by_q[some]
            changes.append(by_slopes + height * self._by_height[some])
        changes.append(self._by_closeness[some])
        root = np.sqrt(self._weight[some] * (size / len(some)))[:, None]
        return NearCoarse(
            np.stack(changes) * root,
            self._lit.response[some] * root,
            self._lit.albedo[some].astype(np.float32),
            np.concatenate(
                [self._towards[some].reshape(1, len(some), -1), self._turns.taken[:, some]]
            ),
        )

    def _precondition(self, source: Unknowns) -> Unknowns:
        surface = self._inverse(source.surface).copy()
        wanted = np.append(np.tensordot(self._modes, source.surface, 2), source.closeness)
        amounts, light = self._coarse.solve(wanted, source.light)
        surface += np.tensordot(amounts[:-1], self._modes, 1)
        return self._moving(Unknowns(surface, light, amounts[-1:]))

    def solve(self, rtol: float, max_iterations: int) -> State:
        """The state that a step leads to."""
        space, state = _Space(), self.state
        source = Unknowns(*(-part for part in self.gradient))
        found = Unknowns(*(np.zeros_like(part) for part in source))

        def multiply(p: Unknowns) -> tuple[Unknowns, float]:
            product = self.multiply(p)
            return product, space.dot(p, product)

        system = Linear(multiply, self._precondition)
        descend(space, system, found, source, max_iterations, relative=rtol)
        changed = self._forth(found) * self._weight[:, None]
        wanted = self._turns.gradient + (self._turns.changes * changed).sum(axis=2).T
        turn = -np.einsum("pij,pj->pi", self._turns.inverse, wanted)
        size = np.linalg.norm(turn, axis=1, keepdims=True)
        turn *= np.minimum(1, _FURTHEST / np.maximum(size, 1e-12))
        return State(
            self._level.centred(state.surface + found.surface),
            state.turn + np.einsum("pi,pia->pa", turn, self._turns.across),
            state.light + found.light,
            state.closeness * float(np.exp(found.closeness[0])),
        )


def _across(
    unit: Float[np.ndarray, "P 3"], vectors: Float[np.ndarray, "P 3"]
) -> Float[np.ndarray, "P 3"]:
    """The part of vectors that turns a normal."""
    return vectors - unit * (vectors * unit).sum(axis=1, keepdims=True)


def _tangents(unit: Float[np.ndarray, "P 3"]) -> Float[np.ndarray, "P 2 3"]:
    """Two unit vectors across every normal."""
    other = np.where(np.abs(unit[:, :1]) < 0.7, [[1.0, 0, 0]], [[0, 1.0, 0]])
    first = np.cross(unit, other)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(unit, first)], axis=1)

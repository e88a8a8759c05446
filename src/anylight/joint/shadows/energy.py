"""The energy of the full model: light of lamps over horizons, paint, and a surface that ties them.

    E = mean over photos of log(misfit) + paint's variation + what normals explain of the paint
        + normals against the surface + gauge prior

The logarithm makes the terms comparable whatever the scale of the residual: where the photos are
explained well, paint and surface must give way to them, where they are not, they hold. Photos whose
shadows no horizon explains count less than others.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from anylight.facets.grid import FacetGrid, Heights
from anylight.geometry.camera import Perspective
from anylight.joint.terms.gauge import FULL_WEIGHT, in_view, out_of_view, spread, target
from anylight.kernels import lamps
from anylight.sky import Sky, Skyline, surroundings
from anylight.threads import chunks, in_parallel

SCALE = 0.03
"""Scale of the robust misfit of a sample. [share of white]"""
_FLOOR = 1e-8
"""Squared residual that counts as none. (guard)"""
_SHARED = 0.3
"""Every photo's misfit counts as if it had so much of the mean misfit too: else one photo could be
explained perfectly at the cost of all others. [share]"""
_PAINT = 5.0
"""Weight of the variation of the paint. [times]"""
_EDGE = 0.1
"""Change of log-albedo beyond which an edge of the paint costs little more. [log-albedo]"""
_SMOOTH = 1e-4
"""Squared change of log-albedo below which the variation is quadratic. [squared log-albedo]"""
_DISTINCT = 0.5
"""Weight of what the normals explain of the paint: paint does not follow the shape. [times]"""
_EVEN = 0.05**2
"""Variance of the paint that counts as none. [squared log-albedo]"""
_TIE = 30.0
"""Weight of the normals' deviation from the surface. [times]"""
_TURN = 0.2
"""Deviation beyond which a pixel lies beside a depth step. [radians]"""
_CHECKERBOARD = 0.003
"""What holds the checkerboard that no slope sees. (guard)"""
_UNSEEN = 0.05
"""Sine of the elevation up to which a horizon is nothing to look at. (guard)"""
_ON_THE_WAY = (0.4, 0.7, 1.0)
"""Shares of the way to the horizon at which the surroundings are looked at. (definition)"""
_ROWS = 512
"""Pixels whose products are made together. (memory)"""
_PARTS = 16
"""Shares of the pixels whose misfits are summed apart. (definition)"""


@dataclass(frozen=True, eq=False)
class Scene:
    """The photos of one resolution, sample by sample."""

    facets: FacetGrid
    photos: Float[np.ndarray, "P CM"]
    """Channel by channel."""
    weight: Float[np.ndarray, "P CM"]
    """How much a sample counts."""
    num_channels: int

    @property
    def num_photos(self) -> int:
        """Number M."""
        return self.photos.shape[1] // self.num_channels

    @cached_property
    def surroundings(self) -> Float[np.ndarray, "P CM"]:
        """What the object around every pixel radiates: the photos, blurred."""
        return surroundings(self.facets.mask, self.photos)


@dataclass(frozen=True, eq=False)
class State:
    """Everything unknown (or the derivative by it)."""

    surface: Heights
    turn: Float[np.ndarray, "P 3"]
    """How the pixels' normals deviate from the surface's."""
    paint: Float[np.ndarray, "P C"]
    """Logarithm of the albedo."""
    light: Float[np.ndarray, "D CM"]
    """Logarithm of the lamps' strengths."""
    bounce: Float[np.ndarray, " C"]
    """Logarithm of what hidden directions give, relative to what the surroundings radiate."""


@dataclass(frozen=True, eq=False)
class Energy:
    """What a state costs, and what it looks like."""

    total: float
    misfit: Float[np.ndarray, " M"]
    """Robust mean square of every photo's residual."""
    variation: float
    likeness: float
    """How much of the paint's variance the normals explain: minus the log of the rest."""
    tie: float
    unit: Float[np.ndarray, "P 3"]
    height: Float[np.ndarray, " P"]
    skyline: Skyline


class FullModel:
    """Energy and derivatives at one resolution."""

    def __init__(self, scene: Scene, sky: Sky) -> None:
        self.scene, self.sky = scene, sky
        size, facets = scene.facets.size, scene.facets
        self._reach = np.empty((size, sky.num_lamps), np.float32)
        self._shading, self._residual = np.empty((2, *scene.photos.shape), np.float32)
        numbers = facets.domain.numbers
        pairs = []
        for one, other in (
            (numbers[:, :-1], numbers[:, 1:]),
            (numbers[:-1], numbers[1:]),
        ):
            both = (one >= 0) & (other >= 0)
            pairs.append(np.stack([one[both], other[both]]))
        self._pairs: Int[np.ndarray, "2 E"] = np.concatenate(pairs, axis=1)
        channels, num = scene.num_channels, scene.num_photos
        self._samples = scene.weight.reshape(size, channels, num).sum(axis=(0, 1), dtype=float)
        self._samples = np.maximum(self._samples, 1e-6)
        self.around = scene.surroundings if sky.hides else None
        self._even = np.float32(4.0 / sky.num_lamps)
        focal = facets.camera.focal_px[0] if isinstance(facets.camera, Perspective) else 1.0
        self.focal = float(focal)

    def look_around(self, state: State) -> None:
        """From now on hidden directions give what stands there at a state."""
        height, _, _, unit, _ = self._shape(state)
        skyline = self.sky.skyline(self.sky.depth(height), unit)
        x, y, z = in_view(self.scene.facets, unit.T)
        photos, usual = self.scene.photos, self.scene.surroundings
        total, weight = _UNSEEN * usual, np.full((len(photos), 1), _UNSEEN, np.float32)
        for share in _ON_THE_WAY:
            for a, seen in enumerate(self.sky.occluders(skyline, share).T):
                cosine, sine = self.sky.headings[a]
                plane = (x * cosine + y * sine) / np.hypot(z, x * cosine + y * sine)
                hidden = np.where(seen >= 0, np.maximum(skyline.sine[:, a] + plane, 0), 0)
                hidden = hidden[:, None].astype(np.float32)
                total += hidden * photos[seen]
                weight += hidden
        self.around = total / weight

    def _shape(
        self, state: State
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Heights of the pixels; normals of the surface and of the pixels, each with lengths."""
        facets = self.scene.facets
        p, q = facets.slopes(state.surface)
        smooth, length = facets.normals(p, q)
        turned = smooth.T + state.turn
        size = np.linalg.norm(turned, axis=1).astype(np.float32)
        unit = np.ascontiguousarray(turned / size[:, None], np.float32)
        return facets.at_pixels(state.surface), smooth, length, unit, size

    def __call__(self, state: State) -> Energy:
        """What a state costs."""
        sky = self.sky
        height, _, _, unit, _ = self._shape(state)
        depth = sky.depth(height)
        skyline = sky.skyline(depth, unit)
        sky.reach(unit, skyline, self._reach)
        return self.relit(state, Energy(0.0, np.zeros(0), 0.0, 0.0, 0.0, unit, height, skyline))

    def relit(self, state: State, energy: Energy) -> Energy:
        """What a state costs whose surface and normals are those of the state asked for last."""
        scene = self.scene
        light, albedo = np.exp(state.light), np.exp(state.paint)

        bounce, around = self._bounce(state), self.around

        def shade(some: slice) -> None:
            reach, out = self._reach[some], self._shading[some]
            np.matmul(reach, light, out=out)
            if around is not None:
                out += (1 - self._even * reach.sum(axis=1, keepdims=True)) * (bounce * around[some])

        in_parallel(shade, chunks(scene.facets.size, _ROWS))
        sums = np.zeros((_PARTS, scene.num_photos))
        lamps.misfit(
            self._shading, albedo, scene.photos, scene.weight, np.float32(SCALE),
            self._residual, sums,
        )  # fmt: skip
        misfit = sums.sum(axis=0) / self._samples
        change = state.paint[self._pairs[1]] - state.paint[self._pairs[0]]
        size = np.sqrt((change**2).sum(axis=1) + _SMOOTH)
        variation = float((_EDGE * np.log1p(size / _EDGE)).mean()) if len(size) else 0.0
        likeness = _likeness(state.paint, energy.unit)[0]
        strained = self._strain(energy.unit)
        off = (state.turn**2).sum(axis=1)
        tie = float((_TURN**2 * np.log1p(off / _TURN**2)).mean())
        check = self._check(state.surface)
        total = (
            float(np.log(misfit + _SHARED * misfit.mean() + _FLOOR).mean())
            + _PAINT * variation
            + _DISTINCT * likeness
            + FULL_WEIGHT * float(strained @ strained)
            + _TIE * tie
            + _CHECKERBOARD * float((check**2).mean())
        )
        return replace(
            energy, total=total, misfit=misfit, variation=variation, likeness=likeness, tie=tie
        )

    def gradient(self, state: State, energy: Energy) -> State:
        """Derivative at the state whose energy was asked for last."""
        sky, facets = self.sky, self.scene.facets
        by_paint, by_light, by_bounce = self.light_gradient(state, energy)
        light = np.exp(state.light)
        by_reach = np.empty_like(self._reach)

        bounce, around = self._bounce(state), self.around

        def back(some: slice) -> None:
            out, given = by_reach[some], self._residual[some]
            np.matmul(given, light.T, out=out)
            if around is not None:
                out -= self._even * (given * (bounce * around[some])).sum(axis=1, keepdims=True)

        in_parallel(back, chunks(facets.size, _ROWS))
        height, smooth, length, unit, size = self._shape(state)
        by_unit, by_height = sky.reach_adjoint(sky.depth(height), unit, energy.skyline, by_reach)
        by_unit += _DISTINCT * _likeness(state.paint, unit)[2]
        by_mean = 2 * FULL_WEIGHT * self._strain(unit) / spread()
        by_unit += (out_of_view(facets, by_mean) / facets.size).T
        by_turn = (by_unit - unit * (by_unit * unit).sum(axis=1, keepdims=True)) / size[:, None]
        along_p, along_q = facets.turns(smooth, length)
        by_surface = facets.scatter(
            np.einsum("pa,ap->p", by_turn, along_p), np.einsum("pa,ap->p", by_turn, along_q)
        ) + facets.from_pixels(by_height.astype(float))
        by_surface += self._by_check(state.surface)
        off = (state.turn**2).sum(axis=1, keepdims=True)
        by_turn = by_turn + 2 * _TIE / len(off) * state.turn / (1 + off / _TURN**2)
        return State(by_surface, by_turn.astype(np.float32), by_paint, by_light, by_bounce)

    def _bounce(self, state: State) -> Float[np.ndarray, " CM"]:
        """The bounce of every sample."""
        return np.repeat(np.exp(state.bounce), self.scene.num_photos).astype(np.float32)

    def _by_bounce(self, state: State) -> Float[np.ndarray, " C"]:
        """Derivative by the logarithm of the bounce; the residuals are derivatives already."""
        if self.around is None:
            return np.zeros_like(state.bounce)
        hidden = 1 - self._even * self._reach.sum(axis=1)
        each = np.einsum("p,pk,pk->k", hidden, self.around, self._residual, optimize=True)
        return (self._bounce(state) * each).reshape(len(state.bounce), -1).sum(axis=1)

    def light_gradient(
        self, state: State, energy: Energy
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The part of it that belongs to paint, light and bounce."""
        by_paint = self._by_paint(state, energy)

        def back(some: slice) -> np.ndarray:
            return self._reach[some].T @ self._residual[some]

        by_light = np.zeros_like(state.light)
        for part in in_parallel(back, chunks(self.scene.facets.size, _ROWS)):
            by_light += part
        return by_paint, by_light * np.exp(state.light), self._by_bounce(state)

    def _by_paint(self, state: State, energy: Energy) -> np.ndarray:
        """Derivative by the paint; the residuals become derivatives by the shading."""
        misfit, num = energy.misfit, self.scene.num_photos
        each = 1 / (misfit + _SHARED * misfit.mean() + _FLOOR)
        gain = (each + _SHARED * each.mean()) / (num * self._samples)
        by_paint = np.empty_like(state.paint)
        lamps.misfit_adjoint(
            self._shading, np.exp(state.paint), gain.astype(np.float32), self._residual, by_paint
        )
        by_likeness = _likeness(state.paint, energy.unit)[1]
        return by_paint + self._by_variation(state.paint) + _DISTINCT * by_likeness

    def _by_variation(self, paint: np.ndarray) -> np.ndarray:
        """Derivative of the paint's variation, weighted."""
        one, other = self._pairs
        change = paint[other] - paint[one]
        size = np.sqrt((change**2).sum(axis=1, keepdims=True) + _SMOOTH)
        flow = _PAINT / max(len(one), 1) * change / (size * (1 + size / _EDGE))
        out = np.empty_like(paint)
        for c in range(paint.shape[1]):
            out[:, c] = np.bincount(other, flow[:, c], len(paint))
            out[:, c] -= np.bincount(one, flow[:, c], len(paint))
        return out

    def _strain(self, unit: Float[np.ndarray, "P 3"]) -> Float[np.ndarray, " 3"]:
        """How far the mean normal is from that of a usual object (see `terms.gauge`)."""
        seen = in_view(self.scene.facets, unit.T).mean(axis=1, dtype=float)
        return (seen - target()) / spread()

    def _check(self, surface: Heights) -> np.ndarray:
        """Checkerboard in every facet, in units of the slopes."""
        flat, here, width = surface.ravel(), self.scene.facets.here, surface.shape[1]
        check = flat[here] - flat[here + 1] - flat[here + width] + flat[here + width + 1]
        return 0.5 * self.focal * check

    def _by_check(self, surface: Heights) -> Heights:
        here, width = self.scene.facets.here, surface.shape[1]
        given = _CHECKERBOARD * self.focal * self._check(surface) / len(here)
        out = np.zeros(surface.size)
        for step, sign in ((0, 1), (1, -1), (width, -1), (width + 1, 1)):
            out += sign * np.bincount(here + step, given, len(out))
        return out.reshape(surface.shape)


def _likeness(
    paint: Float[np.ndarray, "P C"], unit: Float[np.ndarray, "P 3"]
) -> tuple[float, Float[np.ndarray, "P C"], Float[np.ndarray, "P 3"]]:
    """Log of the paint's variance over what a function linear in the normal leaves of it.

    With derivatives by the paint and by the normals.
    """
    wanted = paint - paint.mean(axis=0)
    given = unit - unit.mean(axis=0)
    gram = given.T @ given
    gram[np.diag_indices(3)] += 1e-6 * len(given)
    shares = np.linalg.solve(gram, given.T @ wanted)
    rest = wanted - given @ shares
    whole, left = float((wanted**2).mean()) + _EVEN, float((rest**2).mean()) + _EVEN
    scale = 2 / wanted.size
    by_paint = scale * (wanted / whole - rest / left)
    by_unit = scale / left * (rest @ shares.T)
    return float(np.log(whole / left)), by_paint, by_unit

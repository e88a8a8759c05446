"""The normal of every pixel of the photos, with lamps and horizons known from fewer pixels."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from jaxtyping import Float, Int

from anylight.kernels import lamps
from anylight.model.capture import Capture
from anylight.model.journal import described, page, remembered
from anylight.model.samples import is_usable, scaled
from anylight.sky import Sky
from anylight.threads import chunks

from .energy import SCALE
from .levels import moderation

_CHUNK = 4096
"""Pixels that are looked at together. (memory)"""
_PIECE = 16 * _CHUNK
"""Pixels whose normals are remembered together. (memory)"""
_STEPS = 6
"""Newton steps. [steps]"""
_DAMPING = 1e-2
"""First damping, relative to the curvature. [share]"""
_HOLD = 0.02
"""What a turn of one radian away from the lower resolution's normal costs, relative to the usual
curvature. [share]"""
_DARK = 1e-3
"""Albedo to begin with where nothing is known. (guard)"""


@dataclass(frozen=True, eq=False)
class Lights:
    """The lamps of every photo, and how much every photo counts."""

    directions: Float[np.ndarray, "D 3"]
    strength: Float[np.ndarray, "D CM"]
    gain: Float[np.ndarray, " M"]
    around: Float[np.ndarray, "B CM"]
    """What hidden directions give, at the lower resolution."""


@dataclass(frozen=True, eq=False)
class Faces:
    """Normals of single pixels, and how they fit."""

    unit: Float[np.ndarray, "3 P"]
    albedo: Float[np.ndarray, "C P"]
    misfit: Float[np.ndarray, " P"]
    """Robust weighted sum of squares."""
    spread: Float[np.ndarray, " P"]
    """Trace of the inverse curvature across the normal: times the variance of a sample it is the
    squared angle of uncertainty."""
    openness: Float[np.ndarray, " P"]


def face(
    capture: Capture,
    white: float,
    height: Float[np.ndarray, " P"],
    unit: Float[np.ndarray, "3 P"],
    albedo: Float[np.ndarray, "C P"],
    lights: Lights,
    own: Int[np.ndarray, " P"],
) -> Faces:
    """Turn every pixel's normal until it explains its samples best.

    Args:
        capture: the photos.
        white: stored value that becomes one.
        height: of the pixels, for their horizons.
        unit: where to begin, and where to stay if the samples say nothing.
        albedo: where to begin.
        lights: known from a lower resolution.
        own: number of every pixel's pixel there.
    """
    every = _Every(capture, white, height, unit, albedo, lights, own)
    begun = described(every)
    pieces = []
    for piece in chunks(len(own), _PIECE):
        place = None if begun is None else page("faces", begun, piece.start, piece.stop)
        pieces.append(remembered(place, partial(every.face, piece), (Faces,)))
    return Faces(
        np.concatenate([some.unit for some in pieces], axis=1),
        np.concatenate([some.albedo for some in pieces], axis=1),
        np.concatenate([some.misfit for some in pieces]),
        np.concatenate([some.spread for some in pieces]),
        np.concatenate([some.openness for some in pieces]),
    )


@dataclass(frozen=True, eq=False)
class _Every:
    """All pixels; fields as for `face`."""

    capture: Capture
    white: float
    height: Float[np.ndarray, " P"]
    unit: Float[np.ndarray, "3 P"]
    albedo: Float[np.ndarray, "C P"]
    lights: Lights
    own: Int[np.ndarray, " P"]

    @cached_property
    def sky(self) -> Sky:
        """The sky over all of them."""
        return Sky(np.asarray(self.capture.mask), self.capture.camera, self.lights.directions)

    def face(self, piece: slice) -> Faces:
        """Turn the normals of a piece of the pixels."""
        sky, size = self.sky, piece.stop - piece.start
        sine = sky.rise(sky.depth(self.height), sky.pixels[piece])
        channels, num = self.capture.num_channels, self.capture.num_photos
        flat = self.capture.photos.reshape(num, -1, channels)
        places = np.flatnonzero(self.capture.mask)[piece]
        out = Faces(
            np.empty((3, size), np.float32),
            np.empty((channels, size), np.float32),
            *np.empty((3, size), np.float32),
        )
        for part in chunks(size, _CHUNK):
            here = slice(piece.start + part.start, piece.start + part.stop)
            stored = flat[:, places[part]]
            usable = is_usable(stored)
            values = np.where(usable, scaled(stored, self.white), 0).astype(np.float32)
            count = part.stop - part.start
            photos = np.ascontiguousarray(values.transpose(1, 2, 0)).reshape(count, -1)
            weighted = usable.transpose(1, 2, 0) * moderation(values.transpose(1, 2, 0))
            weighted = np.ascontiguousarray(weighted).reshape(count, -1)
            around = self.lights.around[self.own[here]]
            some = _Some(sky, here, sine[part], photos, weighted, self.lights, around)
            some.turn(
                np.ascontiguousarray(self.unit[:, here].T),
                np.ascontiguousarray(self.albedo[:, here].T),
            )
            out.unit[:, part], out.albedo[:, part] = some.unit.T, some.albedo.T
            out.misfit[part], out.spread[part] = some.misfit, some.spread()
            out.openness[part] = some.openness()
        return out


class _Some:
    """Some pixels under the lamps."""

    def __init__(
        self,
        sky: Sky,
        part: slice,
        sine: np.ndarray,
        photos: np.ndarray,
        weight: np.ndarray,
        lights: Lights,
        around: np.ndarray,
    ) -> None:
        self._around = around
        self._sky, self._sine, self._light = sky, sine, lights.strength
        self._photos, self._weight = photos, weight
        self._gain = lights.gain.astype(np.float32)
        self._pixels = sky.pixels[part]
        self._aim = sky.aim(self._pixels)
        self._channels = photos.shape[1] // len(lights.gain)

    def _evaluate(self, unit: np.ndarray, albedo: np.ndarray) -> tuple[np.ndarray, ...]:
        """Misfit, albedo, gradient and curvature at some normals."""
        sky, size = self._sky, len(unit)
        through = sky.passes(unit, self._sine, self._pixels, self._aim)
        vectors = np.empty((3, size, self._photos.shape[1]), np.float32)
        for a in range(3):
            np.matmul(through, sky.lamps[:, a : a + 1] * self._light, out=vectors[a])
            open_ = through @ (4.0 / sky.num_lamps * sky.lamps[:, a])
            vectors[a] -= open_[:, None] * self._around
        albedo = albedo.copy()
        misfit = np.empty(size, np.float32)
        gradient, blocks = np.empty((size, 3), np.float32), np.empty((size, 6), np.float32)
        lamps.face(
            vectors, self._around, unit, self._photos, self._weight, self._gain, np.float32(SCALE),
            self._channels, misfit, albedo, gradient, blocks,
        )  # fmt: skip
        return misfit, albedo, gradient, blocks

    def turn(self, unit: np.ndarray, albedo: np.ndarray) -> None:
        """Damped Newton steps of every pixel by itself."""
        start = unit
        misfit, albedo, gradient, blocks = self._evaluate(unit, np.maximum(albedo, _DARK))
        hold = _HOLD * float(np.median(blocks[:, [0, 3, 5]].sum(axis=1)))
        cost = misfit + hold * ((unit - start) ** 2).sum(axis=1)
        damping = np.full(len(unit), _DAMPING, np.float32)
        for _ in range(_STEPS):
            trial = _stepped(unit, gradient + hold * (unit - start), blocks, hold, damping)
            new = self._evaluate(trial, albedo)
            new_cost = new[0] + hold * ((trial - start) ** 2).sum(axis=1)
            better = (new_cost < cost) & self._seen(trial)
            unit = np.where(better[:, None], trial, unit)
            cost = np.where(better, new_cost, cost)
            misfit, albedo, gradient, blocks = (
                np.where(better.reshape(-1, *(1,) * (old.ndim - 1)), fresh, old)
                for fresh, old in zip(new, (misfit, albedo, gradient, blocks), strict=True)
            )
            damping = np.where(better, damping / 5, damping * 10).astype(np.float32)
        self.unit, self.albedo, self.misfit, self._blocks = unit, albedo, misfit, blocks

    def _seen(self, unit: np.ndarray) -> np.ndarray:
        """Normals that face the camera."""
        rays = self._sky.camera.rays(*self._pixels[:, ::-1].T.astype(float))
        return (unit * rays).sum(axis=1) < 0

    def spread(self) -> Float[np.ndarray, " n"]:
        """Trace of the inverse curvature across the normal."""
        across = _tangents(self.unit)
        matrix = _projected(self._blocks, across)
        trace = matrix[:, 0, 0] + matrix[:, 1, 1]
        det = matrix[:, 0, 0] * matrix[:, 1, 1] - matrix[:, 0, 1] ** 2
        return trace / np.maximum(det, 1e-12 * trace**2 + 1e-30)

    def openness(self) -> Float[np.ndarray, " n"]:
        """Share of an even sky, weighted by the cosine, that reaches every pixel."""
        through = self._sky.passes(self.unit, self._sine, self._pixels, self._aim)
        cosine = np.maximum(self.unit @ self._sky.lamps.T, 0)
        return np.minimum((through * cosine).sum(axis=1) / cosine.sum(axis=1), 1.0)


def _tangents(unit: np.ndarray) -> np.ndarray:
    """Two unit vectors across every normal."""
    other = np.where(np.abs(unit[:, :1]) < 0.7, [[1.0, 0, 0]], [[0, 1.0, 0]])
    first = np.cross(unit, other)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(unit, first)], axis=1)


def _projected(blocks: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Curvature within the tangent plane."""
    xx, xy, xz, yy, yz, zz = blocks.T.astype(float)
    full = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    return np.einsum("nia,nab,njb->nij", across, full, across)


def _stepped(
    unit: np.ndarray, gradient: np.ndarray, blocks: np.ndarray, hold: float, damping: np.ndarray
) -> np.ndarray:
    """One damped Newton step, back on the sphere."""
    across = _tangents(unit)
    matrix = _projected(blocks, across)
    matrix[:, [0, 1], [0, 1]] += hold
    matrix[:, [0, 1], [0, 1]] *= 1 + damping[:, None]
    slope = np.einsum("nia,na->ni", across, gradient)
    det = matrix[:, 0, 0] * matrix[:, 1, 1] - matrix[:, 0, 1] ** 2
    det = np.maximum(det, 1e-30)
    a = -(matrix[:, 1, 1] * slope[:, 0] - matrix[:, 0, 1] * slope[:, 1]) / det
    b = -(matrix[:, 0, 0] * slope[:, 1] - matrix[:, 0, 1] * slope[:, 0]) / det
    length = np.hypot(a, b)
    shorter = np.minimum(1.0, 0.5 / np.maximum(length, 1e-12))
    moved = unit + (shorter * a)[:, None] * across[:, 0] + (shorter * b)[:, None] * across[:, 1]
    return (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)

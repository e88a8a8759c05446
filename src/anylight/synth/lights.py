"""Twenty-five embedded environments that vary strongly, as maps of radiance.

Five kinds of places, five of each: a sun in the sky, a studio with soft boxes, a room with
windows, an overcast day over coloured ground, a night with coloured lamps.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from jaxtyping import Float

from anylight.errors import InvalidInputError
from anylight.io.images import read_image
from anylight.photometry.environment import (
    Environment,
    Environments,
    resample,
    texel_directions,
    turn,
)

HEIGHT = 64
"""Rows of every map the renderer integrates over: 64 × 128 = 8192 small lamps."""
NUM_EMBEDDED = 25
EMBEDDED_YAW, ANY_YAW = 0.06, 0.5
"""How far a seed turns maps: the embedded ones are made for an object in front of the camera."""

Colour = Float[np.ndarray, " 3"]


def _lobe(directions: np.ndarray, towards: np.ndarray, width_deg: float) -> np.ndarray:
    """A soft lamp: one at its centre, 1/e at its width."""
    towards = towards / np.linalg.norm(towards)
    sharpness = 1 / (1 - np.cos(np.deg2rad(width_deg)))
    return np.exp(sharpness * (directions @ towards - 1))[..., None]


def _panel(
    directions: np.ndarray, azimuth: float, elevation: float, size: tuple[float, float]
) -> np.ndarray:
    """A rectangular window in azimuth and elevation (radians), its half sizes given."""
    around = np.arctan2(directions[..., 0], -directions[..., 2]) - azimuth
    around = (around + np.pi) % (2 * np.pi) - np.pi
    up = np.arcsin(np.clip(-directions[..., 1], -1, 1)) - elevation
    return ((np.abs(around) < size[0]) & (np.abs(up) < size[1]))[..., None].astype(float)


def _towards(azimuth: float, elevation: float) -> np.ndarray:
    return np.array(
        [
            np.sin(azimuth) * np.cos(elevation),
            -np.sin(elevation),
            -np.cos(azimuth) * np.cos(elevation),
        ]
    )


def _frontal(rng: np.random.Generator) -> float:
    """Azimuth of a main lamp: anywhere but behind the object."""
    return float(rng.uniform(-1.7, 1.7))


def _warm(rng: np.random.Generator) -> Colour:
    return np.array([1.0, rng.uniform(0.6, 0.95), rng.uniform(0.3, 0.85)])


def _vivid(rng: np.random.Generator) -> Colour:
    colour = rng.uniform(0.05, 0.5, 3)
    colour[rng.integers(3)] = 1.0
    return colour


def _sunny(d: np.ndarray, rng: np.random.Generator) -> Environment:
    up = -d[..., 1:2]
    sky = np.where(up > 0, 0.35 + 0.3 * np.maximum(up, 0), 0) * [0.55, 0.75, 1.0]
    ground = np.where(up <= 0, 0.18, 0) * rng.uniform(0.4, 1.0, 3)
    sun = _lobe(d, _towards(_frontal(rng), rng.uniform(0.1, 1.2)), 4.0)
    return sky + ground + rng.uniform(100, 400) * sun * _warm(rng)


def _studio(d: np.ndarray, rng: np.random.Generator) -> Environment:
    light = np.full(d.shape, 0.02)
    for _ in range(rng.integers(1, 4)):
        place = _frontal(rng), rng.uniform(-0.3, 1.1)
        size = rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.5)
        light = light + rng.uniform(2, 9) * _panel(d, *place, size) * rng.uniform(0.8, 1.0, 3)
    return light


def _room(d: np.ndarray, rng: np.random.Generator) -> Environment:
    walls = 0.10 * rng.uniform(0.5, 1.0, 3) * (1 - 0.4 * d[..., 1:2])
    first = _frontal(rng)
    light = walls + rng.uniform(5, 10) * _panel(d, first, 0.15, (0.35, 0.3)) * [0.8, 0.9, 1.0]
    if rng.random() < 0.6:
        light = light + 4 * _panel(d, first + 1.1, 0.15, (0.3, 0.3)) * [0.8, 0.9, 1.0]
    return light + rng.uniform(2, 20) * _lobe(d, _towards(first + 2.5, 0.6), 12) * _warm(rng)


def _overcast(d: np.ndarray, rng: np.random.Generator) -> Environment:
    up = -d[..., 1:2]
    tilt = _lobe(d, _towards(_frontal(rng), rng.uniform(-0.2, 1.0)), 40)
    sky = np.where(up > 0, (1 + 2 * np.maximum(up, 0)) / 3, 0) * [0.95, 1.0, 1.05]
    return sky + np.where(up <= 0, 0.45, 0) * _vivid(rng) + rng.uniform(1.5, 5) * tilt * _warm(rng)


def _night(d: np.ndarray, rng: np.random.Generator) -> Environment:
    light = np.full(d.shape, 0.01)
    for _ in range(rng.integers(2, 6)):
        place = _towards(_frontal(rng), rng.uniform(-0.6, 1.0))
        width = rng.uniform(5, 20)
        light = light + rng.uniform(40, 120) / width * _lobe(d, place, width) * _vivid(rng)
    return light


_PLACES: tuple[Callable[[np.ndarray, np.random.Generator], Environment], ...] = (
    _sunny,
    _studio,
    _room,
    _overcast,
    _night,
)


def embedded_lights() -> Environments:
    """All embedded environments, always the same ones."""
    directions = texel_directions(HEIGHT, 2 * HEIGHT)
    return np.stack(
        [
            _PLACES[index % 5](directions, np.random.default_rng(7000 + index))
            for index in range(NUM_EMBEDDED)
        ]
    )


def load_lights(folder: Path) -> Environments:
    """Read all latitude-longitude maps of a folder (.hdr, .exr), in order of their names."""
    if not folder.is_dir():
        raise InvalidInputError(f"{folder}: no such folder; --lights takes 'builtin' or a folder.")
    paths = sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in (".hdr", ".exr") and not path.name.startswith(".")
    )
    if not paths:
        raise InvalidInputError(f"{folder}: holds no .hdr or .exr environment map.")
    return np.stack([_load_light(path) for path in paths])


def _load_light(path: Path) -> Environment:
    pixels = read_image(path).astype(float)
    if abs(pixels.shape[1] - 2 * pixels.shape[0]) > 2:
        raise InvalidInputError(
            f"{path}: is {pixels.shape[1]}×{pixels.shape[0]}; a latitude-longitude map is twice "
            "as wide as high."
        )
    if not np.isfinite(pixels).all() or pixels.min() < 0:
        raise InvalidInputError(f"{path}: holds negative or non-finite light; clip it at 0.")
    if pixels.max() == 0:
        raise InvalidInputError(f"{path}: is all black; remove it.")
    colour = pixels if pixels.shape[2] == 3 else np.repeat(pixels[..., :1], 3, axis=2)
    return resample(colour, HEIGHT)


def choose_lights(
    maps: Float[np.ndarray, "maps Y X C"], num: int, rng: np.random.Generator, yaw: float
) -> Environments:
    """One map per photo, turned by a random share of the circle; too few maps are used again.

    Args:
        maps: what there is to choose from.
        num: number of photos.
        rng: draws the turns.
        yaw: half the range of the turns; 0.5 is any direction.
    """
    turns = rng.uniform(-yaw, yaw, num)
    return np.stack([turn(maps[i % len(maps)], turns[i]) for i in range(num)])

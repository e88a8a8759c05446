"""The nine albedos of the paper's figure, procedural (natural stands in for lena).

Each paints the unit square of the image: s to the right, t down. A painter is a function of
positions, so that a pixel may be sampled at any number of points.
"""

import colorsys
from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np
from jaxtyping import Float
from scipy import ndimage
from scipy.spatial import KDTree

Position: TypeAlias = Float[np.ndarray, " n"]
Colours: TypeAlias = Float[np.ndarray, "n 3"]
Painter: TypeAlias = Callable[[Position, Position], Colours]

AlbedoKind = Literal[
    "bars", "constant", "ebsd", "hippie", "natural", "pattern", "rectcircle", "voronoi", "white"
]
ALBEDO_NAMES: tuple[AlbedoKind, ...] = get_args(AlbedoKind)

NUM_BARS = 12
NUM_CELLS = 60
NUM_GRAINS = 900
PATTERN_PERIODS = 24
"""Repetitions of the pattern over the width of the image."""
CONSTANT_COLOUR = (0.75, 0.5, 0.35)
RECTCIRCLE_COLOURS = (
    (0.85, 0.80, 0.65),
    (0.75, 0.20, 0.15),
    (0.15, 0.35, 0.65),
    (0.95, 0.75, 0.15),
    (0.20, 0.55, 0.30),
)
"""Ground, two kinds of rectangles, two kinds of circles."""


def albedo_painter(kind: str, seed: int) -> Painter:
    """Make the painter of an albedo; the seed moves cells and colours."""
    return _PAINTERS[kind](np.random.default_rng([seed, 2]))


def _white(_: np.random.Generator) -> Painter:
    return lambda s, t: np.ones((len(s), 3)) + 0 * t[:, None]


def _constant(_: np.random.Generator) -> Painter:
    return lambda s, t: np.ones((len(s), 1)) * CONSTANT_COLOUR + 0 * t[:, None]


def _bars(rng: np.random.Generator) -> Painter:
    colours = rng.uniform(0.25, 1.0, (NUM_BARS, 3))

    def paint(s: Position, t: Position) -> Colours:
        del t
        return colours[np.clip((s * NUM_BARS).astype(int), 0, NUM_BARS - 1)]

    return paint


def _cells(sites: np.ndarray, colours: np.ndarray) -> Painter:
    tree = KDTree(sites)
    return lambda s, t: colours[tree.query(np.stack([s, t], axis=-1))[1]]


def _voronoi(rng: np.random.Generator) -> Painter:
    return _cells(rng.random((NUM_CELLS, 2)), rng.uniform(0.2, 1.0, (NUM_CELLS, 3)))


def _ebsd(rng: np.random.Generator) -> Painter:
    """Crystal grains: many small cells, some of them clustered, in saturated colours."""
    even = rng.random((NUM_GRAINS * 2 // 3, 2))
    centres = rng.random((12, 2))
    spread = rng.normal(0, 0.05, (NUM_GRAINS - len(even), 2))
    clustered = centres[rng.integers(0, 12, len(spread))] + spread
    hues = rng.random(NUM_GRAINS)
    values = rng.uniform(0.55, 1.0, NUM_GRAINS)
    colours = np.array([colorsys.hsv_to_rgb(h, 0.75, v) for h, v in zip(hues, values, strict=True)])
    return _cells(np.concatenate([even, clustered]), np.maximum(colours, 0.12))


def _hippie(rng: np.random.Generator) -> Painter:
    """Swirls through the whole circle of hues."""
    shift = rng.uniform(0, 2 * np.pi, 4)

    def paint(s: Position, t: Position) -> Colours:
        x = s + 0.10 * np.sin(7 * t + shift[0]) + 0.05 * np.sin(17 * s + shift[1])
        y = t + 0.10 * np.sin(6 * s + shift[2]) + 0.05 * np.sin(19 * t + shift[3])
        radius = np.hypot(x - 0.5, y - 0.5)
        hue = 2 * np.pi * (2.5 * radius + np.arctan2(y - 0.5, x - 0.5) / (2 * np.pi))
        thirds = hue[:, None] + np.array([0, 2 * np.pi / 3, 4 * np.pi / 3])
        return 0.55 + 0.42 * np.cos(thirds)

    return paint


def _natural(rng: np.random.Generator) -> Painter:
    """Colour noise whose amplitude falls as 1/f, like that of photographs."""
    size = 512
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(size), np.fft.rfftfreq(size), indexing="ij"))
    frequency[0, 0] = np.inf
    noise = np.fft.rfft2(rng.standard_normal((3, size, size))) / frequency
    layers = np.fft.irfft2(noise, s=(size, size))
    layers /= layers.std(axis=(1, 2), keepdims=True)
    # Photographs share most of their variation between channels.
    mixed = 0.85 * layers[:1] + 0.35 * layers
    image = 0.5 + 0.19 * mixed / mixed.std()
    image = np.clip(image, 0.08, 1.0)

    def paint(s: Position, t: Position) -> Colours:
        place = np.stack([t * size - 0.5, s * size - 0.5])
        return np.stack(
            [ndimage.map_coordinates(layer, place, order=1, mode="wrap") for layer in image],
            axis=-1,
        )

    return paint


def _pattern(rng: np.random.Generator) -> Painter:
    """A fine ornament that repeats: diamonds on stripes."""
    ground, stripe, diamond = rng.uniform(0.25, 1.0, (3, 3))

    def paint(s: Position, t: Position) -> Colours:
        x, y = s * PATTERN_PERIODS % 1, t * PATTERN_PERIODS % 1
        is_stripe = (y < 0.5)[:, None]
        is_diamond = (np.abs(x - 0.5) + np.abs(y - 0.5) < 0.3)[:, None]
        return np.where(is_diamond, diamond, np.where(is_stripe, stripe, ground))

    return paint


def _rectcircle(rng: np.random.Generator) -> Painter:
    """Rectangles and circles in a handful of flat colours."""
    ground, *paints = np.array(RECTCIRCLE_COLOURS)
    corners = rng.random((14, 2)) * 0.9
    sizes = rng.uniform(0.05, 0.25, (14, 2))
    centres = rng.random((14, 2))
    radii = rng.uniform(0.03, 0.11, 14)

    def paint(s: Position, t: Position) -> Colours:
        place = np.stack([s, t], axis=-1)
        colours = np.broadcast_to(ground, (len(s), 3)).copy()
        for index in range(14):
            inside = ((place >= corners[index]) & (place < corners[index] + sizes[index])).all(1)
            colours[inside] = paints[index % 2]
            inside = np.linalg.norm(place - centres[index], axis=1) < radii[index]
            colours[inside] = paints[2 + index % 2]
        return colours

    return paint


_PAINTERS: dict[str, Callable[[np.random.Generator], Painter]] = {
    "bars": _bars,
    "constant": _constant,
    "ebsd": _ebsd,
    "hippie": _hippie,
    "natural": _natural,
    "pattern": _pattern,
    "rectcircle": _rectcircle,
    "voronoi": _voronoi,
    "white": _white,
}

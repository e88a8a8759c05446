"""The photos at a lower resolution, sample by sample, and states on their way between both."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from anylight.arrays import Mask
from anylight.facets.grid import FacetGrid, Heights
from anylight.facets.resolution import refine
from anylight.geometry.camera import Orthographic
from anylight.model.capture import Capture
from anylight.model.samples import is_usable, scaled

from .energy import Scene, State

_DARKEST = 1e-3
"""Albedo below which paint is black. (guard)"""
_BRIGHT = 0.7
"""Share of a pixel's photos that are no brighter than what counts as bright. [share]"""
_BLACK = 0.1
"""A sample this much darker than is usual for its pixel and its photo got no light. [share]"""
_HARD = 0.01
"""Share of such samples from which photos have single, hard lamps. [share]"""
_FIRST_BOUNCE = 0.2
"""Albedo that the surroundings are thought to have at first. [albedo]"""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Squares of pixels, each of which is one pixel of a lower resolution."""

    mask: Mask
    factor: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the lower resolution."""
        height, width = self.mask.shape
        return -(-height // self.factor), -(-width // self.factor)

    @property
    def own(self) -> Int[np.ndarray, " P"]:
        """Number of every pixel's block."""
        rows, columns = np.nonzero(self.mask)
        places = (rows // self.factor) * self.shape[1] + columns // self.factor
        return np.unique(places, return_inverse=True)[1]

    @property
    def coarse(self) -> Mask:
        """The lower resolution's mask."""
        rows, columns = np.nonzero(self.mask)
        mask = np.zeros(self.shape, bool)
        mask[rows // self.factor, columns // self.factor] = True
        return mask

    def mean(self, values: Float[np.ndarray, "P c"]) -> Float[np.ndarray, "B c"]:
        """Mean of every block."""
        own = self.own
        sums = [np.bincount(own, column) for column in values.T]
        return np.stack(sums, axis=1) / np.bincount(own)[:, None]


def reduced(capture: Capture, white: float, factor: int) -> Scene:
    """The photos with squares of pixels averaged; saturated and black samples do not count."""
    blocks = Blocks(np.asarray(capture.mask), factor)
    own, num = blocks.own, int(np.count_nonzero(blocks.coarse))
    channels, photos = capture.num_channels, capture.num_photos
    values, weight = np.empty((2, num, channels, photos), np.float32)
    for m in range(photos):
        stored = capture.photos[m][capture.mask]
        usable = is_usable(stored)
        sample = np.where(usable, scaled(stored, white), 0)
        for c in range(channels):
            count = np.bincount(own, usable[:, c], num)
            values[:, c, m] = np.bincount(own, sample[:, c], num) / np.maximum(count, 1)
            weight[:, c, m] = count / factor**2
    weight *= moderation(values)
    facets = FacetGrid(blocks.coarse, capture.camera.resized(1 / factor))
    return Scene(facets, values.reshape(num, -1), weight.reshape(num, -1), channels)


def moderation(samples: Float[np.ndarray, "P C M"]) -> Float[np.ndarray, "P C M"]:
    """How much samples count by their brightness: errors of bright ones are larger.

    Gloss adds to the brightest photos of a pixel, and what is wrong with a model is wrong in
    proportion. Beyond what is bright for a pixel, residuals count in proportion to brightness.
    """
    place = min(int(_BRIGHT * samples.shape[2]), samples.shape[2] - 1)
    bright = np.partition(samples, place, axis=2)[:, :, place : place + 1]
    return (np.minimum(1, bright / np.maximum(samples, 1e-6)) ** 2).astype(np.float32)


def has_hard_lamps(scene: Scene) -> bool:
    """Whether single lamps leave parts of the object without any light, photo by photo."""
    grey = scene.photos.reshape(len(scene.photos), scene.num_channels, -1).mean(axis=1)
    by_photo, by_pixel = grey.mean(axis=0), grey.mean(axis=1, keepdims=True)
    usual = by_pixel * (by_photo / max(float(by_photo.mean()), 1e-12))
    return float((grey < _BLACK * usual).mean()) > _HARD


def first_state(
    scene: Scene,
    blocks: Blocks,
    height: Float[np.ndarray, " P"],
    unit: Float[np.ndarray, "3 P"],
    albedo: Float[np.ndarray, "C P"],
    num_lamps: int,
) -> State:
    """A state from heights, normals and albedo of the photos' pixels; all lamps alike."""
    facets = scene.facets
    coarse = blocks.mean(height[:, None])[:, 0]
    if isinstance(facets.camera, Orthographic):
        coarse = coarse / blocks.factor
    surface = facets.over_pixels(coarse)
    normals = blocks.mean(unit.T)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    photos = scene.photos.reshape(facets.size, scene.num_channels, -1)
    coarse_albedo = np.maximum(blocks.mean(albedo.T), 0)
    middle = np.maximum(np.median(coarse_albedo, axis=0), _DARKEST)
    usual = np.median(photos.mean(axis=2), axis=0) / middle
    paint = np.log(np.maximum(usual * coarse_albedo, _DARKEST)).astype(np.float32)
    light = np.empty((num_lamps, scene.num_channels, scene.num_photos), np.float32)
    light[:] = np.log(4.0 / num_lamps)  # shades with one where all of the own sky is seen
    turn = _turned(facets, surface, normals)
    bounce = np.log(_FIRST_BOUNCE) - np.median(paint, axis=0)
    return State(surface, turn, paint, light.reshape(num_lamps, -1), bounce)


def finer(state: State, coarse: Scene, fine: Scene) -> State:
    """A state at the next resolution: blocks of two by two pixels."""
    own = Blocks(fine.facets.mask, 2).own
    surface = refine(coarse.facets, fine.facets, state.surface)
    return State(surface, state.turn[own], state.paint[own], state.light, state.bounce)


def _turned(
    facets: FacetGrid, surface: Heights, unit: Float[np.ndarray, "P 3"]
) -> Float[np.ndarray, "P 3"]:
    """How normals deviate from those of a surface."""
    smooth, _ = facets.normals(*facets.slopes(surface))
    return (unit - smooth.T).astype(np.float32)

"""The sky over every pixel: lamps all around, headings towards which horizons are looked up."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy import ndimage

from anylight.arrays import Mask
from anylight.geometry.camera import Camera, Perspective
from anylight.geometry.directions import even_directions
from anylight.kernels import horizons, lamps

NUM_LAMPS = 512
"""Lamps spread evenly over the sphere. [lamps]"""
NUM_HEADINGS = 32
"""Directions in the image towards which horizons are looked up. [headings]"""
_GROWTH = 0.2
"""Every step along a heading is longer than the way before it by this share. [share]"""
FADE_RAD = 0.12
"""Half the range of elevations over which a horizon hides a lamp. [radians]"""
AROUND = 0.05
"""Radius of the surroundings that shine on a pixel, over the square root of the pixel count.
[share]"""
_PARTS = 16
"""Shares of the pixels whose derivatives are summed apart: the sum then does not depend on the
number of threads. (definition)"""


def lamp_directions(num: int | None = None) -> Float[np.ndarray, "D 3"]:
    """Directions spread evenly over the sphere; as many as the default uses if not given."""
    return even_directions(NUM_LAMPS if num is None else num).astype(np.float32)


def surroundings(mask: Mask, values: Float[np.ndarray, "P k"]) -> Float[np.ndarray, "P k"]:
    """What the object around every pixel radiates: its own values, blurred."""
    sigma = AROUND * float(np.sqrt(np.count_nonzero(mask)))

    def blurred(image: Float[np.ndarray, "H W"]) -> Float[np.ndarray, "H W"]:
        return ndimage.gaussian_filter(image, sigma, mode="constant", truncate=3)

    cover = blurred(mask.astype(np.float32))[mask]
    out, image = np.empty_like(values), np.zeros(mask.shape, np.float32)
    for k in range(values.shape[1]):
        image[mask] = values[:, k]
        out[:, k] = blurred(image)[mask] / cover
    return out


def _steps(longest: float) -> Float[np.ndarray, " n"]:
    steps = [1.0]
    while steps[-1] < longest:
        steps.append(steps[-1] + max(1.0, _GROWTH * steps[-1]))
    return np.array(steps[:-1] or [1.0])


@dataclass(frozen=True, eq=False)
class Skyline:
    """Horizons of a surface, and how they hide lamps from given normals."""

    sine: Float[np.ndarray, "P A"]
    which: Int[np.ndarray, "P A"]
    """Number of the sample that makes the horizon."""
    centre: Float[np.ndarray, "P A"]
    """Elevation at which light is half hidden."""


@dataclass(frozen=True, eq=False)
class Sky:
    """Lamps and headings over the pixels of one resolution."""

    mask: Mask
    camera: Camera
    lamps: Float[np.ndarray, "D 3"]
    """Directions to the lamps."""
    hides: bool = True
    """Whether the surface hides light from itself at all."""

    @cached_property
    def size(self) -> int:
        """Number of pixels P."""
        return int(np.count_nonzero(self.mask))

    @property
    def num_headings(self) -> int:
        """Number A."""
        return NUM_HEADINGS

    @property
    def num_lamps(self) -> int:
        """Number D."""
        return len(self.lamps)

    @cached_property
    def headings(self) -> Float[np.ndarray, "A 2"]:
        """Cosine and sine of every heading."""
        angle = 2 * np.pi * np.arange(self.num_headings) / self.num_headings
        return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)

    @cached_property
    def offsets(self) -> Float[np.ndarray, "A n 4"]:
        """Whole rows and columns to every sample, and the rest of both."""
        rows, columns = np.nonzero(self.mask)
        longest = np.hypot(np.ptp(rows) + 1, np.ptp(columns) + 1)
        along = _steps(float(longest))[None, :, None] * self.headings[:, None, ::-1]
        along = np.round(along, 6)
        whole = np.floor(along)
        return np.concatenate([whole, along - whole], axis=-1).astype(np.float32)

    @cached_property
    def pixels(self) -> Int[np.ndarray, "P 2"]:
        """Row and column of every pixel."""
        return np.argwhere(self.mask).astype(np.int32)

    def aim(self, pixels: Int[np.ndarray, "n 2"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where every lamp stands in the sky of some pixels (see `kernels.lamps.aim`)."""
        shape = (len(pixels), self.num_lamps)
        elevation, share = np.empty(shape, np.float32), np.empty(shape, np.float32)
        heading = np.empty(shape, np.uint8)
        camera = self.camera.numbers
        lamps.aim(pixels, camera, self.lamps, self.num_headings, elevation, heading, share)
        return elevation, heading, share

    @cached_property
    def _inside(self) -> Mask:
        return self.mask.copy()  # may be written, so that loops are compiled once

    @cached_property
    def _aim(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.aim(self.pixels)

    def rise(
        self, depth: Float[np.ndarray, "H W"], pixels: Int[np.ndarray, "n 2"]
    ) -> Float[np.ndarray, "n A"]:
        """Sines of the horizons' elevations at some pixels."""
        shape = (len(pixels), self.num_headings)
        sine, which = np.empty(shape, np.float32), np.empty(shape, np.int16)
        horizons.rise(depth, self._inside, pixels, self.camera.numbers, self.offsets, sine, which)
        return sine

    def depth(self, height: Float[np.ndarray, " P"]) -> Float[np.ndarray, "H W"]:
        """Image of the depths that heights stand for."""
        image = np.zeros(self.mask.shape, np.float32)
        is_log = isinstance(self.camera, Perspective)
        image[self.mask] = np.exp(height) if is_log else height
        return image

    def skyline(self, depth: Float[np.ndarray, "H W"], unit: Float[np.ndarray, "P 3"]) -> Skyline:
        """Horizons of a surface."""
        shape, camera = (self.size, self.num_headings), self.camera.numbers
        sine, centre = np.empty(shape, np.float32), np.empty(shape, np.float32)
        which = np.empty(shape, np.int16)
        if not self.hides:
            sine[:], centre[:], which[:] = 0, -np.pi, horizons.NOTHING
            return Skyline(sine, which, centre)
        horizons.rise(depth, self._inside, self.pixels, camera, self.offsets, sine, which)
        horizons.edges(unit, self.pixels, camera, self.headings, sine, FADE_RAD, centre)
        return Skyline(sine, which, centre)

    def occluders(self, skyline: Skyline, share: float = 1.0) -> Int[np.ndarray, "P A"]:
        """Number of the pixel that makes every horizon; -1 where there is none.

        Args:
            skyline: of a surface.
            share: of the way to it; below one, pixels in front of the horizon.
        """
        numbers = np.full(self.mask.shape, -1)
        numbers[self.mask] = np.arange(self.size)
        last = np.array(self.mask.shape) - 1
        out = np.full(skyline.which.shape, -1)
        for a in range(self.num_headings):
            some = np.flatnonzero(skyline.which[:, a] != horizons.NOTHING)
            way = self.offsets[a, skyline.which[some, a]]
            place = self.pixels[some] + np.round(share * (way[:, :2] + way[:, 2:])).astype(int)
            rows, columns = np.clip(place, 0, last).T
            out[some, a] = numbers[rows, columns]
        return out

    def reach(
        self, unit: Float[np.ndarray, "P 3"], skyline: Skyline, out: Float[np.ndarray, "P D"]
    ) -> None:
        """What one unit of every lamp gives to every pixel."""
        lamps.reach(unit, skyline.centre, self.lamps, *self._aim, FADE_RAD, out)

    def reach_adjoint(
        self,
        depth: Float[np.ndarray, "H W"],
        unit: Float[np.ndarray, "P 3"],
        skyline: Skyline,
        by_reach: Float[np.ndarray, "P D"],
    ) -> tuple[Float[np.ndarray, "P 3"], Float[np.ndarray, " P"]]:
        """Derivatives by the normals and by the heights."""
        camera = self.camera.numbers
        by_unit = np.empty((self.size, 3), np.float32)
        by_centre, by_sine = np.empty((2, self.size, self.num_headings), np.float32)
        lamps.reach_adjoint(
            unit, skyline.centre, self.lamps, *self._aim, FADE_RAD, by_reach, by_unit, by_centre
        )
        if not self.hides:
            return by_unit, np.zeros(self.size, np.float32)
        horizons.edges_adjoint(
            unit, self.pixels, camera, self.headings, skyline.sine, FADE_RAD,
            by_centre, by_sine, by_unit,
        )  # fmt: skip
        parts = np.zeros((_PARTS, *depth.shape), np.float32)
        horizons.rise_adjoint(
            depth, self.pixels, camera, self.offsets, skyline.which, by_sine, parts
        )
        by_height = parts.sum(axis=0)[self.mask]
        if isinstance(self.camera, Perspective):
            by_height = by_height * depth[self.mask]
        return by_unit, by_height

    def passes(
        self,
        unit: Float[np.ndarray, "n 3"],
        sine: Float[np.ndarray, "n A"],
        pixels: Int[np.ndarray, "n 2"],
        aim: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> Float[np.ndarray, "n D"]:
        """Share of every lamp that is let through to some pixels, none from behind."""
        centre = np.empty_like(sine)
        horizons.edges(unit, pixels, self.camera.numbers, self.headings, sine, FADE_RAD, centre)
        out = np.empty((len(unit), self.num_lamps), np.float32)
        lamps.passes(unit, centre, self.lamps, *aim, FADE_RAD, out)
        return out

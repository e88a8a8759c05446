"""What is minimised: the masked photos, normalised, with resolved weights."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera, Perspective
from anylight.geometry.domain import Domain
from anylight.kernels import surface
from anylight.kernels.protocol import Kernels, View
from anylight.kernels.surface import Neighbours
from anylight.linalg.grid import Grid

from .capture import Capture
from .options import PaperOptions
from .state import State

WHITE_QUANTILE = 0.99
_BLOCK = 65536


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything that stays the same during a run."""

    domain: Domain
    grid: Grid
    camera: Camera
    kernels: Kernels
    photos: object
    """In the kernels' own layout."""
    median: Float[np.ndarray, "C P"]
    """Median over the photos, normalised: the first albedo."""
    scale: float
    """Factor from stored values to normalised intensity."""
    white: float
    """Radiance that normalises to one."""
    num_photos: int
    num_channels: int
    options: PaperOptions
    depth_neighbours: Neighbours
    albedo_neighbours: Neighbours

    @property
    def total_smoothness(self) -> float:
        """Effective weight μ of the total variation."""
        return self.options.albedo_smoothness * self.num_photos

    @property
    def camera_numbers(self) -> tuple[float, float, float, float]:
        """(f_u, f_v, u_0, v_0); f = 0 stands for parallel rays."""
        focal = self.camera.focal_px if isinstance(self.camera, Perspective) else (0.0, 0.0)
        return (*focal, *self.camera.centre_px)

    def normals(self, depth: Float[np.ndarray, " P"]) -> tuple[np.ndarray, np.ndarray]:
        """Unit normals (3, P) and lengths |ñ| of a depth, by the solver's differences."""
        unit = np.empty((3, self.domain.size), np.float32)
        length = np.empty(self.domain.size)
        surface.normals(
            self.grid.spread(depth).ravel(),
            self.depth_neighbours,
            self.camera_numbers,
            self.domain.pixels,
            unit,
            length,
        )
        return unit, length

    def view(self, state: State, normals: Float[np.ndarray, "3 P"]) -> View:
        """What kernels may see."""
        return View(
            self.photos,
            self.scale,
            normals,
            state.albedo,
            state.lighting,
            self.options.cauchy_scale,
        )


def build_problem(capture: Capture, options: PaperOptions, kernels: Kernels) -> Problem:
    """Take the masked pixels, find white and the median, and lay the photos out for streaming."""
    domain = capture.domain()
    stored_white = white_level(capture)
    grid = Grid(capture.mask)
    photos = (photo[capture.mask].T for photo in capture.photos)
    return Problem(
        domain=domain,
        grid=grid,
        camera=capture.camera,
        kernels=kernels,
        photos=kernels.pack(photos, capture.num_photos),
        median=_median(capture) / stored_white,
        scale=1 / stored_white,
        white=stored_white / capture.full_scale,
        num_photos=capture.num_photos,
        num_channels=capture.num_channels,
        options=options,
        depth_neighbours=surface.neighbours(grid.inside, backward=True),
        albedo_neighbours=surface.neighbours(grid.inside, backward=False),
    )


def _median(capture: Capture) -> Float[np.ndarray, "C P"]:
    """Median over the photos, a block of pixels at a time."""
    flat = capture.photos.reshape(capture.num_photos, -1, capture.num_channels)
    places = np.flatnonzero(capture.mask)
    median = np.empty((capture.num_channels, len(places)), np.float32)
    for start in range(0, len(places), _BLOCK):
        block = slice(start, start + _BLOCK)
        median[:, block] = np.median(flat[:, places[block], :], axis=0).T
    return median


def white_level(capture: Capture) -> float:
    """Stored value that becomes one: the 99 % quantile of all samples on the object."""
    dtype = capture.photos.dtype
    if dtype.kind == "u":
        white = _counted_quantile(capture)
    else:
        white = float(np.quantile(capture.photos[:, capture.mask, :], WHITE_QUANTILE))
    if not white > 0:
        raise InvalidInputError("the photos are black inside the mask: check mask and exposure.")
    return white


def _counted_quantile(capture: Capture) -> float:
    """Quantile of integers by counting, without sorting."""
    dtype = capture.photos.dtype
    counts = np.zeros(np.iinfo(dtype).max + 1, np.int64)
    for photo in capture.photos:
        counts += np.bincount(photo[capture.mask].ravel(), minlength=len(counts))
    return float(np.searchsorted(np.cumsum(counts), WHITE_QUANTILE * counts.sum()))

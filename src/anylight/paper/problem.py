"""What is minimised: the masked photos, normalised, with resolved weights."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.geometry.camera import Camera
from anylight.geometry.domain import Domain
from anylight.kernels import pixel_differences as surface
from anylight.kernels.order_two.protocol import Kernels, Snapshot
from anylight.kernels.pixel_differences import Neighbours
from anylight.linalg.grid import Grid
from anylight.model.capture import Capture
from anylight.model.samples import white_level
from anylight.paper.options import PaperOptions
from anylight.paper.state import State

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

    def normals(self, depth: Float[np.ndarray, " P"]) -> tuple[np.ndarray, np.ndarray]:
        """Unit normals (3, P) and lengths |ñ| of a depth, by the solver's differences."""
        unit = np.empty((3, self.domain.size), np.float32)
        length = np.empty(self.domain.size)
        surface.normals(
            self.grid.spread(depth).ravel(),
            self.depth_neighbours,
            self.camera.numbers,
            self.domain.pixels,
            unit,
            length,
        )
        return unit, length

    def snapshot(self, state: State, normals: Float[np.ndarray, "3 P"]) -> Snapshot:
        """What kernels may see."""
        return Snapshot(
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

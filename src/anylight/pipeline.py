"""From a capture to a reconstruction: start, alternate, collect."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Literal

import msgspec
import numpy as np

from anylight.errors import InvalidInputError
from anylight.initial.start import (
    Start,
    balloon_start,
    constant_start,
    given_start,
    hemisphere_start,
)
from anylight.io.archive import find_result, find_truth, load_reconstruction
from anylight.io.images import read_image
from anylight.io.normals import normals_from_image, unit_normals
from anylight.kernels.cpu import CpuKernels
from anylight.model.capture import MIN_PHOTOS, Capture
from anylight.model.options import PaperOptions
from anylight.model.problem import Problem, build_problem
from anylight.model.reconstruction import Reconstruction
from anylight.model.state import State
from anylight.solve.alternate import Report, Status, alternate, first_state
from anylight.threads import use_threads

FEW_PHOTOS = 6
_GLARE = 100.0
"""Brighter than this, relative to white, makes no difference to a warning."""
_VARIES = 0.02
"""Photos whose relative change over the lights stays below this share carry no shape."""


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to compute and from where to start."""

    preset: Literal["paper"] = "paper"
    """paper: the published method."""
    init: str = "balloon"
    """Start: balloon, constant, hemisphere:TRUTH (an .npz or its folder), or a file with a depth or
    normal map (.npz; one-channel image: depth; three-channel image: normals, OpenGL look)."""
    use: int | None = None
    """Take this many photos, evenly spaced; all if not given."""
    threads: int | None = None
    """Threads to compute with; all cores if not given."""
    paper: PaperOptions = PaperOptions()

    def __post_init__(self) -> None:
        if self.use is not None and self.use < MIN_PHOTOS:
            raise InvalidInputError(f"--use must be {MIN_PHOTOS} or more.")
        if self.threads is not None and self.threads < 1:
            raise InvalidInputError("--threads must be 1 or more.")


@dataclass(frozen=True, eq=False)
class Result:
    """A reconstruction and how it came about."""

    reconstruction: Reconstruction
    status: Status
    trace: tuple[Report, ...]
    start: Start
    warnings: tuple[str, ...]
    seconds: dict[str, float]
    threads: int
    """Threads that were used."""


def choose_photos(capture: Capture, use: int | None) -> np.ndarray:
    """Numbers of the photos to use, evenly spaced."""
    if use is None:
        return np.arange(capture.num_photos)
    if use > capture.num_photos:
        raise InvalidInputError(f"--use {use}: the capture has only {capture.num_photos} photos.")
    return np.round(np.linspace(0, capture.num_photos - 1, use)).astype(int)


def reconstruct(
    capture: Capture,
    options: RunOptions | None = None,
    on_report: Callable[[Report], None] | None = None,
) -> Result:
    """Recover depth, normals, albedo and light from photos.

    Ctrl-C ends the iteration and keeps what has been reached.
    """
    options = options or RunOptions()
    threads = use_threads(options.threads)
    begin = perf_counter()
    chosen = choose_photos(capture, options.use)
    if len(chosen) < capture.num_photos:
        photos = np.ascontiguousarray(capture.photos[chosen])
        capture = Capture(photos, capture.mask, capture.camera)
    problem = build_problem(capture, options.paper, CpuKernels())
    built = perf_counter()
    start = start_depth(problem, options)
    started = perf_counter()
    state, trace, status = _solve(problem, start, on_report)
    seconds = {
        "build": built - begin,
        "start": started - built,
        "solve": perf_counter() - started,
    }
    warnings = (*_photo_warnings(problem, capture), *start.warnings)
    if status is not Status.ITERATION_LIMIT:
        warnings = (*warnings, str(status))
    return Result(
        collect(problem, state, chosen), status, tuple(trace), start, warnings, seconds, threads
    )


def start_depth(problem: Problem, options: RunOptions) -> Start:
    """Make the start that the options name."""
    camera, domain, init = problem.camera, problem.domain, options.init
    if init == "balloon":
        return balloon_start(camera, domain, options.paper.volume, options.paper.volume_px)
    if init == "constant":
        return constant_start(camera, domain)
    kind, _, path = init.partition(":")
    if kind == "hemisphere" and path:
        return hemisphere_start(camera, domain, load_reconstruction(find_truth(Path(path))))
    return given_start(camera, domain, _read_start(Path(init)))


def _read_start(path: Path) -> np.ndarray:
    if path.suffix.lower() == ".npz" or path.is_dir():
        earlier = find_result(path)
        given = load_reconstruction(earlier if earlier.is_file() else find_truth(path))
        if given.depth is not None:
            return given.depth
        if given.normals is not None:
            return unit_normals(given.normals)
        raise InvalidInputError(f"{path}: holds neither depth nor normals to start from.")
    image = read_image(path)
    if image.shape[2] == 1:
        return image[..., 0].astype(float)
    return normals_from_image(path, image)


def _solve(
    problem: Problem, start: Start, on_report: Callable[[Report], None] | None
) -> tuple[State, list[Report], Status]:
    state = first_state(problem, start.depth)
    trace: list[Report] = []
    try:
        for reached, report in alternate(problem, state):
            if not np.isfinite(report.energy.total):
                return state, trace, Status.NOT_FINITE
            state = reached
            trace.append(report)
            if on_report is not None:
                on_report(report)
    except KeyboardInterrupt:
        return state, trace, Status.INTERRUPTED
    except np.linalg.LinAlgError:
        return state, trace, Status.NOT_FINITE
    return state, trace, Status.ITERATION_LIMIT


def _photo_warnings(problem: Problem, capture: Capture) -> list[str]:
    warnings = []
    places = np.flatnonzero(capture.mask)
    places = places[:: max(1, len(places) // 20000)]
    flat = capture.photos.reshape(capture.num_photos, -1, capture.num_channels)
    sample = np.minimum(flat[:, places] / capture.full_scale / problem.white, _GLARE)
    shape = sample - sample.mean(axis=0)
    if np.sqrt((shape**2).mean()) < _VARIES * np.sqrt((sample**2).mean()):
        warnings.append(
            "the light hardly changes between the photos: shape cannot be told from paint; "
            "move the lamp between shots."
        )
    brightness = sample.max(axis=(1, 2))
    for index in np.flatnonzero(brightness < 0.01):
        warnings.append(f"photo {index} is black on the object; leave it out.")
    if (sample.max(axis=(0, 1)) < 0.01).any():
        warnings.append("a channel is black in all photos; it says nothing about the shape.")
    if capture.num_photos < FEW_PHOTOS:
        warnings.append(
            f"{capture.num_photos} photos leave much of the light open; 10 to 25 work best."
        )
    saturated = float((sample * problem.white >= 1).mean())
    if capture.photos.dtype.kind == "u" and saturated > 0.02:
        warnings.append(
            f"{100 * saturated:.0f} % of the samples on the object are saturated; "
            "expose darker next time."
        )
    return warnings


def collect(problem: Problem, state: State, chosen: np.ndarray) -> Reconstruction:
    """Lay the state out on the photos' grid; the largest albedo is one, the rest is light."""
    domain = problem.domain
    albedo = np.maximum(state.albedo.astype(float), 0)
    largest = float(albedo.max()) or 1.0
    normals, _ = problem.normals(state.depth)
    return Reconstruction(
        mask=np.array(domain.mask),
        camera=problem.camera,
        depth=domain.scatter(state.depth),
        normals=domain.scatter(normals.T),
        albedo=domain.scatter(albedo.T / largest),
        lighting=state.lighting * largest * problem.white,
        photos=chosen,
    )

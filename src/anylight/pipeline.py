"""From a capture to a reconstruction, by the default method or the published one."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import msgspec
import numpy as np

from anylight.baselines.estimate import Estimate
from anylight.baselines.favaro2012 import favaro2012
from anylight.baselines.mo2018 import mo2018
from anylight.baselines.peng2017 import peng2017
from anylight.baselines.woodham import woodham
from anylight.errors import InvalidInputError
from anylight.geometry.domain import Domain
from anylight.initial.integrate import integrate_normals
from anylight.initial.start import (
    Start,
    balloon_start,
    constant_start,
    given_start,
    hemisphere_start,
    known_start,
)
from anylight.io.archive import find_result, find_truth, load_reconstruction
from anylight.io.images import read_image
from anylight.io.normals import normals_from_image, unit_normals
from anylight.joint.findings import findings, scene_warnings
from anylight.joint.newton import NewtonReport
from anylight.joint.run import explain
from anylight.kernels.cpu import CpuKernels
from anylight.model.capture import MIN_PHOTOS, Capture
from anylight.model.options import JointOptions, PaperOptions
from anylight.model.problem import Problem, build_problem, white_level
from anylight.model.reconstruction import Reconstruction
from anylight.model.state import State
from anylight.photometry.shading import balanced, settled
from anylight.solve.alternate import Report, Status, alternate, first_state
from anylight.threads import quiet_algebra, use_threads

FEW_PHOTOS = 6
MIN_JOINT_PHOTOS = 4
"""The default method needs so many."""
PAPER_VOLUME = 0.15
_LIGHT_SAMPLE = 20_000
"""Normals to settle the light on."""
_GLARE = 100.0
"""Brighter than this, relative to white, makes no difference to a warning."""
_VARIES = 0.02
"""Photos whose relative change over the lights stays below this share carry no shape."""


_COMPETITORS: dict[str, Callable[[Capture], Estimate]] = {
    "favaro2012": favaro2012,
    "mo2018": mo2018,
    "woodham": woodham,
}
"""Those that need nothing but the capture."""


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to compute and from where to start."""

    method: Literal["ours", "favaro2012", "peng2017", "mo2018", "woodham"] = "ours"
    """Ours, or a competitor to compare with: factorisation and diffuse maxima (favaro2012), a depth
    prior and first-order light (peng2017), patches with directional light (mo2018, our
    reconstruction), calibrated least squares (woodham, needs known lights)."""
    preset: Literal["default", "paper"] = "default"
    """Of our method. default: shape and light together, no numbers to choose; paper: as
    published."""
    init: str = "balloon"
    """Start: balloon, constant, mo2018, hemisphere:TRUTH (an .npz or its folder), or a file with a
    depth or normal map (.npz; one-channel image: depth; three-channel image: normals, OpenGL
    look)."""
    use: int | None = None
    """Take this many photos, evenly spaced; all if not given."""
    threads: int | None = None
    """Threads to compute with; all cores if not given."""
    volume: float | None = None
    """Balloon: mean height over the square root of the pixel count (disc's hemisphere: 0.376). The
    default tries several and takes the best; the paper preset takes 0.15."""
    volume_px: float | None = None
    """Balloon: mean height in pixels, the paper's κ; overrides --volume."""
    joint: JointOptions = JointOptions()
    paper: PaperOptions = PaperOptions()

    def __post_init__(self) -> None:
        if self.volume is not None and not 0 <= self.volume < 100:
            raise InvalidInputError("--volume must be between 0 and 100.")
        if self.volume_px is not None and not 0 <= self.volume_px < 1e6:
            raise InvalidInputError("--volume-px must not be negative.")
        if self.use is not None and self.use < MIN_PHOTOS:
            raise InvalidInputError(f"--use must be {MIN_PHOTOS} or more.")
        if self.method != "ours" and self.preset != "default":
            raise InvalidInputError(
                f"--preset belongs to our own method; leave it out with --method {self.method}."
            )
        if self.threads is not None and self.threads < 1:
            raise InvalidInputError("--threads must be 1 or more.")


@dataclass(frozen=True, eq=False)
class Result:
    """A reconstruction and how it came about."""

    reconstruction: Reconstruction
    status: Status
    trace: tuple[Report, ...] | tuple[NewtonReport, ...]
    start: Start
    warnings: tuple[str, ...]
    seconds: dict[str, float]
    threads: int
    """Threads that were used."""
    preset: str = "paper"
    """The preset that ran."""
    findings: dict[str, Any] = field(default_factory=dict)
    """Starts, orders and gauge of the default method, for the record."""


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
    on_report: Callable[[Report | NewtonReport, float], None] | None = None,
) -> Result:
    """Recover depth, normals, albedo and light from photos.

    Ctrl-C ends the iteration and keeps what has been reached.

    Args:
        capture: the photos.
        options: what to compute; everything automatic if not given.
        on_report: told about every step and the share of the work done.
    """
    options = options or RunOptions()
    threads = use_threads(options.threads)
    chosen = choose_photos(capture, options.use)
    if len(chosen) < capture.num_photos:
        photos = np.ascontiguousarray(capture.photos[chosen])
        exposures = tuple(capture.exposures[i] for i in chosen) if capture.exposures else ()
        lights = None if capture.lights is None else capture.lights[chosen]
        names = tuple(capture.names[i] for i in chosen) if capture.names else ()
        capture = replace(capture, photos=photos, names=names, exposures=exposures, lights=lights)
    lacks = []
    if options.preset == "default" and capture.num_photos < MIN_JOINT_PHOTOS:
        lacks.append(
            f"{capture.num_photos} photos are too few for the default method; the published one "
            f"was used instead (as with --preset paper). Take {FEW_PHOTOS} photos or more."
        )
    solve = _published if options.preset == "paper" or lacks else _jointly
    if options.method != "ours":
        solve, lacks = _compared, []
    with quiet_algebra():
        result = solve(capture, options, chosen, on_report)
    return replace(result, threads=threads, warnings=(*lacks, *result.warnings))


def _published(
    capture: Capture,
    options: RunOptions,
    chosen: np.ndarray,
    on_report: Callable[[Report | NewtonReport, float], None] | None,
) -> Result:
    """Block descent, as published."""
    begin = perf_counter()
    problem = build_problem(capture, options.paper, CpuKernels())
    built = perf_counter()
    start = start_depth(capture, problem.domain, options)
    if capture.depth is not None and options.init == "balloon":
        warning = "the published method takes the known depth as its start only."
        start = Start(known_start(capture), warnings=(warning,))
    started = perf_counter()
    state, trace, status = _solve(problem, start, on_report)
    seconds = {
        "build": built - begin,
        "start": started - built,
        "solve": perf_counter() - started,
    }
    warnings = (*_photo_warnings(problem.white, capture, chosen), *start.warnings)
    if status is not Status.ITERATION_LIMIT:
        warnings = (*warnings, str(status))
    scene = collect(problem, state, chosen, _colour(capture))
    exposures = np.array(capture.exposures) if capture.exposures else None
    scene = replace(scene, exposures=exposures)
    return Result(scene, status, tuple(trace), start, warnings, seconds, 0)


def _compared(
    capture: Capture,
    options: RunOptions,
    chosen: np.ndarray,
    on_report: Callable[[Report | NewtonReport, float], None] | None,
) -> Result:
    """A competitor; normals without depth are integrated."""
    del on_report
    begin = perf_counter()
    domain = capture.domain()
    start = Start(np.zeros(0))
    if options.method == "peng2017":
        start = start_depth(capture, domain, options)
        found = peng2017(capture, start.depth)
    else:
        found = _COMPETITORS[options.method](capture)
    solved = perf_counter()
    depth = found.depth
    warnings = [*found.warnings, *start.warnings]
    normals = found.normals
    gaps = ~np.isfinite(normals).all(axis=1)
    if depth is None:
        depth = integrate_normals(
            capture.camera, domain, np.where(gaps[:, None], [0.0, 0.0, -1.0], normals)
        )
    albedo, lighting = found.albedo, found.lighting
    if albedo is not None and lighting is not None:
        albedo, lighting = balanced(np.maximum(albedo, 0), lighting, _colour(capture))
    scene = Reconstruction(
        mask=np.array(capture.mask),
        camera=capture.camera,
        depth=domain.scatter(depth),
        normals=domain.scatter(normals),
        albedo=None if albedo is None else domain.scatter(albedo.T.copy()),
        lighting=lighting,
        photos=chosen,
        exposures=np.array(capture.exposures) if capture.exposures else None,
    )
    seconds = {"solve": solved - begin, "integrate": perf_counter() - solved}
    return Result(
        scene, Status.FINISHED, (), start, tuple(warnings), seconds, 0, options.method,
        {"diagnostics": found.diagnostics},
    )  # fmt: skip


def _jointly(
    capture: Capture,
    options: RunOptions,
    chosen: np.ndarray,
    on_report: Callable[[Report | NewtonReport, float], None] | None,
) -> Result:
    """Shape and light together, albedo eliminated."""
    begin = perf_counter()
    white = white_level(capture)
    domain = capture.domain()
    start = Start(np.zeros(0))
    given, volume = None, options.volume
    if options.init != "balloon":
        start = start_depth(capture, domain, options)
        given = start.depth
    elif capture.depth is not None:
        given = known_start(capture)
    elif options.volume_px is not None:
        volume = float(options.volume_px / np.sqrt(np.bincount(domain.components).max()))
    started = perf_counter()
    trace: list[NewtonReport] = []

    def tell(report: NewtonReport, share: float) -> None:
        trace.append(report)
        if on_report is not None:
            on_report(report, share)

    found = explain(capture, white, options.joint, volume=volume, start=given, tell=tell)
    status = Status.INTERRUPTED if found.interrupted else Status.FINISHED
    warnings = [*_photo_warnings(white / capture.full_scale, capture, chosen), *start.warnings]
    warnings += scene_warnings(found, capture)
    if volume == 0 and given is None:
        warnings.append(
            "a balloon with a volume of zero is flat and says nothing about the light; the run "
            "started without a balloon."
        )
    if status is Status.INTERRUPTED:
        warnings.append(str(status))
    sample = found.normals[:, :: max(1, domain.size // _LIGHT_SAMPLE)].T.astype(float)
    light = settled(found.lighting, sample)
    albedo, lighting = balanced(found.albedo.astype(float), light, _colour(capture))
    radiance = white / capture.full_scale
    scene = Reconstruction(
        mask=np.array(capture.mask),
        camera=capture.camera,
        depth=domain.scatter(found.depth),
        normals=domain.scatter(found.normals.T.copy()),
        albedo=domain.scatter(albedo.T.copy()),
        lighting=lighting * radiance,
        confidence=domain.scatter(found.confidence),
        photos=chosen,
        exposures=np.array(capture.exposures) if capture.exposures else None,
        unit=capture.unit,
    )
    seconds = {"start": started - begin, "solve": perf_counter() - started}
    return Result(
        scene, status, tuple(trace), start, tuple(warnings), seconds, 0, "default", findings(found)
    )


def _colour(capture: Capture) -> np.ndarray:
    """Mean of all photos over the object, relative to full scale."""
    total = np.zeros(capture.num_channels)
    for photo in capture.photos:
        total += photo[capture.mask].mean(axis=0, dtype=float)
    return total / (capture.num_photos * capture.full_scale)


def start_depth(capture: Capture, domain: Domain, options: RunOptions) -> Start:
    """Make the start that the options name."""
    init, camera = options.init, capture.camera
    if init == "balloon":
        volume = PAPER_VOLUME if options.volume is None else options.volume
        return balloon_start(camera, domain, volume, options.volume_px)
    if init == "constant":
        return constant_start(camera, domain)
    if init == "mo2018":
        found = mo2018(capture)
        depth = integrate_normals(camera, domain, found.normals)
        return Start(depth, warnings=found.warnings)
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
    problem: Problem,
    start: Start,
    on_report: Callable[[Report | NewtonReport, float], None] | None,
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
                on_report(report, report.iteration / problem.options.iterations)
    except KeyboardInterrupt:
        return state, trace, Status.INTERRUPTED
    except np.linalg.LinAlgError:
        return state, trace, Status.NOT_FINITE
    return state, trace, Status.ITERATION_LIMIT


def _photo_warnings(white: float, capture: Capture, chosen: np.ndarray) -> list[str]:
    warnings = []
    places = np.flatnonzero(capture.mask)
    places = places[:: max(1, len(places) // 20000)]
    flat = capture.photos.reshape(capture.num_photos, -1, capture.num_channels)
    sample = np.minimum(flat[:, places] / capture.full_scale / white, _GLARE)
    shape = sample - sample.mean(axis=0)
    if np.sqrt((shape**2).mean()) < _VARIES * np.sqrt((sample**2).mean()):
        warnings.append(
            "the light hardly changes between the photos: shape cannot be told from paint; "
            "move the lamp between shots."
        )
    brightness = sample.max(axis=(1, 2))
    for index in np.flatnonzero(brightness < 0.01):
        name = capture.names[index] if capture.names else f"photo {chosen[index]}"
        warnings.append(f"{name} is black on the object; leave it out.")
    if (sample.max(axis=(0, 1)) < 0.01).any():
        warnings.append("a channel is black in all photos; it says nothing about the shape.")
    if capture.num_photos < FEW_PHOTOS:
        warnings.append(
            f"{capture.num_photos} photos leave much of the light open; 10 to 25 work best."
        )
    saturated = float((sample * white >= 1).mean())
    if capture.photos.dtype.kind == "u" and saturated > 0.02:
        warnings.append(
            f"{100 * saturated:.0f} % of the samples on the object are saturated; "
            "expose darker next time."
        )
    return warnings


def collect(
    problem: Problem, state: State, chosen: np.ndarray, colour: np.ndarray
) -> Reconstruction:
    """Lay the state out on the photos' grid; the largest albedo is one, the rest is light."""
    domain = problem.domain
    albedo, lighting = balanced(np.maximum(state.albedo.astype(float), 0), state.lighting, colour)
    normals, _ = problem.normals(state.depth)
    return Reconstruction(
        mask=np.array(domain.mask),
        camera=problem.camera,
        depth=domain.scatter(state.depth),
        normals=domain.scatter(normals.T),
        albedo=domain.scatter(albedo.T.copy()),
        lighting=lighting * problem.white,
        photos=chosen,
    )

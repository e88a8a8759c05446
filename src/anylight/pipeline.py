"""From a capture to a result, by any method."""

import logging
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Int
from numpy.typing import ArrayLike

from anylight.doctor.sentences import told
from anylight.errors import InvalidInputError
from anylight.initial.options import BalloonOptions
from anylight.initial.start import constant_start, given_start, hemisphere_start
from anylight.intake.memory import depth_map, find_camera, make_capture
from anylight.io.archive import find_result, find_truth, load_reconstruction
from anylight.io.normals import unit_normals
from anylight.io.results import load_result
from anylight.joint.method import DEFAULT
from anylight.methods import is_registered, method_named
from anylight.model.capture import MIN_PHOTOS, Capture
from anylight.model.method import Iteration, Method, Progress, Solution, StopRequestedError
from anylight.model.options import field_names, made, unknown_option
from anylight.model.result import Result
from anylight.paper.method import PAPER
from anylight.threads import quiet_algebra, use_threads

BALLOON = "balloon"
_LOG = logging.getLogger("anylight")
"""Every step, for those who listen at DEBUG."""


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to compute and from where to start, whatever the method."""

    method: str = DEFAULT.name
    """Which method: default, paper (as published), a competitor to compare with, or one that
    another package registers. `registered` and --help list them."""
    preset: str | None = None
    """Another word for --method, of ours: default or paper."""
    init: str = BALLOON
    """Start: balloon, constant, the name of a method, hemisphere:TRUTH (an .npz or its folder), or
    a file with a depth or normal map (.npz; one-channel image: depth; three-channel image: normals,
    OpenGL look)."""
    use: int | None = None
    """Take this many photos, evenly spaced; all if not given."""
    threads: int | None = None
    """Threads to compute with; all cores if not given."""

    def __post_init__(self) -> None:
        if self.use is not None and self.use < MIN_PHOTOS:
            raise InvalidInputError(f"--use must be {MIN_PHOTOS} or more.")
        if self.preset not in (None, DEFAULT.name, PAPER.name):
            raise InvalidInputError(
                f"there is no preset called {self.preset}; there are {DEFAULT.name} and "
                f"{PAPER.name}."
            )
        if self.preset is not None and self.method not in (DEFAULT.name, "ours", self.preset):
            raise InvalidInputError(
                f"--preset belongs to our own method; leave it out with --method {self.method}."
            )
        if self.threads is not None and self.threads < 1:
            raise InvalidInputError("--threads must be 1 or more.")
        method = self.chosen()
        if self.init != BALLOON and not method.takes_start:
            raise InvalidInputError(
                f"--init: the method {method.name} takes no start; leave it out."
            )

    def chosen(self) -> Method[Any]:
        """The method that is asked for."""
        return method_named(self.preset or self.method)


def reconstruct(
    photos: Capture | ArrayLike,
    mask: ArrayLike | None = None,
    K: ArrayLike | None = None,  # noqa: N803
    *,
    on_progress: Callable[[Progress], None] | None = None,
    **choices: Any,
) -> Result:
    """Recover depth, normals, albedo and light from photos.

    Two lines do: `import anylight`, then `anylight.reconstruct(photos, mask=mask, K=K)`.

    Args:
        photos: a capture, or arrays as `make_capture` takes them.
        mask: with arrays: what is object.
        K: with arrays: the 3×3 intrinsics.
        on_progress: told about every step.
        **choices: further arguments of `make_capture` (camera, transfer, depth, start, lights,
            exposures), fields of `RunOptions` (method, init, use, threads), and options of the
            method (for the default: volume, order, ...). What does not exist is refused. `method`
            may be a `Method` of your own.
    """
    run = iterate(photos, mask, K, **choices)
    for progress in run:
        if on_progress is not None:
            on_progress(progress)
    return run.result


def iterate(
    photos: Capture | ArrayLike,
    mask: ArrayLike | None = None,
    K: ArrayLike | None = None,  # noqa: N803
    **choices: Any,
) -> Iteration[Result]:
    """The same as `reconstruct`, one step at a time.

    Iterate over the run to see every step, call its `stop` to end it between two, and take its
    `result`, which runs what is left.
    """
    own = choices.pop("method") if isinstance(choices.get("method"), Method) else None
    if own is not None and choices.get("preset") is not None:
        raise InvalidInputError("give a method or a preset, not both.")
    given = {name: choices.pop(name) for name in _GIVEN if name in choices}
    given = {name: value for name, value in given.items() if value is not None}
    asked = {name: choices.pop(name) for name in field_names(RunOptions) if name in choices}
    options = made(RunOptions, asked, "a run")
    capture, warnings = _captured(photos, mask, K, given)
    choose_photos(capture, options.use)
    method = own or options.chosen()
    if capture.start is not None and options.init != BALLOON:
        raise InvalidInputError("give a start or --init, not both.")
    for name in choices:
        if name not in field_names(method.options):
            known = (*field_names(method.options), *field_names(RunOptions), *_GIVEN)
            raise InvalidInputError(unknown_option(name, f"the method {method.name}", known))
    settings = made(method.options, choices, f"the method {method.name}")
    return Iteration(steps(capture, options, settings, warnings, own))


_GIVEN = ("camera", "transfer", "depth", "start", "lights", "exposures")
"""Arguments that describe the capture."""


def _captured(
    photos: Capture | ArrayLike,
    mask: ArrayLike | None,
    K: ArrayLike | None,  # noqa: N803
    given: dict[str, Any],
) -> tuple[Capture, tuple[str, ...]]:
    """A capture from whatever was given, and warnings about guesses."""
    if not isinstance(photos, Capture):
        capture = make_capture(photos, mask, K, **given)
        return capture, find_camera(capture.mask.shape, K, given.get("camera")).warnings
    start = given.pop("start", None)
    extra = [name for name, value in (("mask", mask), ("K", K)) if value is not None]
    if extra or given:
        raise InvalidInputError(
            f"{[*extra, *given][0]} is part of the capture already; make another capture, or give "
            "the photos as an array."
        )
    if start is None:
        return photos, ()
    domain = photos.domain()
    first = np.asarray(start, float) if np.ndim(start) == 3 else depth_map("start", start)
    depth = given_start(photos.camera, domain, first).depth
    return replace(photos, start=domain.scatter(depth)), ()


def steps(
    capture: Capture,
    options: RunOptions,
    settings: msgspec.Struct | None = None,
    warnings: tuple[str, ...] = (),
    method: Method[Any] | None = None,
) -> Generator[Progress, None, Result]:
    """Run a method; yields its progress, returns the result.

    Args:
        capture: the photos.
        options: what to compute.
        settings: the method's own options; its defaults if not given.
        warnings: what is to be said anyway.
        method: one that is not registered, instead of that of the options.
    """
    threads = use_threads(options.threads)
    chosen = choose_photos(capture, options.use)
    capture = capture.some(chosen)
    used: Method[Any] = method or options.chosen()
    settings = used.options() if settings is None else settings
    if used is DEFAULT and capture.num_photos < used.min_photos:
        used, settings = PAPER, _for_few(settings)
        warnings = (
            *warnings,
            f"{capture.num_photos} photos are too few for the default method; the published one "
            "was used instead, as with --method paper, which has other options. Take 6 photos or "
            "more.",
        )
    if capture.num_photos < used.min_photos:
        raise InvalidInputError(
            f"the method {used.name} needs {used.min_photos} photos or more, not "
            f"{capture.num_photos}."
        )
    if capture.depth is not None and not used.takes_depth:
        warnings = (*warnings, f"the method {used.name} does not look at the known depth.")
    begin = perf_counter()
    with quiet_algebra():
        capture, more = _with_start(capture, options, used)
    more = (*more, *_unused_balloon(capture, used, settings))
    started = perf_counter()
    trace: list[Progress] = []
    solution = yield from _traced(used, used.run(capture, settings), trace, threads)
    seconds = {"start": started - begin, "solve": perf_counter() - started}
    solution = told(solution, capture, chosen)
    exposures = np.array(capture.exposures) if capture.exposures else None
    return Result(
        reconstruction=replace(solution.scene, photos=chosen, exposures=exposures),
        status=solution.status,
        trace=tuple(trace),
        warnings=(*warnings, *more, *solution.warnings),
        seconds=seconds,
        threads=threads,
        method=used.name,
        record=solution.record,
    )


def _traced(
    method: Method[Any], running: Any, trace: list[Progress], threads: int
) -> Generator[Progress, None, Solution]:
    """The same steps, those with numbers remembered.

    The process is held to few threads while a step is taken, and left alone between two.
    """
    if not isinstance(running, Generator):
        raise TypeError(f"the method {method.name}: run must be a generator; yield a Progress")
    run = Iteration(running)
    while True:
        use_threads(threads)
        with quiet_algebra():
            progress = next(run, None)
        if progress is None:
            break
        if not isinstance(progress, Progress):
            raise TypeError(f"the method {method.name} yielded {type(progress).__name__}")
        _LOG.debug("%s", progress.line)
        if progress.report is not None:
            trace.append(replace(progress, state=None))
        try:
            yield progress
        except StopRequestedError:
            run.stop()
    solution = run.result
    if not isinstance(solution, Solution):
        raise TypeError(
            f"the method {method.name} returned {type(solution).__name__}, not a Solution"
        )
    return solution


def _unused_balloon(
    capture: Capture, method: Method[Any], settings: msgspec.Struct
) -> tuple[str, ...]:
    """A sentence for whoever asked for a balloon where none is blown."""
    if not isinstance(settings, BalloonOptions):
        return ()
    asked = settings.volume is not None or settings.volume_px is not None
    known = capture.depth is not None and method.takes_depth
    if not asked or not (known or capture.start is not None):
        return ()
    why = "a start was given" if capture.start is not None else "the known depth is the start"
    return (f"the balloon's volume was not used: {why}.",)


def _for_few(settings: msgspec.Struct) -> msgspec.Struct:
    assert isinstance(settings, BalloonOptions)
    return PAPER.options(volume=settings.volume, volume_px=settings.volume_px)


def choose_photos(capture: Capture, use: int | None) -> Int[np.ndarray, " M"]:
    """Numbers of the photos to use, evenly spaced."""
    if use is None:
        return np.arange(capture.num_photos)
    if use > capture.num_photos:
        raise InvalidInputError(f"--use {use}: the capture has only {capture.num_photos} photos.")
    return np.round(np.linspace(0, capture.num_photos - 1, use)).astype(int)


def _with_start(
    capture: Capture, options: RunOptions, method: Method[Any]
) -> tuple[Capture, tuple[str, ...]]:
    """The capture with the start that the options name, and what is to be said of it."""
    if not method.takes_start and (capture.start is not None or options.init != BALLOON):
        raise InvalidInputError(f"the method {method.name} takes no start; leave it out.")
    if options.init == BALLOON:
        return capture, ()
    camera, domain = capture.camera, capture.domain()
    warnings: tuple[str, ...] = ()
    kind, _, path = options.init.partition(":")
    if options.init == "constant":
        found = constant_start(camera, domain)
    elif is_registered(options.init):
        other = Iteration(
            method_named(options.init).run(capture, method_named(options.init).options())
        )
        normals = other.result.scene.normals
        if normals is None:
            raise InvalidInputError(f"--init {options.init}: this method gives no normals.")
        found = given_start(camera, domain, normals)
        warnings = other.result.warnings
    elif kind == "hemisphere" and path:
        found = hemisphere_start(camera, domain, load_reconstruction(find_truth(Path(path))))
    else:
        found = given_start(camera, domain, _read_start(Path(options.init)))
    return replace(capture, start=domain.scatter(found.depth)), warnings


def _read_start(path: Path) -> np.ndarray:
    """A depth, or normals, from a result or an image."""
    if path.is_dir() and not find_result(path).is_file():
        path = find_truth(path)
    given = load_result(path)
    if given.depth is not None:
        return given.depth
    if given.normals is None:
        raise InvalidInputError(f"{path}: holds neither depth nor normals to start from.")
    return unit_normals(given.normals)

"""From a capture to its explanation: what the photos say, the course, normals, depth, paint."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, Float

from anylight.facets.grid import FacetGrid, Heights
from anylight.geometry.camera import Camera, Orthographic, Perspective
from anylight.geometry.domain import Domain
from anylight.integration.jumps import step_heights
from anylight.integration.robust import robust_surface
from anylight.integration.smooth import depth_of
from anylight.joint.course.lenses import LensChoice, choose_lens, with_lens
from anylight.joint.course.plan import Plan
from anylight.joint.course.schedule import Course, solve
from anylight.joint.nearby.phase import settle
from anylight.joint.options import DefaultOptions
from anylight.joint.paint.ambiguity import hue_stride, with_colour_of, without_shading
from anylight.joint.paint.evening import evened
from anylight.joint.paint.refit import Painting, paint, plausible
from anylight.joint.pixels.confidence import confidence, spread_deg
from anylight.joint.pixels.normals import PixelNormals, pixel_normals, surface_normals
from anylight.joint.problem.eigenphotos import averaged, compress
from anylight.joint.problem.fit import Fit, Light, basis_of, seen_from_middle
from anylight.joint.problem.packed import pack
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.shadows.phase import Seen, Shadowed, see
from anylight.joint.step.newton import NewtonReport
from anylight.joint.terms.known_depth import KnownDepth
from anylight.joint.terms.protocol import Term
from anylight.model.capture import Capture
from anylight.model.journal import page, remembered
from anylight.model.method import Progress, StopRequestedError
from anylight.model.orders import orders_for
from anylight.model.samples import mean_photo
from anylight.model.status import Status
from anylight.photometry.environment import project_lamps
from anylight.photometry.near import NearLight
from anylight.sky import lamp_directions

Made = TypeVar("Made")
MakeTerm = Callable[[FacetGrid], Term]
"""Makes a term for the pixels at full resolution."""
_KNOWN_STRENGTH = 0.05
"""What one spread of a known depth costs, as a share of the photos' energy. [share]"""
_SPANS = 0.5
"""Facets whose weight falls below this span a depth step. [share]"""
_LEAST_COVER = 1e-3
"""No pixel counts less, however many of its samples are bad. (guard)"""
_COURSE_SHARE = 0.5
"""Share of the work that the course is. (progress)"""
_SHADOW_SHARE = (0.6, 0.95)
"""Shares of the work between which cast shadows are explained. (progress)"""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Shape, albedo and light of the masked pixels, and how sure they are."""

    depth: Float[np.ndarray, " P"]
    normals: Float[np.ndarray, "3 P"]
    albedo: Float[np.ndarray, "C P"]
    lighting: Float[np.ndarray, "M C K"]
    confidence: Float[np.ndarray, " P"]
    spans_step: Bool[np.ndarray, " P"]
    """Pixels whose facet spans a depth step."""
    course: Course
    noise: float
    bad_share: float
    """Share of the samples that are saturated or black."""
    status: Status
    first_noise: float
    """Of the explanation without cast shadows."""
    camera: Camera
    """The capture's, or the one that was chosen because nobody knew it."""
    lens: LensChoice | None = None
    """How it was chosen."""
    near: NearLight | None = None
    """The light of lamps that are near."""
    seen: Seen | None = None
    """What was found about cast shadows, if they were looked for."""
    openness: Float[np.ndarray, " P"] | None = None
    """Share of an even sky that reaches every pixel; None without cast shadows."""
    lamps: Float[np.ndarray, "M C D"] | None = None
    """Strengths of the lamps of every photo; None without cast shadows."""
    bounce: Float[np.ndarray, " C"] | None = None
    """What hidden directions give, relative to what surrounds a pixel; None without shadows."""


class _LastSteps:
    """Steps after the course: once stopped, each gives way to something quick."""

    def __init__(self, stopped: bool) -> None:
        self.stopped = stopped
        self._share = _COURSE_SHARE

    def take(
        self, line: str, step: Callable[[], Made], instead: Callable[[], Made]
    ) -> Generator[Progress, None, Made]:
        """Announce a step and take it, or what stands in for it."""
        if not self.stopped:
            try:
                yield Progress(self._share, line)
            except StopRequestedError:
                self.stopped = True
        self._share += (1 - self._share) / 4
        return instead() if self.stopped else step()


def _kept(
    begun_from: tuple[Any, ...], work: Callable[[], Made], made: tuple[type, ...] = ()
) -> Callable[[], Made]:
    """The same work, remembered: a name and everything it begins from, and what it may make."""
    return lambda: remembered(page(*begun_from), work, made)


def explain(
    capture: Capture,
    white: float,
    options: DefaultOptions,
    *,
    start: Float[np.ndarray, " P"] | None = None,
    make_terms: Sequence[MakeTerm] = (),
    plan: Plan | None = None,
) -> Generator[Progress, None, Explanation]:
    """Find shape, albedo and light; a known depth of the capture is part of the energy.

    Args:
        capture: the photos.
        white: stored value that becomes one.
        options: what may be asked.
        start: start from this depth instead of balloons.
        make_terms: what else costs energy.
        plan: another course than the options ask for, to measure what its parts are worth.
    """
    photos = averaged(compress(capture, white, options.eigenphotos), capture.domain())
    level = (plan.discretisation if plan else PyramidLevel)(
        mask=np.array(capture.mask),
        camera=capture.camera,
        photos=pack(photos.values),
        num_channels=capture.num_channels,
        cover=np.maximum(photos.good, _LEAST_COVER).astype(np.float32),
    )
    photos = photos.without_values()
    known = _known(capture, level, options)
    terms = [*([] if known is None else [known]), *(make(level) for make in make_terms)]
    plan = plan or _plan(capture, options, known)
    lens = None
    if _may_try_lenses(capture, start, terms):
        lens = yield from choose_lens(level, replace(plan, flip=False, near=False))
        camera = with_lens(capture.camera, lens.focal_35mm)
        level, capture = replace(level, camera=camera), replace(capture, camera=camera)
    given = None if start is None else corner_heights(level, start)
    course = yield from _reported(solve(level, plan, terms, given))
    last = _LastSteps(course.status is Status.INTERRUPTED)
    level, surface, light = yield from _arrived(level, course, plan, last)
    course = course.without_state()
    as_it_is = partial(surface_normals, level, surface, light)
    if plan.jumps:
        normals = yield from last.take(
            "normals of single pixels",
            _kept(
                ("normals", level, light, surface),
                partial(pixel_normals, level, light, level.fields(surface)),
                (PixelNormals, Fit),
            ),
            as_it_is,
        )
    else:
        normals = as_it_is()
    spans = yield from last.take(
        "depth steps",
        _kept(("spans", level, normals, surface), partial(spanning, level, normals, surface)),
        partial(np.zeros, level.size, bool),
    )
    smooth = level.at_pixels(surface)
    sure = confidence(spread_deg(level, normals))
    unit, albedo = normals.fit.unit, normals.fit.albedo.T.copy()
    lighting, domain = photos.lighting(seen_from_middle(level, light)), level.domain
    order, noise, bad_share = basis_of(level, light).order, photos.noise, photos.bad_share
    near = NearLight(level.closeness, photos.lighting(light)) if level.closeness else None
    even = evened(capture, white, near, unit, level.fields(surface))
    trusted = None
    if known is not None:
        deviation = known.deviation(smooth)
        smooth = smooth - deviation.mean
        trusted = (np.where(known.weight > 0, known.height, 0.0), deviation.weight)
    # Large, and the rest looks at the capture itself.
    del level, surface, photos, normals, as_it_is, terms, known
    height = smooth
    if plan.jumps:
        height = yield from last.take(
            "depth with steps",
            _kept(
                ("heights", capture.camera, domain, unit, trusted),
                partial(step_heights, capture.camera, domain, unit, known=trusted),
            ),
            lambda: smooth,
        )
    if trusted is not None:
        height = _joined(domain, height, *trusted)
    plain = albedo
    albedo = yield from last.take(
        "albedo without shading",
        _kept(
            ("unshaded", capture, white, plain, unit, spans, order),
            lambda: with_colour_of(
                without_shading(domain, plain, unit, ~spans, order),
                mean_photo(capture, hue_stride(domain.size)).astype(np.float32),
                unit,
            ),
        ),
        lambda: plain,
    )
    painting = yield from last.take(
        "albedo and light of every photo",
        _kept(
            ("paint", *even, unit, albedo, lighting, order),
            partial(paint, *even, unit, albedo, lighting, order),
            (Painting,),
        ),
        lambda: Painting(albedo, lighting, noise),
    )
    seen = None
    if _may_hide(capture, options, make_terms, plan):
        looking = see(*even, height, unit, painting.albedo, painting.noise)
        seen = yield from _seen(looking, last)
    if seen is not None and seen.found is not None:
        rest = (course, spans, bad_share, painting.noise)
        return replace(_under_shadows(capture, seen, seen.found, *rest), lens=lens, near=near)
    return Explanation(
        status=Status.INTERRUPTED if last.stopped else course.status,
        depth=depth_of(capture.camera, domain, height) if trusted is None else np.exp(height),
        normals=unit,
        albedo=painting.albedo,
        lighting=painting.lighting,
        confidence=sure,
        spans_step=spans,
        course=course,
        noise=painting.noise,
        bad_share=bad_share,
        first_noise=painting.noise,
        seen=seen,
        camera=capture.camera,
        lens=lens,
        near=near,
    )


def _may_try_lenses(
    capture: Capture, start: Float[np.ndarray, " P"] | None, terms: Sequence[Term]
) -> bool:
    """Whether the lens is open, and nothing depends on the guess."""
    is_open = not capture.lens_known and isinstance(capture.camera, Perspective)
    return is_open and start is None and not terms


def _may_hide(
    capture: Capture, options: DefaultOptions, make_terms: Sequence[MakeTerm], plan: Plan
) -> bool:
    """Whether cast shadows are looked for: their energy knows nothing of other terms."""
    if options.shadows == "off" or capture.depth is not None or make_terms:
        return False
    return plan.jumps


def _arrived(
    level: PyramidLevel, course: Course, plan: Plan, last: _LastSteps
) -> Generator[Progress, None, tuple[PyramidLevel, Heights, Light]]:
    """Where the course ended; under near lamps, what they say without an expansion."""
    state = course.state
    if course.closeness != level.closeness:
        level = replace(level, closeness=course.closeness)
    if not level.closeness or not plan.jumps or last.stopped:
        return level, state.surface, state.light
    settling = settle(level, state.surface, state.light, plan.orders[-1], _COURSE_SHARE)
    try:
        found = yield from settling
    except StopRequestedError:
        last.stopped = True
        return level, state.surface, state.light
    return replace(level, closeness=found.closeness), found.surface, found.light


def _seen(
    looking: Generator[Progress, None, Seen], last: _LastSteps
) -> Generator[Progress, None, Seen | None]:
    """What was found about cast shadows, unless it was stopped."""
    if last.stopped:
        return None
    try:
        seen = yield from _within(_SHADOW_SHARE, looking)
        yield Progress(_SHADOW_SHARE[1], seen.verdict, "shadows")
    except StopRequestedError:
        last.stopped = True
        return None
    return seen


def _within(
    shares: tuple[float, float], steps: Generator[Progress, None, Made]
) -> Generator[Progress, None, Made]:
    """The progress of a part as progress of the whole."""
    begin, end = shares
    while True:
        try:
            progress = next(steps)
        except StopIteration as last:
            return last.value
        yield replace(progress, share=begin + (end - begin) * progress.share)


def _under_shadows(
    capture: Capture,
    seen: Seen,
    found: Shadowed,
    course: Course,
    spans: Bool[np.ndarray, " P"],
    bad_share: float,
    first_noise: float,
) -> Explanation:
    """The explanation that cast shadows are part of."""
    order = course.orders[-1]
    return Explanation(
        status=course.status,
        depth=depth_of(capture.camera, capture.domain(), found.height),
        normals=found.faces.unit,
        albedo=plausible(found.faces.albedo),
        lighting=project_lamps(lamp_directions().astype(float), found.lamps, order),
        confidence=confidence(found.spread_deg()),
        spans_step=spans,
        course=course,
        noise=found.noise,
        bad_share=bad_share,
        first_noise=first_noise,
        seen=seen,
        camera=capture.camera,
        openness=found.faces.openness,
        lamps=found.lamps,
        bounce=found.bounce,
    )


def _known(capture: Capture, level: PyramidLevel, options: DefaultOptions) -> KnownDepth | None:
    """The known depth of a capture as a term."""
    if capture.depth is None:
        return None
    depth = capture.depth[capture.mask]
    return KnownDepth(
        level,
        np.log(np.where(depth > 0, depth, 1.0)),
        1.0 * (depth > 0),
        _KNOWN_STRENGTH * options.depth_weight,
    )


def _joined(
    domain: Domain,
    height: Float[np.ndarray, " P"],
    known: Float[np.ndarray, " P"],
    weight: Float[np.ndarray, " P"],
) -> Float[np.ndarray, " P"]:
    """Pieces of the mask without any known depth at the mean depth of those that have one."""
    own = domain.components
    counts, sums = np.bincount(own), np.bincount(own, height)
    alone = np.bincount(own, weight) <= 0
    middle = float(known @ weight / weight.sum())
    return height + np.where(alone, middle - sums / counts, 0.0)[own]


def _plan(capture: Capture, options: DefaultOptions, known: KnownDepth | None) -> Plan:
    """The course that the options ask for."""
    plan = Plan(
        orders=tuple(o for o in orders_for(capture.num_photos) if o <= options.order),
        refine_iterations=options.refine_iterations,
        rivals=known is None,
        flip=options.flip,
    )
    volume = options.relative_volume(capture.domain())
    return plan if volume is None else replace(plan, volumes=(volume,) * (volume != 0))


def _reported(
    course: Generator[tuple[object, NewtonReport, float], None, Course],
) -> Generator[Progress, None, Course]:
    """The course's steps as progress; whoever is thrown in goes on to the course."""
    try:
        state, report, share = next(course)
        while True:
            stage = f"{report.start}, level {report.level}, order {report.order}"
            progress = Progress(
                _COURSE_SHARE * share,
                f"{stage}, step {report.iteration}: energy {report.energy:.4g} per pixel",
                stage,
                report.energy,
                report,
                state,
            )
            try:
                yield progress
            except StopRequestedError as stop:
                state, report, share = course.throw(stop)
            else:
                state, report, share = next(course)
    except StopIteration as end:
        return end.value


def spanning(
    level: PyramidLevel, normals: PixelNormals, surface: Heights
) -> Bool[np.ndarray, " P"]:
    """Pixels whose facet no surface through the normals can fit: it spans a depth step."""
    _, held = robust_surface(level, normals.p, normals.q, level.cover, surface)
    return held < _SPANS


def corner_heights(level: FacetGrid, depth: Float[np.ndarray, " P"]) -> Heights:
    """A surface from a depth of the pixels."""
    height = depth if isinstance(level.camera, Orthographic) else np.log(depth)
    return level.over_pixels(height)

"""From a capture to its explanation by the default method."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Float

from anylight.geometry.camera import Orthographic
from anylight.initial.integrate import depth_of
from anylight.model.capture import Capture
from anylight.model.options import JointOptions
from anylight.photometry.harmonics import order_of

from .confidence import confidence, spread_deg
from .depth import step_heights
from .eigenphotos import averaged, compress
from .integrate import robust_surface
from .known import difference
from .level import Level, Surface
from .local import Facing, face, facing_of
from .newton import NewtonReport
from .paint_gauge import with_colour_of, without_shading
from .polish import Painting, paint
from .schedule import VOLUMES, Course, Plan, orders_for, solve

Made = TypeVar("Made")
_KNOWN_STRENGTH = 0.05
_SPANS = 0.5
"""Facets whose weight falls below this span a depth step."""


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
    interrupted: bool


class _LastSteps:
    """Steps after the solver: once interrupted, each gives way to something quick."""

    def __init__(self) -> None:
        self.interrupted = False

    def take(self, step: Callable[[], Made], instead: Callable[[], Made]) -> Made:
        """Take a step, or what stands in for it."""
        if not self.interrupted:
            try:
                return step()
            except KeyboardInterrupt:
                self.interrupted = True
        return instead()


def explain(
    capture: Capture,
    white: float,
    options: JointOptions,
    *,
    volume: float | None = None,
    start: Float[np.ndarray, " P"] | None = None,
    tell: Callable[[NewtonReport, float], None] | None = None,
    plan: Plan | None = None,
) -> Explanation:
    """Find shape, albedo and light; a known depth of the capture is part of the energy.

    Args:
        capture: the photos.
        white: stored value that becomes one.
        options: what may be asked.
        volume: start from this balloon instead of several.
        start: start from this depth instead.
        tell: told about every step and the share of the work done.
        plan: another course than the options ask for, to measure what its parts are worth.
    """
    photos = averaged(compress(capture, white, options.eigenphotos), capture.domain())
    level = (plan.discretisation if plan else Level)(
        mask=np.array(capture.mask),
        camera=capture.camera,
        photos=photos.values,
        num_channels=capture.num_channels,
        cover=np.maximum(photos.good, 1e-3).astype(np.float32),
    )
    known = None if capture.depth is None else capture.depth[capture.mask]
    if known is not None:
        level = replace(
            level,
            known=np.log(np.where(known > 0, known, 1.0)),
            known_weight=1.0 * (known > 0),
            known_strength=_KNOWN_STRENGTH * options.depth_weight,
        )
    plan = plan or Plan(
        orders=tuple(o for o in orders_for(capture.num_photos) if o <= options.order),
        volumes=VOLUMES if volume is None else (volume,) * (volume != 0),
        refine_iterations=options.refine_iterations,
        rivals=known is None,
    )
    given = None if start is None else corner_surface(level, start)
    course = solve(level, plan, given, tell)
    surface, light = course.state.surface, course.state.light
    last = _LastSteps()
    as_it_is = partial(facing_of, level, surface, light)
    facing = last.take(partial(face, level, light), as_it_is) if plan.jumps else as_it_is()
    spans = last.take(
        partial(spanning, level, facing, surface), partial(np.zeros, level.size, bool)
    )
    smooth = level.at_pixels(surface)
    sure = confidence(spread_deg(level, facing))
    unit, albedo = facing.fit.unit, facing.fit.albedo.T.copy()
    lighting, domain, order = photos.lighting(light), level.domain, order_of(len(light))
    noise, bad_share = photos.noise, photos.bad_share
    trusted = None
    if known is not None:
        found = difference(level, smooth)
        smooth = smooth - found.mean
        trusted = (np.where(known > 0, np.log(np.where(known > 0, known, 1.0)), 0.0), found.weight)
    del level, photos, facing, as_it_is  # large, and what follows looks at the capture itself
    height = smooth
    if plan.jumps:
        height = last.take(
            partial(step_heights, capture.camera, domain, unit, known=trusted), lambda: smooth
        )
    plain = albedo
    albedo = last.take(partial(without_shading, domain, albedo, unit, ~spans, order), lambda: plain)
    albedo = last.take(
        partial(with_colour_of, albedo, mean_photo(capture, white), unit), lambda: plain
    )
    painting = last.take(
        partial(paint, capture, white, unit, albedo, lighting, order),
        lambda: Painting(albedo, lighting, noise),
    )
    return Explanation(
        interrupted=course.interrupted or last.interrupted,
        depth=depth_of(capture.camera, domain, height) if known is None else np.exp(height),
        normals=unit,
        albedo=painting.albedo,
        lighting=painting.lighting,
        confidence=sure,
        spans_step=spans,
        course=course,
        noise=painting.noise,
        bad_share=bad_share,
    )


def mean_photo(capture: Capture, white: float) -> Float[np.ndarray, "C P"]:
    """The masked pixels of the mean of all photos."""
    total = np.zeros((np.count_nonzero(capture.mask), capture.num_channels), np.float32)
    for photo in capture.photos:
        total += photo[capture.mask]
    return (total / np.float32(white * capture.num_photos)).T.copy()


def spanning(level: Level, facing: Facing, surface: Surface) -> Bool[np.ndarray, " P"]:
    """Pixels whose facet no surface through the normals can fit: it spans a depth step."""
    _, held = robust_surface(level, facing.p, facing.q, surface)
    return held < _SPANS


def corner_surface(level: Level, depth: Float[np.ndarray, " P"]) -> Surface:
    """Heights of the corners from a depth of the pixels: the mean of the pixels that meet there."""
    height = depth if isinstance(level.camera, Orthographic) else np.log(depth)
    total, count = np.zeros((2, level.grid.shape[0] * level.grid.shape[1]))
    width = level.grid.shape[1]
    for step in (0, 1, width, width + 1):
        total += np.bincount(level.here + step, height, len(total))
        count += np.bincount(level.here + step, minlength=len(total))
    return level.centred((total / np.maximum(count, 1)).reshape(level.grid.shape))

"""From a capture to its explanation by the default method."""

from collections.abc import Callable
from dataclasses import dataclass

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
from .level import Level, Surface
from .local import face, facing_of
from .newton import NewtonReport
from .paint_gauge import without_shading
from .polish import paint
from .schedule import VOLUMES, Course, Plan, orders_for, solve

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
    """Find shape, albedo and light.

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
    plan = plan or Plan(
        orders=tuple(o for o in orders_for(capture.num_photos) if o <= options.order),
        volumes=VOLUMES if volume is None else (volume,) * (volume != 0),
        refine_iterations=options.refine_iterations,
    )
    given = None if start is None else corner_surface(level, start)
    course = solve(level, plan, given, tell)
    surface, light = course.state.surface, course.state.light
    facing = face(level, light) if plan.jumps else facing_of(level, surface, light)
    _, held = robust_surface(level, facing.p, facing.q, course.state.surface)
    spans = held < _SPANS
    height = level.at_pixels(surface)
    sure = confidence(spread_deg(level, facing))
    unit, albedo = facing.fit.unit, facing.fit.albedo.T.copy()
    lighting, bad_share, domain = (
        photos.lighting(course.state.light),
        photos.bad_share,
        level.domain,
    )
    del level, photos, facing  # what follows looks at the capture itself, and these are large
    height = step_heights(capture.camera, domain, unit) if plan.jumps else height
    order = order_of(len(course.state.light))
    albedo = without_shading(domain, albedo, unit, ~spans, order)
    painting = paint(capture, white, unit, albedo, lighting, order)
    return Explanation(
        depth=depth_of(capture.camera, domain, height),
        normals=unit,
        albedo=painting.albedo,
        lighting=painting.lighting,
        confidence=sure,
        spans_step=spans,
        course=course,
        noise=painting.noise,
        bad_share=bad_share,
    )


def corner_surface(level: Level, depth: Float[np.ndarray, " P"]) -> Surface:
    """Heights of the corners from a depth of the pixels: the mean of the pixels that meet there."""
    height = depth if isinstance(level.camera, Orthographic) else np.log(depth)
    total, count = np.zeros((2, level.grid.shape[0] * level.grid.shape[1]))
    width = level.grid.shape[1]
    for step in (0, 1, width, width + 1):
        total += np.bincount(level.here + step, height, len(total))
        count += np.bincount(level.here + step, minlength=len(total))
    return level.centred((total / np.maximum(count, 1)).reshape(level.grid.shape))

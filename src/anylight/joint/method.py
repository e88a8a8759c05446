"""The default method as a value: shape and light together, albedo eliminated."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from anylight.initial.start import known_start
from anylight.joint.explanation import Explanation, MakeTerm, explain
from anylight.joint.options import DefaultOptions
from anylight.joint.paint.faintest import faintest_light
from anylight.joint.record import record
from anylight.model.capture import Capture
from anylight.model.method import Method, Running, Solution
from anylight.model.reconstruction import Reconstruction
from anylight.model.samples import mean_colour, white_level
from anylight.photometry.balance import balanced

MIN_PHOTOS = 4
"""Fewer leave more unknowns than equations. (definition)"""
_LIGHT_SAMPLE = 5_000
"""Normals to find the faintest light on. (memory)"""
_FLAT_START = (
    "a balloon with a volume of zero is flat and says nothing about the light; the run started "
    "without a balloon."
)


def run(capture: Capture, options: DefaultOptions, make_terms: Sequence[MakeTerm] = ()) -> Running:
    """Explain a capture.

    Args:
        capture: the photos.
        options: what may be asked.
        make_terms: what else costs energy (see `anylight.Term`).
    """
    white = white_level(capture)
    domain = capture.domain()
    start = None
    if capture.start is not None:
        start = domain.gather(capture.start)
    elif capture.depth is not None:
        start = known_start(capture)
    found = yield from explain(capture, white, options, start=start, make_terms=make_terms)
    flat = options.relative_volume(domain) == 0 and start is None
    return Solution(
        scene=_scene(capture, white, found),
        status=found.status,
        warnings=(_FLAT_START,) if flat else (),
        record=record(found),
    )


def _scene(capture: Capture, white: float, found: Explanation) -> Reconstruction:
    """Lay the explanation out on the photos' grid."""
    domain = capture.domain()
    sample = found.normals[:, :: max(1, domain.size // _LIGHT_SAMPLE)].T.astype(float)
    lighting = found.lighting
    if found.lamps is None:
        lighting = faintest_light(lighting, sample)
    parts = [lighting]
    if found.lamps is not None and found.bounce is not None:
        back = np.broadcast_to(found.bounce[:, None], (*lighting.shape[:2], 1))
        parts += [found.lamps, back]
    num, every = lighting.shape[2], np.concatenate(parts, axis=2)
    albedo, every = balanced(found.albedo.astype(float), every, mean_colour(capture))
    bounce = every[0, :, -1]
    every = every * (white / capture.full_scale)
    return Reconstruction(
        mask=np.array(capture.mask),
        camera=found.camera,
        depth=domain.scatter(found.depth),
        normals=domain.scatter(found.normals.T.copy()),
        albedo=domain.scatter(albedo.T.copy()),
        lighting=every[:, :, :num],
        confidence=domain.scatter(found.confidence),
        openness=None if found.openness is None else domain.scatter(found.openness),
        lamps=None if found.lamps is None else every[:, :, num:-1],
        bounce=None if found.lamps is None else bounce,
        near_light=None if found.near is None else found.near.light,
        closeness=0.0 if found.near is None else found.near.closeness,
        unit=capture.unit,
    )


def default_method(
    make_terms: Sequence[MakeTerm] = (), name: str = "default", label: str = "anylight"
) -> Method[DefaultOptions]:
    """The default method, perhaps with terms of your own in its energy.

    Args:
        make_terms: each makes a term for the pixels at full resolution.
        name: of the method.
        label: of the method, in tables.
    """
    return Method(
        name=name,
        label=label,
        summary="shape and light together, no numbers to choose",
        options=DefaultOptions,
        run=partial(run, make_terms=tuple(make_terms)),
        takes_start=True,
        takes_depth=True,
        min_photos=MIN_PHOTOS,
    )


DEFAULT = default_method()

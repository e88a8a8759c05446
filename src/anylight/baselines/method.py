"""Competitors as values: an estimate made into a solution."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import msgspec
import numpy as np

from anylight.initial.start import FirstDepth, balloon_start
from anylight.integration.smooth import integrate_normals
from anylight.model.capture import Capture
from anylight.model.method import Method, Progress, Running, Solution
from anylight.model.reconstruction import Reconstruction
from anylight.model.samples import mean_colour
from anylight.photometry.balance import balanced

from .estimate import Estimate
from .favaro2012 import FavaroOptions, favaro2012
from .mo2018 import MoOptions, mo2018
from .peng2017 import PengOptions, peng2017
from .woodham import WoodhamOptions, woodham

_TOWARDS_THE_CAMERA = [0.0, 0.0, -1.0]
Options = TypeVar("Options", bound=msgspec.Struct)


def _run(
    estimate: Callable[[Capture, Options], Estimate], capture: Capture, options: Options
) -> Running:
    """One step; normals without depth are integrated."""
    yield Progress(0.0, "solving")
    found = estimate(capture, options)
    yield Progress(0.9, "integrating")
    return solution(capture, found)


def solution(capture: Capture, found: Estimate) -> Solution:
    """Lay an estimate out on the photos' grid, with a depth if it has none."""
    domain, depth, normals = capture.domain(), found.depth, found.normals
    if depth is None:
        gaps = ~np.isfinite(normals).all(axis=1)
        filled = np.where(gaps[:, None], _TOWARDS_THE_CAMERA, normals)
        depth = integrate_normals(capture.camera, domain, filled)
    albedo, lighting = found.albedo, found.lighting
    if albedo is not None and lighting is not None:
        colour = mean_colour(capture)
        albedo, lighting = balanced(np.maximum(albedo, 0), lighting, colour)
    scene = Reconstruction(
        mask=np.array(capture.mask),
        camera=capture.camera,
        depth=domain.scatter(depth),
        normals=domain.scatter(normals),
        albedo=None if albedo is None else domain.scatter(albedo.T.copy()),
        lighting=lighting,
    )
    return Solution(scene, warnings=found.warnings, record={"diagnostics": found.diagnostics})


def _peng(capture: Capture, options: PengOptions) -> Running:
    """The start is the depth prior."""
    yield Progress(0.0, "solving")
    domain = capture.domain()
    if capture.start is None:
        start = balloon_start(capture.camera, domain, options)
    else:
        start = FirstDepth(domain.gather(capture.start))
    found = solution(capture, peng2017(capture, start.depth, options))
    record = {**found.record, "volumes": list(start.volumes)}
    return Solution(found.scene, warnings=(*found.warnings, *start.warnings), record=record)


FAVARO = Method(
    name="favaro2012",
    label="Favaro 2012",
    summary="factorisation and diffuse maxima",
    options=FavaroOptions,
    run=partial(_run, favaro2012),
)
PENG = Method(
    name="peng2017",
    label="Peng 2017",
    summary="a depth prior and first-order light",
    options=PengOptions,
    run=_peng,
    takes_start=True,
)
MO = Method(
    name="mo2018",
    label="Mo 2018 (our reconstruction)",
    summary="patches under their own directional light, our reconstruction",
    options=MoOptions,
    run=partial(_run, mo2018),
)
WOODHAM = Method(
    name="woodham",
    label="Woodham 1980 (known lights)",
    summary="calibrated least squares, needs known lights",
    options=WoodhamOptions,
    run=partial(_run, woodham),
)

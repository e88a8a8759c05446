"""The published method as a value: balloon, then lagged block coordinate descent."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from anylight.initial.start import FirstDepth, balloon_start, known_start
from anylight.kernels.order_two.cpu import CpuKernels
from anylight.model.capture import Capture
from anylight.model.method import Method, Progress, Running, Solution, StopRequestedError
from anylight.model.reconstruction import Reconstruction
from anylight.model.samples import mean_colour
from anylight.model.status import Status
from anylight.paper.alternate import alternate, first_state
from anylight.paper.options import PaperOptions
from anylight.paper.problem import Problem, build_problem
from anylight.paper.state import State
from anylight.photometry.balance import balanced


def run(capture: Capture, options: PaperOptions) -> Running:
    """Minimise the published energy from a balloon, or from the start that is given."""
    problem = build_problem(capture, options, CpuKernels())
    start = _start(capture, options)
    state, status = first_state(problem, start.depth), Status.ITERATION_LIMIT
    orders: set[int] = set()
    try:
        for reached, report in alternate(problem, state):
            if not np.isfinite(report.energy):
                status = Status.NOT_FINITE
                break
            state = reached
            orders.add(report.order)
            yield Progress(
                report.iteration / options.iterations,
                f"iteration {report.iteration}/{options.iterations}, order {report.order}: "
                f"energy {report.energy:.6g} = data {report.data:.6g} "
                f"+ smoothness {report.smoothness:.6g}",
                f"order {report.order}",
                report.energy,
                report,
                state,
            )
    except StopRequestedError:
        status = Status.INTERRUPTED
    except np.linalg.LinAlgError:
        status = Status.SINGULAR
    scene = reconstruction(problem, state, mean_colour(capture))
    if capture.start is None and capture.depth is not None:
        scene = replace(scene, unit=capture.unit)
    record = {"volumes": list(start.volumes), "orders": sorted(orders)}
    return Solution(scene, status, start.warnings, record)


def _start(capture: Capture, options: PaperOptions) -> FirstDepth:
    domain = capture.domain()
    if capture.start is not None:
        return FirstDepth(domain.gather(capture.start))
    if capture.depth is not None:
        warning = "the published method takes the known depth as its start only."
        return FirstDepth(known_start(capture), warnings=(warning,))
    return balloon_start(capture.camera, domain, options)


def reconstruction(
    problem: Problem, state: State, colour: Float[np.ndarray, " C"]
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
    )


PAPER = Method(
    name="paper",
    label="paper, balloon start",
    summary="as published: a balloon of hand-tuned volume, then block descent",
    options=PaperOptions,
    run=run,
    takes_start=True,
    takes_depth=True,
)

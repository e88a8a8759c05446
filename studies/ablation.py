"""Measure what every part of the default method is worth, one part after the other.

    python -m studies.ablation

renders embedded scenes (200 pixels high, 20 photos), runs every cell that is missing from
docs/results/ablation.json and draws docs/images/ablation.png. `make tables` makes docs/method.md.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path
from time import perf_counter

import msgspec
import numpy as np
from studies.cells import Cells
from studies.forward import ForwardLevel

from anylight.geometry.normals import angles_deg
from anylight.initial.start import USUAL_VOLUME
from anylight.io.images import write_image
from anylight.joint.course.plan import START_PIXELS, VOLUMES, Plan
from anylight.joint.explanation import explain
from anylight.joint.options import DefaultOptions
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.metrics import evaluate
from anylight.model.capture import Capture
from anylight.model.method import Iteration
from anylight.model.reconstruction import Reconstruction
from anylight.model.samples import white_level
from anylight.pictures import normal_picture
from anylight.pipeline import reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import Rendering, render
from anylight.threads import quiet_algebra

DOCS = Path(__file__).parents[1] / "docs"
SHAPES = ("bust", "coral", "drapery")
SETS = {
    "mesh": SynthOptions(height=200, images=20, albedo="voronoi"),
    "depth": SynthOptions(height=200, images=20, albedo="voronoi", protocol="depth"),
    "long lens": SynthOptions(height=200, images=20, albedo="voronoi", focal=15.0),
}
BARE = Plan(
    orders=(1, 2),
    volumes=(USUAL_VOLUME,),
    refine_iterations=20,
    start_pixels=np.inf,
    rivals=False,
    jumps=False,
    prior=False,
    together=False,
    discretisation=ForwardLevel,
)
_JOINT = replace(BARE, together=True, refine_iterations=Plan((1,)).refine_iterations)
_ORDERS = replace(_JOINT, orders=(1, 2, 4, 6, 8))
_SAMPLED = replace(_ORDERS, discretisation=PyramidLevel)
_JUMPING = replace(_SAMPLED, jumps=True)
_STARTS = replace(_JUMPING, start_pixels=START_PIXELS, volumes=VOLUMES, rivals=True)
PLANS = {
    "paper preset": None,
    "+ log-depth": BARE,
    "+ joint": _JOINT,
    "+ continuation": _ORDERS,
    "+ sampling": _SAMPLED,
    "+ jumps": _JUMPING,
    "+ pyramid and starts": _STARTS,
    "+ priors": replace(_STARTS, prior=True),
}
SHOWN = ("mesh", "coral")
"""The scene in the picture."""


@cache
def scene_of(name: str, shape: str) -> Rendering:
    """Render a scene."""
    return render(msgspec.structs.replace(SETS[name], shape=shape))


def solve(capture: Capture, plan: Plan | None) -> Reconstruction:
    """Run the published method, or the course of a plan."""
    if plan is None:
        return reconstruct(capture, preset="paper").reconstruction
    with quiet_algebra():
        found = Iteration(
            explain(capture, white_level(capture), DefaultOptions(), plan=plan)
        ).result
    domain = capture.domain()
    return Reconstruction(
        mask=np.array(capture.mask),
        camera=capture.camera,
        depth=domain.scatter(found.depth.astype(float)),
        normals=domain.scatter(found.normals.T.astype(float)),
        albedo=domain.scatter(found.albedo.T / found.albedo.max()),
        lighting=found.lighting,
        photos=np.arange(capture.num_photos),
    )


def panel(found: Reconstruction, truth: Reconstruction) -> np.ndarray:
    """Normals above their error (white: 20 degrees)."""
    assert found.normals is not None
    assert truth.normals is not None
    look = normal_picture(found.normals, found.mask) / 255
    error = np.zeros((*found.mask.shape, 3))
    angle = angles_deg(found.normals[found.mask], truth.normals[found.mask])
    error[found.mask] = np.clip(angle / 20, 0, 1)[:, None]
    rows, columns = np.nonzero(found.mask)
    box = (slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1))
    return np.concatenate([look[box], error[box]])


def main() -> None:
    """Run everything."""
    cells = Cells(DOCS / "results" / "ablation.json")
    panels = []
    picture = DOCS / "images" / "ablation.png"
    for plan_name, plan in PLANS.items():
        for name in SETS:
            for shape in SHAPES:
                shown = (name, shape) == SHOWN and not picture.exists()
                key = {"set": name, "shape": shape, "plan": plan_name}
                if cells.has(**key) and not shown:
                    continue
                scene = scene_of(name, shape)
                begin = perf_counter()
                found = solve(scene.capture, plan)
                seconds = round(perf_counter() - begin, 2)
                if shown:
                    panels.append(panel(found, scene.truth))
                if cells.has(**key):
                    continue
                row = msgspec.structs.asdict(evaluate(found, scene.truth))
                cells.add({**key, **row, "seconds": seconds})
                print(plan_name, name, shape, round(row["mae_deg"], 2), seconds, flush=True)  # noqa: T201
    if panels:
        strip = np.concatenate(panels, axis=1)
        write_image(picture, np.round(255 * np.clip(strip, 0, 1)).astype(np.uint8))


if __name__ == "__main__":
    main()

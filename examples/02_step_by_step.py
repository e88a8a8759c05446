"""Drive the solver's loop by hand: look at every iteration, stop when you like.

Run: python examples/02_step_by_step.py
"""

import anylight
from anylight.initial.start import balloon_start
from anylight.kernels.cpu import CpuKernels
from anylight.model.options import PaperOptions
from anylight.model.problem import build_problem
from anylight.pipeline import choose_photos, collect
from anylight.solve.alternate import alternate, first_state

rendering = anylight.render(anylight.SynthOptions(shape="vase", albedo="bars", images=8, height=96))
capture = rendering.capture

problem = build_problem(capture, PaperOptions(), CpuKernels())
start = balloon_start(problem.camera, problem.domain, volume=0.12)
first = first_state(problem, start.depth)

previous = float("inf")
for state, report in alternate(problem, first):
    print(f"{report.iteration:2d}  order {report.order}  energy {report.energy.total:10.3f}")
    if report.order == 2 and previous - report.energy.total < 1e-2 * previous:
        break  # good enough
    previous = report.energy.total

mean_colour = capture.radiance().mean(axis=(0, 2))
scene = collect(problem, state, choose_photos(capture, None), mean_colour)
print(f"mean angular error: {anylight.evaluate(scene, rendering.truth).mae_deg:.1f} degrees")

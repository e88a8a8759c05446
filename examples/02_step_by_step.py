"""Drive a reconstruction by hand: look at every step, stop when you like, take the result.

Run: python examples/02_step_by_step.py
"""

import anylight

rendering = anylight.render(anylight.SynthOptions(shape="vase", albedo="bars", images=8, height=96))

run = anylight.iterate(rendering.capture, method="paper", volume=0.12)
previous = float("inf")
for progress in run:
    print(f"{progress.share:4.0%}  {progress.line}")
    assert progress.energy is not None
    if progress.stage == "order 2" and previous - progress.energy < 1e-2 * previous:
        run.stop()  # good enough
    previous = progress.energy

result = run.result
print(f"{result.status} after {len(result.trace)} steps")
scene = result.reconstruction
print(f"mean angular error: {anylight.evaluate(scene, rendering.truth).mae_deg:.1f} degrees")

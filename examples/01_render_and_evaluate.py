"""Render a small capture, read it back, and measure a deliberately wrong answer.

Run: python examples/01_render_and_evaluate.py
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anylight

options = anylight.SynthOptions(shape="vase", albedo="bars", images=6, height=96)
rendering = anylight.render(options)

with TemporaryDirectory() as folder:
    anylight.save_capture(Path(folder), rendering.capture)
    capture = anylight.load_capture(folder)

print(f"{capture.num_photos} photos, {capture.photos.dtype}, {capture.mask.sum()} masked pixels")

truth = rendering.truth
assert truth.normals is not None
flipped = replace(truth, normals=truth.normals * [-1, -1, 1])
print("truth against itself:", anylight.evaluate(truth, truth).mae_deg, "degrees")
print("concave instead of convex:", anylight.evaluate(flipped, truth).mae_deg, "degrees")

"""What a run shows while it goes on."""

import numpy as np
import pytest

from anylight.pipeline import iterate
from anylight.studio.glimpse import glimpse
from anylight.studio.packing import packed_scene
from anylight.synth.options import SynthOptions
from anylight.synth.render import render


@pytest.fixture(scope="module")
def capture():
    return render(SynthOptions(shape="vase", images=6, height=56)).capture


@pytest.mark.parametrize(
    ("method", "choices"),
    [("default", {"shadows": "off"}), ("paper", {"iterations": 3, "first_order_iterations": 1})],
)
def test_every_step_with_a_state_is_a_surface(capture, method, choices):
    scenes = []
    for progress in iterate(capture, method=method, **choices):
        if progress.state is not None:
            scenes.append(glimpse(capture, progress.state))
        if len(scenes) == 3:
            break
    assert scenes
    for scene in scenes:
        assert np.isfinite(scene.depth[scene.mask]).all()
        assert np.ptp(scene.depth[scene.mask]) > 0
        assert packed_scene(scene, 4000, 100) is not None

"""Samples at a lower resolution: how much they count, and what they say about the lamps."""

import numpy as np
import pytest

from anylight.io.images import write_image
from anylight.joint.shadows.levels import has_hard_lamps, moderation, reduced
from anylight.model.samples import white_level
from anylight.synth.options import SynthOptions
from anylight.synth.render import render


def test_bright_samples_count_in_proportion():
    samples = np.linspace(0.1, 1.0, 10, dtype=np.float32)[None, None]
    weight = moderation(samples)[0, 0]
    assert (weight[:8] == 1).all()
    assert weight[9] == pytest.approx((0.8 / 1.0) ** 2)


@pytest.mark.parametrize("single", [True, False])
def test_single_lamps_are_told_from_rooms(single, tmp_path):
    for k in range(8 * single):
        sky = np.zeros((16, 32, 3), np.float32)
        sky[4 + k % 4, 10 + k] = 1000.0
        write_image(tmp_path / f"lamp_{k}.exr", sky)
    lights = str(tmp_path) if single else "builtin"
    capture = render(SynthOptions(shape="bust", height=64, images=8, lights=lights)).capture
    assert has_hard_lamps(reduced(capture, white_level(capture), 2)) is single

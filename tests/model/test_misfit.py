from dataclasses import replace

import numpy as np
from intake.files import rendering

from anylight.model.misfit import photo_misfits


def vase():
    return rendering("vase", "bars", images=10, height=80)


def misfits(scene, numbers):
    capture = vase().capture
    return photo_misfits(scene, capture.photos[numbers], capture.full_scale)


def test_the_truth_leaves_next_to_nothing():
    assert misfits(vase().truth, np.arange(10)).max() < 0.02


def test_photos_under_another_light_are_not_explained():
    chosen = np.array([7, 2, 5])
    some = replace(vase().truth, lighting=vase().truth.lighting[chosen])
    assert misfits(some, chosen).max() < 0.02
    assert misfits(some, np.array([0, 1, 3])).min() > 0.1


def test_saturated_samples_do_not_count():
    capture = vase().capture
    hurt = np.array(capture.photos)
    hurt[4, ::3] = 65535
    assert photo_misfits(vase().truth, hurt, capture.full_scale).max() < 0.02


def test_without_paint_light_or_normals_nothing_is_explained():
    for name in ("albedo", "normals", "lighting"):
        assert misfits(replace(vase().truth, **{name: None}), np.arange(10)) is None

"""What a screen shows."""

import numpy as np

from anylight.photometry.transfer import linear_to_srgb, screen_bytes


def test_the_table_of_a_screen_is_the_curve(rng):
    linear = np.concatenate([rng.random(5000) ** 3, [0.0, 1.0, -0.2, 1.7, np.nan]])
    coded = screen_bytes(linear)
    wanted = linear_to_srgb(np.nan_to_num(linear)) * 255
    assert np.abs(coded - wanted).max() < 0.56
    assert coded.dtype == np.uint8

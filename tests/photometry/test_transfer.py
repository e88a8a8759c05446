"""What a screen shows, and what a coded photo means."""

import numpy as np
import pytest

from anylight.photometry.transfer import (
    linear_from_srgb,
    linear_to_srgb,
    screen_bytes,
    srgb_to_linear,
)


def test_the_table_of_a_screen_is_the_curve(rng):
    linear = np.concatenate([rng.random(5000) ** 3, [0.0, 1.0, -0.2, 1.7, np.nan]])
    coded = screen_bytes(linear)
    wanted = linear_to_srgb(np.nan_to_num(linear)) * 255
    assert np.abs(coded - wanted).max() < 0.56
    assert coded.dtype == np.uint8


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_the_curve_is_undone_by_a_table(rng, kind):
    top = np.iinfo(kind).max
    photo = rng.integers(0, top + 1, (9, 7, 3)).astype(kind)
    wanted = np.round(srgb_to_linear(photo / top) * 65535)
    assert np.array_equal(linear_from_srgb(photo), wanted)
    place = np.zeros((2, 9, 7, 3), np.uint16)
    linear_from_srgb(photo, place[1])
    assert np.array_equal(place[1], wanted)
    assert not place[0].any()

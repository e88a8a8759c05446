"""Photos in half the memory are the same photos."""

import numpy as np

from anylight.joint.problem.packed import pack


def test_what_is_lost_is_next_to_nothing_beside_the_pixel_itself(rng):
    strength = 10.0 ** rng.uniform(-6, 3, (500, 1))
    values = (strength * rng.standard_normal((500, 12))).astype(np.float32)
    found = pack(values)
    largest = np.abs(values).max(axis=1)
    off = np.abs(found.values().astype(float) - values).max(axis=1)
    assert found.numbers.dtype == np.int16
    assert (off <= 0.51 / 32767 * largest).all()
    np.testing.assert_array_equal(pack(found.values()).numbers, found.numbers)
    some = np.array([3, 17, 4])
    np.testing.assert_array_equal(found.some(some).values(), found.values()[some])
    np.testing.assert_array_equal(found.values(some), found.values()[some])


def test_black_stays_black():
    assert not pack(np.zeros((4, 6), np.float32)).values().any()

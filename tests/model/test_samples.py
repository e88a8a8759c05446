"""Which samples of a photo are measurements."""

import numpy as np
import pytest

from anylight.model.samples import is_usable


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
def test_an_exact_zero_is_no_measurement(kind):
    stored = np.array([[0, 1, 100]]).astype(kind)
    assert is_usable(stored).tolist() == [[False, True, True]]


def test_floats_are_measured_however_bright_but_not_if_they_are_no_numbers():
    stored = np.array([1e-9, 1e9, np.nan, np.inf, -0.0], np.float32)
    assert is_usable(stored).tolist() == [True, True, False, False, False]

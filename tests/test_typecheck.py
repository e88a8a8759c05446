"""The checker of the tests: what was checked once is not checked again, all else is."""

import numpy as np
import pytest
from jaxtyping import Float, TypeCheckError
from typecheck import checker, once

from anylight.geometry.normals import angles_deg

Vector = Float[np.ndarray, " n"]


def test_wrong_shapes_are_refused_however_often_right_ones_came():
    def first(a: Vector, b: Vector) -> Vector:
        assert len(b)
        return a

    checked = once(first, checker)
    for _ in range(2):
        checked(np.ones(3), np.ones(3))
        for wrong in (np.ones(4), np.ones(3, int), np.ones((3, 1)), [1.0, 1.0, 1.0]):
            with pytest.raises(TypeCheckError):
                checked(np.ones(3), wrong)


def test_a_result_is_checked_whenever_its_kind_is_new():
    def positive(a: Vector) -> Vector:
        return a[a > 0]

    checked = once(positive, checker)
    assert len(checked(np.ones(3))) == 3
    with pytest.raises(TypeCheckError):
        checked(np.array([1.0, -1.0, 1.0]))
    assert len(checked(np.ones(3))) == 3


def test_everything_of_ours_is_checked():
    for _ in range(2):
        with pytest.raises(TypeCheckError):
            angles_deg(np.ones((4, 3)), np.ones((5, 3)))

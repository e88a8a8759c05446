import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anylight.geometry.differences import central, forward, forward_or_backward
from anylight.geometry.domain import ABSENT, Domain
from tests.conftest import odd_mask

STENCILS = [forward, forward_or_backward, central]
masks = hnp.arrays(bool, st.tuples(st.integers(1, 8), st.integers(1, 8)))


@pytest.mark.parametrize("stencil", STENCILS)
@pytest.mark.parametrize("axis", ["u", "v"])
@given(mask=masks)
def test_adjoint(stencil, axis, mask):
    domain = Domain(mask)
    operator = stencil(domain, axis)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, domain.size))
    assert np.isclose(operator.apply(x) @ y, x @ operator.adjoint(y), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("stencil", STENCILS)
@pytest.mark.parametrize("axis", ["u", "v"])
def test_the_matrix_is_the_operator(stencil, axis, rng):
    domain = Domain(odd_mask())
    operator = stencil(domain, axis)
    x = rng.standard_normal(domain.size)
    assert np.allclose(operator.matrix() @ x, operator.apply(x))
    assert np.allclose(operator.matrix().T @ x, operator.adjoint(x))


@pytest.mark.parametrize("stencil", [forward_or_backward, central])
def test_a_plane_has_its_slope_wherever_a_neighbour_exists(stencil):
    domain = Domain(odd_mask())
    u, v = domain.pixels.T
    plane = 3.0 * u - 2.0 * v
    for axis, slope, step in (("u", 3.0, (1, 0)), ("v", -2.0, (0, 1))):
        alone = (domain.neighbour(*step) == ABSENT) & (
            domain.neighbour(-step[0], -step[1]) == ABSENT
        )
        assert alone.any()
        assert np.allclose(stencil(domain, axis).apply(plane), np.where(alone, 0.0, slope))


def test_forward_is_zero_where_the_next_pixel_is_missing():
    domain = Domain(odd_mask())
    result = forward(domain, "u").apply(5.0 * domain.pixels[:, 0])
    assert np.array_equal(result == 0, domain.neighbour(1, 0) == ABSENT)
    assert set(result) == {0.0, 5.0}


def test_central_is_second_order():
    errors = []
    for size in (20, 40):
        domain = Domain(np.ones((3, size), bool))
        x = domain.pixels[:, 0] / size
        slope = domain.scatter(central(domain, "u").apply(np.sin(3 * x)) * size)
        exact = 3 * np.cos(3 * domain.scatter(x))
        errors.append(np.abs(slope - exact)[1, 2:-2].max())
    assert errors[1] < errors[0] / 3.5

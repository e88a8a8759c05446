import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anylight.geometry.domain import ABSENT, Domain
from tests.conftest import odd_mask

masks = hnp.arrays(bool, st.tuples(st.integers(1, 9), st.integers(1, 9)))


@given(masks)
def test_gather_undoes_scatter(mask):
    domain = Domain(mask)
    values = np.arange(domain.size, dtype=float)
    assert np.array_equal(domain.gather(domain.scatter(values)), values)
    assert np.isnan(domain.scatter(values)[~mask]).all()


@given(masks, st.integers(-2, 2), st.integers(-2, 2))
def test_neighbours_are_where_they_should_be(mask, du, dv):
    domain = Domain(mask)
    neighbour = domain.neighbour(du, dv)
    for j, (u, v) in enumerate(domain.pixels.astype(int)):
        row, column = v + dv, u + du
        inside = 0 <= row < mask.shape[0] and 0 <= column < mask.shape[1]
        expected = domain.numbers[row, column] if inside else ABSENT
        assert neighbour[j] == expected


@pytest.mark.parametrize("channels", [(), (3,), (2, 4)])
def test_images_with_channels_round_trip(channels, rng):
    domain = Domain(odd_mask())
    values = rng.random((domain.size, *channels))
    assert np.array_equal(domain.gather(domain.scatter(values)), values)


def test_components_and_rim_of_an_odd_mask():
    domain = Domain(odd_mask())
    assert domain.num_components == 3
    assert sorted(set(domain.components)) == [0, 1, 2]
    interior = domain.scatter(~domain.is_rim, fill=0).astype(bool)
    assert interior.any()
    padded = np.pad(domain.mask, 1)
    surrounded = padded[2:, 1:-1] & padded[:-2, 1:-1] & padded[1:-1, 2:] & padded[1:-1, :-2]
    assert np.array_equal(interior, domain.mask & surrounded)

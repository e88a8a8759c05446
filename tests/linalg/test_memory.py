"""Large arrays made by all threads are what one would make."""

import numpy as np
import pytest

from anylight.linalg import memory
from anylight.linalg.grid import Grid
from anylight.threads import use_threads
from tests.conftest import odd_mask

NUM = 50_000
"""More than is worth one thread."""


@pytest.fixture(params=[1, 3], autouse=True)
def _threads(request):
    use_threads(request.param)
    yield
    use_threads(None)


@pytest.mark.twin("linalg.memory._fill", "linalg.memory._frame")
def test_filled_and_framed(rng):
    assert (memory.filled((5, NUM // 5), np.float32, 0.5) == 0.5).all()
    assert not memory.like(rng.random((3, NUM))).any()
    room = memory.Room()
    room.take((2, 300, 200), np.float32)[:] = np.nan
    room.again()
    found = memory.framed((2, 300, 200), np.float32, 7, room)
    margin = np.ones((300, 200), bool)
    margin[1:-2, 1:-2] = False
    assert (found[:, margin] == 7).all()
    assert np.isnan(found[:, ~margin]).all()


@pytest.mark.twin("linalg.memory._copy", "linalg.memory._add")
def test_copied_and_added(rng):
    values = rng.standard_normal((NUM // 100, 100))
    found = memory.copied(values, np.float32, factor=-2)
    assert found.dtype == np.float32
    assert np.array_equal(found, -2 * values.astype(np.float32))
    total = memory.copied(values)
    assert not np.shares_memory(total, values)
    memory.add(found, total)
    assert np.array_equal(total, values + found)
    assert np.array_equal(memory.copied(values[:, ::3]), values[:, ::3])


@pytest.mark.twin("linalg.memory._spread", "linalg.memory._collect")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spread_and_collected(rng, dtype):
    for mask in (odd_mask(), rng.random((300, 310)) < 0.8):
        grid = Grid(mask)
        values = rng.random(int(mask.sum())).astype(dtype)
        image = grid.spread(values)
        assert image.dtype == dtype
        assert np.array_equal(image[grid.inside], values)
        assert not image[~grid.inside].any()
        assert np.array_equal(grid.collect(image), values)


def test_a_room_gives_the_same_memory_every_round():
    room = memory.Room()
    first = [room.take((30, 40), np.float32), room.take((7,), np.float64)]
    room.again()
    second = [room.take((30, 40), np.float32), room.take((5,), np.float64)]
    assert all(np.shares_memory(a, b) for a, b in zip(first, second, strict=True))
    assert not np.shares_memory(*second)
    assert not np.shares_memory(room.take((3,), np.float32), second[1])
    room.again()
    larger = room.take((50, 40), np.float32)
    assert larger.shape == (50, 40)
    assert not np.shares_memory(larger, room.take((7,), np.float64))

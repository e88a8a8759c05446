"""Threads that share the parts of compiled loops."""

import threading
import time

import numpy as np
import pytest
from numba.core.errors import TypingError

from anylight.compiler import numba
from anylight.crew.calls import knows_arrays, loop_of
from anylight.crew.members import Crew, Outcome
from anylight.threads import loop, use_threads


@numba.njit(nogil=True)
def weighed(begin, end, values, factor, pair, flag, small, out):  # noqa: PLR0917
    for i in range(begin, end):
        out[i] += values[i, 1] * factor + pair[0][i] - pair[1][1, i] + small
        if flag:
            out[i] += 1


@numba.njit(nogil=True)
def slow(begin, end, rounds, out):
    for i in range(begin, end):
        for k in range(rounds):
            out[i] += 1 / (k + 1)


@numba.njit(nogil=True)
def wrong(begin, end, values):
    for i in range(begin, end):
        if values[i] < 0:
            raise ValueError


def arguments(size):
    rng = np.random.default_rng(size)
    values = rng.random((size, 6), np.float32)[:, ::2]  # neither dense nor in order
    pair = (rng.random(size), np.asfortranarray(rng.random((2, size))))
    return [values, 2.5, pair, np.True_, np.int32(3), np.zeros(size)]


@pytest.fixture(scope="module")
def crew():
    return Crew(3)


def test_arrays_are_laid_out_as_expected():
    assert knows_arrays()


@pytest.mark.parametrize("num", [1, 2, 3, 7, 50])
def test_every_part_runs_once_with_all_kinds_of_arguments(crew, num):
    args = arguments(50)
    for _ in range(20):
        assert crew.run(loop_of(weighed, args), 3, 48, num, args) is Outcome.DONE
    values, factor, (one, other), _, small, out = args
    expected = 20 * (values[:, 1] * factor + one - other[1] + small + 1)
    expected[:3] = expected[48:] = 0
    np.testing.assert_allclose(out, expected, rtol=1e-6)


def test_threads_that_fell_asleep_wake_up_again(crew):
    rounds = 3_000_000
    for _ in range(2):
        time.sleep(0.3)
        out = np.zeros(3)
        crew.run(loop_of(slow, [rounds, out]), 0, 3, 3, [rounds, out])
        assert np.ptp(out) == 0
        assert out[0] > 10


def test_a_crew_that_is_disbanded_leaves_no_thread():
    crew, out = Crew(3), np.zeros(3)
    crew.run(loop_of(slow, [1, out]), 0, 3, 3, [1, out])
    crew.disband()
    assert not any(member.is_alive() for member in crew._members)
    crew.run(loop_of(slow, [1, out]), 0, 3, 3, [1, out])
    assert (out == 2).all()


def test_a_failure_is_told_and_the_crew_goes_on(crew):
    values = np.ones(40)
    values[33] = -1
    assert crew.run(loop_of(wrong, [values]), 0, 40, 4, [values]) is Outcome.FAILED
    values[:] = 1
    assert crew.run(loop_of(wrong, [values]), 0, 40, 4, [values]) is Outcome.DONE


def test_a_second_thread_finds_it_busy(crew):
    out, other, seen = np.zeros(2), np.zeros(2), []
    job, rounds = loop_of(slow, [1, out]), 60_000_000
    first = threading.Thread(target=lambda: crew.run(job, 0, 2, 2, [rounds, out]))
    first.start()
    while not crew.is_busy:
        time.sleep(0)
    seen.append(crew.run(job, 0, 2, 2, [1, other]))
    first.join()
    seen.append(crew.run(job, 0, 2, 2, [1, other]))
    assert seen == [Outcome.BUSY, Outcome.DONE]
    assert (other == 1).all()


def test_arrays_of_other_machines_are_not_taken_for_ours():
    def copied(begin, end, values, out):
        for i in range(begin, end):
            out[i] = values[i]

    kernel = loop({}, over="out", grain=1)(copied)
    values, out = np.arange(8.0), np.zeros(8)
    use_threads(2)
    try:
        kernel(values, out)
        assert (out == values).all()
        with pytest.raises(TypingError):
            kernel(values.astype(">f8"), out)
    finally:
        use_threads(None)


def test_what_a_loop_cannot_take_is_said():
    with pytest.raises(TypeError, match="do not take"):
        loop_of(slow, ["text", np.zeros(3)])

"""Loops on all cores: the same answer for every number of threads, in threads, and after a fork."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from anylight.pipeline import reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from anylight.threads import in_parallel, loop, num_threads, side_by_side, use_threads


@pytest.fixture(scope="module")
def capture():
    return render(SynthOptions(shape="bust", height=48, images=6)).capture


@pytest.fixture(scope="module")
def alone(capture):
    return reconstruct(capture, threads=1, shadows="off").reconstruction


SHORT = {"threads": 2, "shadows": "off", "order": 2}


@pytest.fixture(scope="module")
def short(capture):
    return reconstruct(capture, **{**SHORT, "threads": 1}).reconstruction


def same(a, b):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True)
        for name in ("depth", "normals", "albedo", "lighting")
    )


def test_a_loop_runs_over_everything_once_and_leaves_margins_out():
    def count(begin, end, times, step):
        for i in range(begin, end):
            times[i] += step

    for margin in (0, 3, "step"):
        counting = loop({}, over="times", margin=margin, grain=10)(count)
        for threads in (1, 2):
            use_threads(threads)
            for size in (0, 5, 7, 1000):
                times = np.zeros(size, np.int64)
                counting(times, 2)
                edge = 2 if margin == "step" else margin
                assert (times[edge : size - edge] == 2).all()
                assert times.sum() == 2 * max(size - 2 * edge, 0)
    use_threads(None)


def test_workers_do_not_ask_for_workers():
    use_threads(2)
    assert in_parallel(lambda _: num_threads(), range(4)) == [1] * 4
    use_threads(None)


def test_an_error_in_a_part_is_raised():
    def wrong(begin, end, values):
        for i in range(begin, end):
            if values[i] < 0:
                raise ValueError("negative")

    use_threads(2)
    values = np.ones(100)
    values[90] = -1
    with pytest.raises(ValueError, match="negative"):
        loop({}, over="values", grain=10)(wrong)(values)
    use_threads(None)


def test_every_number_of_threads_gives_the_same(capture, alone):
    assert same(reconstruct(capture, threads=2, shadows="off").reconstruction, alone)


def test_two_runs_at_the_same_time(capture, short):
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(reconstruct, capture, **SHORT) for _ in range(2)]
        for run in runs:
            assert same(run.result().reconstruction, short)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_run_after_a_fork(capture, short):
    reconstruct(capture, **SHORT)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if same(reconstruct(capture, **SHORT).reconstruction, short) else 2
        finally:
            sys.stdout.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_tasks_side_by_side_share_the_threads_and_return_what_they_find():
    use_threads(2)
    try:
        shares = []
        tasks = {name: (lambda name=name: (name, num_threads())) for name in "abc"}
        found = side_by_side(tasks, lambda _, share: shares.append(share))
        assert found == {name: (name, 1) for name in "abc"}
        assert shares == [1 / 3, 2 / 3, 1.0]
        use_threads(1)
        assert side_by_side({"alone": num_threads}) == {"alone": 1}
    finally:
        use_threads(None)


def test_a_task_that_fails_ends_the_others():
    begun = []

    def fail():
        raise OSError("full")

    def work():
        begun.append(1)
        time.sleep(0.01)

    use_threads(1)
    try:
        with pytest.raises(OSError, match="full"):
            side_by_side({"bad": fail, **{str(number): work for number in range(200)}})
    finally:
        use_threads(None)
    assert len(begun) < 200

"""A few kills and faults of those that `make trust` tries by the hundred."""

import errno

import pytest
from studies.trust import faults, kills, options, parts
from studies.trust.corpus import CORPUS, good_capture


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return good_capture(tmp_path_factory.mktemp("breaking") / "good")


def test_runs_that_are_killed(good, tmp_path):
    found = kills.runs(good, tmp_path, count=3, seed=7)
    assert found["wrong"] == []


@pytest.mark.slow
def test_long_runs_that_are_killed_go_on(tmp_path):
    found = kills.resumed(tmp_path, count=4, seed=3)
    assert found["wrong"] == []
    assert found["killed"] >= 2


def test_what_hangs_is_named_and_the_others_go_on(good):
    found = parts.corpus([4, 9], good, patience=0.05)  # no process starts so fast
    names = [CORPUS[number].name for number in (4, 9)]
    assert [fault.split(": no end")[0] for fault in found["wrong"]] == names


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_writes_that_fail(good, tmp_path, code):
    found = faults.at_every_write(good, tmp_path, code, step=9)
    assert found["wrong"] == []
    assert found["tried"] >= 4


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.filterwarnings("default")
def test_options_thrown_together(good):
    found = options.tried(good, seconds=20, most=25, seed=11)
    assert found["wrong"] == []

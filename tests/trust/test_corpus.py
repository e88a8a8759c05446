"""Garbage in, sentence out: the whole corpus, in this process (`make trust`: as users run it)."""

import pytest
from studies.trust.corpus import CORPUS, good_capture, in_this_process, tried


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return good_capture(tmp_path_factory.mktemp("corpus") / "good")


def test_there_are_many_and_each_has_its_name():
    assert len({case.name for case in CORPUS}) == len(CORPUS) >= 60


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_bad_captures_end_as_they_must(case, good, tmp_path):
    assert tried(case, good, tmp_path, in_this_process) == []

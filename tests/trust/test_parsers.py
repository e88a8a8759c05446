"""Whatever the bytes, a parser gives something or one sentence."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from studies.trust.fuzz import mutated
from studies.trust.parsers import PARSERS

TEXTS = ("K", "YAML", "COLMAP", "LP", "TOML", "polygon", "PFM", "OFF")
BRIEFLY = settings(
    max_examples=25, deadline=None, database=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
pytestmark = [
    pytest.mark.usefixtures("as_users_run_it"),
    pytest.mark.filterwarnings("default"),
]


@pytest.mark.parametrize("parser", PARSERS.values(), ids=list(PARSERS))
def test_good_files_are_read(parser, tmp_path):
    (tmp_path / parser.file).write_bytes(parser.seed)
    parser.read(tmp_path / parser.file)


@pytest.mark.parametrize("parser", PARSERS.values(), ids=list(PARSERS))
def test_damaged_files_get_a_sentence(parser, tmp_path):
    chance = random.Random(20191027)
    for _ in range(40):
        assert parser.holds(mutated(chance, parser), tmp_path) is None


@pytest.mark.parametrize("content", [b"3" + b"\x1c" * 9 + b"\na\nb\nc", b"9" * 5000 + b"\na 0 0 1"])
def test_what_fuzzing_found_in_lp(content, tmp_path):
    assert PARSERS["LP"].holds(content, tmp_path) is None


def test_what_fuzzing_found_in_polygons(tmp_path):
    assert PARSERS["polygon"].holds(b"1,1\n2,2", tmp_path) is None


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_the_right_words_get_a_sentence(name, tmp_path):
    parser = PARSERS[name]
    words = [*parser.seed.split(), *parser.tokens, b"\n", b" ", b"1e308", b"-0", "½".encode()]

    @BRIEFLY
    @given(st.lists(st.sampled_from(words), max_size=40), st.sampled_from([b" ", b"\n", b""]))
    def holds(chosen, between):
        assert parser.holds(between.join(chosen), tmp_path) is None

    holds()


@pytest.mark.parametrize("parser", PARSERS.values(), ids=list(PARSERS))
def test_any_bytes_get_a_sentence(parser, tmp_path):
    @BRIEFLY
    @given(st.binary(max_size=200))
    def holds(content):
        assert parser.holds(content, tmp_path) is None

    holds()

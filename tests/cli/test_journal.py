"""A run that is cut short goes on where it was, and ends in the same bytes."""

import json

import numpy as np
import pytest

from anylight.cli import run as command
from anylight.cli.main import main
from anylight.io.journal import FileJournal
from anylight.joint.step import newton as steps
from anylight.model.journal import Memory, current_journal, digest, remembering

QUICK = ["--only-result", "--shadows", "off", "--order", "2"]


class CutShort(BaseException):
    """Stands for SIGKILL."""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    plain = FileJournal.of
    monkeypatch.setattr(command.FileJournal, "of", lambda key: FileJournal(plain(key).folder, 0.0))
    return tmp_path / "cache" / "anylight" / "runs"


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("journal") / "bust"
    asked = ["--images", "6", "--height", "48", "--shape", "bust", "--albedo", "voronoi"]
    assert main(["synth", *asked, "--out", str(folder)]) == 0
    return folder


def counted(monkeypatch, most=10**9):
    """Count sets of Newton steps that are computed; cut the run short after so many."""
    plain, seen = steps._newton, []

    def computed(*arguments):
        if len(seen) == most:
            raise CutShort
        seen.append(True)
        return plain(*arguments)

    monkeypatch.setattr(steps, "_newton", computed)
    return seen


def test_a_run_that_is_cut_short_goes_on_and_ends_in_the_same_bytes(
    capture, tmp_path, monkeypatch, cache, capsys
):
    asked = ["run", str(capture), *QUICK, "--out"]
    with monkeypatch.context() as patch:
        whole = counted(patch)
        assert main([*asked, str(tmp_path / "whole")]) == 0
    assert not list(cache.iterdir())
    with monkeypatch.context() as patch:
        cut = counted(patch, len(whole) - 2)
        with pytest.raises(CutShort):
            main([*asked, str(tmp_path / "cut")])
    assert not (tmp_path / "cut").exists()
    assert len(list(cache.glob("*/*.npz"))) == len(cut)
    capsys.readouterr()
    with monkeypatch.context() as patch:
        rest = counted(patch)
        assert main([*asked, str(tmp_path / "cut")]) == 0
    assert len(rest) == 2
    assert "taken over" in capsys.readouterr().err
    first, second = (tmp_path / name for name in ("whole", "cut"))
    assert (first / "result.npz").read_bytes() == (second / "result.npz").read_bytes()
    energies = [json.loads((f / "run.json").read_text())["energies"] for f in (first, second)]
    assert energies[0] == energies[1]
    assert not list(cache.iterdir())


def test_what_is_damaged_is_computed_again(tmp_path):
    journal = FileJournal(tmp_path / "run", 0.0)
    journal.keep("a", Memory({"x": np.arange(3.0)}, {"status": "good", "energy": 1 / 3}), 1.0)
    found = journal.recall("a")
    assert found.facts == {"status": "good", "energy": 1 / 3}
    assert np.array_equal(found.arrays["x"], np.arange(3.0))
    assert journal.recall("b") is None
    path = tmp_path / "run" / "a.npz"
    path.write_bytes(path.read_bytes()[:-30])
    assert journal.recall("a") is None


def test_short_parts_are_not_worth_a_file(tmp_path):
    FileJournal(tmp_path / "run").keep("a", Memory({}, {}), 0.1)
    assert not (tmp_path / "run").exists()


def test_a_disk_without_room_is_no_reason_to_stop(tmp_path):
    (tmp_path / "file").write_text("")
    FileJournal(tmp_path / "file" / "run").keep("a", Memory({}, {}), 9.0)


def test_digests_tell_bits_and_words_apart():
    ones = np.ones(4, np.float32)
    assert digest(ones, 1) == digest(ones.copy(), 1)
    others = [digest(ones, 2), digest(ones.astype(float), 1), digest(ones.reshape(2, 2), 1)]
    assert digest(ones, 1) not in others
    assert digest(np.nextafter(ones, 2), 1) != digest(ones, 1)


def test_a_journal_is_used_inside_only():
    journal = FileJournal.__new__(FileJournal)
    assert current_journal() is None
    with remembering(journal):
        assert current_journal() is journal
    assert current_journal() is None

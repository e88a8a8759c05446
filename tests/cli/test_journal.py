"""A run that is cut short goes on where it was, and ends in the same bytes."""

import json
import shutil
from dataclasses import dataclass, replace

import numpy as np
import pytest

from anylight.cli.main import main
from anylight.geometry.camera import Perspective
from anylight.io import journal as files
from anylight.io.journal import FileJournal
from anylight.joint.problem.packed import pack
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.shadows import memory, phase
from anylight.joint.step.newton import Effort, Stage, newton
from anylight.joint.terms.gauge import GaugePrior
from anylight.joint.terms.known_depth import KnownDepth
from anylight.model.digests import UndescribedError, digest
from anylight.model.journal import current_journal, page, remembered, remembering
from anylight.model.packing import Memory, packed, unpacked


class CutShort(BaseException):
    """Stands for SIGKILL."""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(files, "WORTH", 0.0)
    monkeypatch.setattr(files, "SHORT", 0.0)
    return tmp_path / "cache" / "anylight" / "runs"


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("journal") / "drapery"
    asked = ["--images", "8", "--height", "40", "--shape", "drapery", "--cast-shadows"]
    assert main(["synth", *asked, "--out", str(folder)]) == 0
    return folder


def cut_after(monkeypatch, most=10**9):
    """Count the parts that are computed and remembered; cut the run short after so many."""
    plain, seen = FileJournal.keep, []

    def kept(self, key, memory, seconds):
        plain(self, key, memory, seconds)
        seen.append(key)
        if len(seen) == most:
            raise CutShort

    monkeypatch.setattr(FileJournal, "keep", kept)
    return seen


@pytest.mark.parametrize(
    ("lens", "most"), [("known", 2), pytest.param("open", 5, marks=pytest.mark.slow)]
)
def test_a_run_that_is_cut_short_again_and_again_ends_in_the_same_bytes(
    capture, tmp_path, monkeypatch, cache, capsys, lens, most
):
    for name in ("_FIRST_LIGHT", "_LATER_LIGHT", "_COARSE_STEPS", "_FINE_STEPS"):
        monkeypatch.setattr(phase, name, 30)
    monkeypatch.setattr(memory, "_EVERY", 25)
    monkeypatch.setattr(phase, "_MARGIN", -9.0)  # so few steps decide nothing
    asked = ["run", str(capture), "--only-result", "--out"]
    if lens == "open":
        shutil.copytree(capture, tmp_path / "drapery")
        (tmp_path / "drapery" / "K.txt").unlink()
        asked[1] = str(tmp_path / "drapery")
    with monkeypatch.context() as patch:
        whole = cut_after(patch)
        assert main([*asked, str(tmp_path / "whole")]) == 0
    assert not list(cache.iterdir())
    first, second = (tmp_path / name for name in ("whole", "cut"))
    assert "part of the explanation" in (first / "run.json").read_text()
    computed, cuts = [], 0
    while not second.exists():
        with monkeypatch.context() as patch:
            seen = cut_after(patch, len(whole) // most)
            try:
                assert main([*asked, str(second)]) == 0
            except CutShort:
                cuts += 1
            computed += seen
        assert second.exists() or len(list(cache.glob("*/*.npz"))) == len(computed)
    # What a whole run comes by twice is done once where the first time is remembered.
    again = set(whole) - set(computed)
    assert cuts == len(computed) // (len(whole) // most)
    assert len(computed) == len(set(computed))
    assert set(computed) <= set(whole)
    assert all(key.rsplit("-", 1)[0] + "-1" in computed for key in again)
    assert "taken over" in capsys.readouterr().err
    assert (first / "result.npz").read_bytes() == (second / "result.npz").read_bytes()
    energies = [json.loads((f / "run.json").read_text())["energies"] for f in (first, second)]
    assert energies[0] == energies[1]
    assert not list(cache.iterdir())


@pytest.mark.usefixtures("cache")
def test_what_is_damaged_is_computed_again(tmp_path):
    journal = FileJournal(tmp_path / "run")
    journal.keep("a", Memory({"x": np.arange(3.0)}, {"status": "good", "energy": 1 / 3}), 1.0)
    found = journal.recall("a")
    assert found.facts == {"status": "good", "energy": 1 / 3}
    assert np.array_equal(found.arrays["x"], np.arange(3.0))
    assert journal.recall("b") is None
    path = tmp_path / "run" / "a.npz"
    path.write_bytes(path.read_bytes()[:-30])
    assert journal.recall("a") is None


def test_short_parts_and_short_runs_are_not_worth_a_file(tmp_path, monkeypatch):
    journal = FileJournal(tmp_path / "run")
    journal.keep("a", Memory({}, {}), 0.1)
    journal.keep("b", Memory({}, {}), 1.0)
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(files, "SHORT", 0.0)
    journal.keep("c", Memory({}, {}), 1.0)  # now it has taken long
    assert sorted(path.stem for path in (tmp_path / "run").iterdir()) == ["b", "c"]


@pytest.mark.usefixtures("cache")
def test_memories_leave_room_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "free_disk", lambda _: 2**30)
    FileJournal(tmp_path / "run").keep("a", Memory({"x": np.ones(9)}, {}), 9.0)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("cache")
def test_a_disk_without_room_is_no_reason_to_stop(tmp_path):
    (tmp_path / "file").write_text("")
    FileJournal(tmp_path / "file" / "run").keep("a", Memory({}, {}), 9.0)


def test_digests_tell_bits_and_words_apart():
    ones = np.ones(4, np.float32)
    assert digest(ones, 1) == digest(ones.copy(), 1)
    others = [digest(ones, 2), digest(ones.astype(float), 1), digest(ones.reshape(2, 2), 1)]
    others += [digest(ones, 1.0), digest(ones, True), digest(ones, "1"), digest((ones, 1))]
    assert len({digest(ones, 1), *others}) == 1 + len(others)
    assert digest(np.nextafter(ones, 2), 1) != digest(ones, 1)
    assert digest(ones, ones) == digest(ones, ones) != digest(ones, 2 * ones)


def begun():
    """What Newton steps begin from."""
    mask = np.ones((3, 4), bool)
    photos, cover = np.ones((12, 6), np.float32), np.ones(12, np.float32)
    camera = Perspective((50.0, 50.0), (1.5, 1.0))
    level = PyramidLevel(mask, camera, pack(photos), 3, cover)
    prior = GaugePrior(level, np.eye(3))
    depth = KnownDepth(level, np.ones(12), np.ones(12), 0.05)
    return {"level": level, "terms": (prior, depth), "effort": Effort(3, 1e-3), "stage": Stage()}


class Asked(Exception):
    """Holds the key that was asked for."""


class Asking:
    """A journal that only hears what is asked."""

    def turn(self, key):
        raise Asked(key)

    recall = keep = turn


def key_of(level, terms, effort, stage):
    """The name under which Newton steps are remembered."""
    surface, light = np.zeros(level.grid.shape), np.ones((9, 6))
    with remembering(Asking()), pytest.raises(Asked) as asked:
        next(newton(level, terms, surface, light, 2, effort, stage))
    return str(asked.value)


def test_newton_steps_that_begin_from_something_else_have_another_digest():
    plain = begun()
    level, (prior, depth) = plain["level"], plain["terms"]
    numbers, scale = level.photos.numbers.copy(), level.photos.scale.copy()
    numbers[5, 2] -= 1
    scale[5] = np.nextafter(scale[5], np.float32(1))
    changed = [
        {"level": replace(level, photos=replace(level.photos, numbers=numbers))},
        {"level": replace(level, photos=replace(level.photos, scale=scale))},
        {"level": replace(level, closeness=0.35)},
        {"level": replace(level, cover=0.5 * level.cover)},
        {"terms": (prior,)},
        {"terms": (depth, prior)},
        {"terms": (replace(prior, weights=2 * prior.weights), depth)},
        {"terms": (prior, replace(depth, height=np.arange(12.0)))},
        {"terms": (prior, replace(depth, weight=np.arange(12.0)))},
        {"terms": (prior, replace(depth, strength=0.06))},
        {"effort": Effort(3, 1e-3, rival=0.1)},
        {"stage": Stage(1)},
    ]
    found = {key_of(**{**plain, **change}) for change in ({}, *changed)}
    assert len(found) == 1 + len(changed)
    assert key_of(**begun()) == key_of(**begun())


@dataclass(frozen=True)
class Foreign:
    """A term of another package: its code is not known here."""

    strength: float = 1.0


@pytest.mark.parametrize("part", [Foreign(), print, object(), np.array([object()]), {1, 2}])
def test_what_cannot_be_told_completely_is_never_remembered(part, tmp_path):
    with pytest.raises(UndescribedError):
        digest({**begun(), "terms": (part,)})
    with remembering(FileJournal(tmp_path / "run")):
        assert page("work", 1.0) is not None
        assert page("work", 1.0, part) is None
    assert [remembered(None, lambda k=k: k) for k in (1, 2)] == [1, 2]


def test_what_is_packed_comes_back_bit_by_bit():
    turned = np.arange(6.0).reshape(2, 3).T
    value = (Stage(3, "ball"), None, 1 / 3, float("inf"), np.float32(0.1), turned, turned[::2], ())
    found = unpacked(packed(value), (Stage,))
    assert found[:4] == value[:4]
    assert type(found[4]) is np.float32
    assert found[4] == value[4]
    assert found[5].flags.f_contiguous
    assert np.array_equal(found[5], turned)
    assert np.array_equal(found[6], turned[::2])
    assert found[7] == ()
    assert np.isnan(unpacked(packed(float("nan"))))
    with pytest.raises(TypeError):
        packed({"a": 1})


def test_a_journal_is_used_inside_only():
    journal = FileJournal.__new__(FileJournal)
    assert current_journal() is None
    with remembering(journal):
        assert current_journal() is journal
    assert current_journal() is None

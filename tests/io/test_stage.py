"""Whatever the moment at which a process is killed: the old output or the new one, whole."""

import signal
import subprocess
import sys

import pytest

from anylight.io import stage as stages
from anylight.io.folder import Owned, check_output, staged_folder
from anylight.io.stage import clear_leftovers, close_stage, open_stage, put_in_place, write_whole

OURS = Owned(marker="a1.txt", patterns=("a*.txt",))


def write(target, text):
    with staged_folder(target, OURS) as stage:
        (stage / "a1.txt").write_text(text)


def killed(program, *arguments):
    """Run a program that kills itself."""
    run = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], check=False)
    assert run.returncode == -signal.SIGKILL


KILLED_WRITING = """
import os, signal, sys
from pathlib import Path
from anylight.io.stage import open_stage
stage = open_stage(Path(sys.argv[1]))
(stage.new / "a1.txt").write_text("half")
os.kill(os.getpid(), signal.SIGKILL)
"""
KILLED_SWAPPING = """
import os, signal, sys
from pathlib import Path
from anylight.io import stage as stages
stages._exchanged = lambda *_: False
stage = stages.open_stage(Path(sys.argv[1]))
(stage.new / "a1.txt").write_text("new")
plain = Path.rename
def rename(path, target):
    if path == stage.new:
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(path, target)
Path.rename = rename
stages.put_in_place(stage, Path(sys.argv[1]))
"""


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    killed(KILLED_WRITING, tmp_path / "out")
    assert len(list(tmp_path.glob(".out.anylight-*"))) == 1
    write(tmp_path / "other", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    stage = open_stage(tmp_path / "out")
    assert clear_leftovers(tmp_path) == []
    assert stage.new.is_dir()
    close_stage(stage)
    assert not list(tmp_path.iterdir())


def test_an_output_that_was_moved_aside_comes_back(tmp_path):
    write(tmp_path / "out", "old")
    killed(KILLED_SWAPPING, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    check_output(tmp_path / "out", OURS)
    assert (tmp_path / "out" / "a1.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("at_once", [True, False])
def test_old_and_new_are_swapped(tmp_path, monkeypatch, at_once):
    if not at_once:
        monkeypatch.setattr(stages, "_exchanged", lambda *_: False)
    write(tmp_path / "out", "old")
    stage = open_stage(tmp_path / "out")
    (stage.new / "a1.txt").write_text("new")
    put_in_place(stage, tmp_path / "out")
    assert (tmp_path / "out" / "a1.txt").read_text() == "new"
    close_stage(stage)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_folders_of_others_are_left_alone(tmp_path):
    foreign = tmp_path / ".out.anylight-mine"
    foreign.mkdir()
    (foreign / "thesis.doc").touch()
    empty = tmp_path / ".out.anylight-empty"
    empty.mkdir()
    assert clear_leftovers(tmp_path) == [empty]
    assert (foreign / "thesis.doc").exists()


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    write_whole(tmp_path / "in" / "a.json", b"{}")
    (tmp_path / "in" / ".b.json.anylight-left").touch()
    assert len(clear_leftovers(tmp_path / "in")) == 1
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["a.json"]


def test_the_bytes_are_on_the_disk_before_the_name(tmp_path, monkeypatch):
    order = []
    monkeypatch.setattr(stages.os, "fsync", lambda handle: order.append(("sync", handle)))
    plain = stages.Path.rename
    monkeypatch.setattr(
        stages.Path, "rename", lambda a, b: (order.append(("move", b)), plain(a, b))[1]
    )
    write(tmp_path / "out", "new")
    kinds = [kind for kind, _ in order]
    assert kinds.index("move") >= 2
    assert kinds[-1] == "sync"

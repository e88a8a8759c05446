import os
from pathlib import Path

import pytest

from anylight.errors import InvalidInputError
from anylight.io.folder import Owned, check_output, staged_folder

OURS = Owned(marker="a1.txt", patterns=("a*.txt", "sub/x"))


def fill(target, text="new"):
    with staged_folder(target, OURS) as stage:
        (stage / "a1.txt").write_text(text)
        (stage / "sub").mkdir()
        (stage / "sub" / "x").write_text(text)


def test_a_folder_appears_whole(tmp_path):
    fill(tmp_path / "deep" / "out")
    assert (tmp_path / "deep" / "out" / "sub" / "x").read_text() == "new"
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["out"]


def test_our_own_folder_is_replaced(tmp_path):
    fill(tmp_path / "out", "old")
    (tmp_path / "out" / "a2.txt").write_text("left over")
    fill(tmp_path / "out", "new")
    assert (tmp_path / "out" / "a1.txt").read_text() == "new"
    assert not (tmp_path / "out" / "a2.txt").exists()


def test_a_folder_with_foreign_files_is_kept(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.doc").write_text("years of work")
    with pytest.raises(InvalidInputError, match=r"thesis\.doc"):
        fill(tmp_path / "out")
    assert (tmp_path / "out" / "thesis.doc").read_text() == "years of work"


def test_a_file_in_the_way_is_kept(tmp_path):
    (tmp_path / "out").write_text("file")
    with pytest.raises(InvalidInputError, match="is a file"):
        fill(tmp_path / "out")


def half_written(target):
    with staged_folder(target, OURS) as stage:
        (stage / "a1.txt").write_text("half")
        raise RuntimeError


def test_failure_leaves_nothing(tmp_path):
    fill(tmp_path / "out", "old")
    with pytest.raises(RuntimeError):
        half_written(tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "a1.txt").read_text() == "old"


def test_a_parent_that_cannot_hold_folders(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInputError, match="cannot be written"):
        fill(tmp_path / "file" / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_parent(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InvalidInputError, match="cannot be written"):
        fill(tmp_path / "out")


def test_a_folder_without_the_marker_is_not_ours(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a7.txt").write_text("mine, though it looks like yours")
    with pytest.raises(InvalidInputError, match=r"a7\.txt"):
        fill(tmp_path / "out")
    assert (tmp_path / "out" / "a7.txt").exists()


def test_foreign_files_deeper_down_are_kept(tmp_path):
    fill(tmp_path / "out")
    (tmp_path / "out" / "sub" / "thesis.doc").write_text("years of work")
    with pytest.raises(InvalidInputError, match=r"sub/thesis\.doc"):
        fill(tmp_path / "out")


def test_a_failing_move_keeps_the_old_folder(tmp_path, monkeypatch):
    fill(tmp_path / "out", "old")
    plain = Path.rename

    def rename(path, target):
        if Path(target).name == "out" and path.name != "old":
            raise OSError(16, "Device or resource busy")
        return plain(path, target)

    monkeypatch.setattr("anylight.io.stage._exchanged", lambda *_: False)
    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(InvalidInputError, match="untouched"):
        fill(tmp_path / "out", "new")
    assert (tmp_path / "out" / "a1.txt").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_linked_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    fill(tmp_path / "link")
    assert (tmp_path / "real" / "a1.txt").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_failure_removes_the_parents_it_made(tmp_path):
    with pytest.raises(RuntimeError):
        half_written(tmp_path / "p" / "q" / "out")
    assert not (tmp_path / "p").exists()


def test_the_folder_has_ordinary_permissions(tmp_path):
    (tmp_path / "plain").mkdir()
    fill(tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_checking_leaves_nothing(tmp_path):
    check_output(tmp_path / "a" / "b", OURS)
    assert not list(tmp_path.iterdir())

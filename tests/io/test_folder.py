import os

import pytest

from anylight.errors import InvalidInputError
from anylight.io.folder import staged_folder

OURS = ("a*.txt", "sub")


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

"""What people type, and what they are told."""

import subprocess
import sys

import pytest

from anylight.cli.main import main
from anylight.cli.words import quoted
from tests.cli.short import fails


@pytest.fixture
def photos(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("my photos", "b"):
        (tmp_path / folder).mkdir()
        for index in range(3):
            (tmp_path / folder / f"{index}.jpg").touch()
    return tmp_path


def test_photos_instead_of_their_folder(photos, capsys):
    given = sorted(str(path) for path in photos.glob("my photos/*.jpg"))
    fails(capsys, ["run", *given], "folder of the photos", f"anylight run '{photos}/my photos'")
    fails(capsys, ["info", *given, "b/0.jpg"], "one folder")
    fails(capsys, ["run", "b", "my photos"], "anylight batch b 'my photos' --out results")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--focal-35mm", "50mm"], "--focal-35mm 50mm: must be a number; write --focal-35mm 50."),
        (["--focal-35mm=0,5"], "write --focal-35mm 0.5."),
        (["--fov", "wide"], "--fov wide: must be a number."),
        (["--downscale", "1.5"], "must be a whole number; write --downscale 2."),
        (["--volume", "much"], "--volume much: must be a number."),
    ],
)
def test_words_where_numbers_are_meant(photos, capsys, words, said):
    fails(capsys, ["run", str(photos / "b"), *words], said)


def test_other_mistakes_keep_the_parsers_own_words(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run", "b", "--downscal", "2"])
    assert stop.value.code == 2
    assert "--downscale" in capsys.readouterr().err


def test_help_names_the_version(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "--version" in capsys.readouterr().out


def test_suggested_commands_can_be_pasted():
    assert quoted("anylight", "run", "a b") == "anylight run 'a b'"


def test_a_reader_that_leaves_early_is_no_error():
    run = subprocess.run(
        f"{sys.executable} -m anylight.cli.main --help | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""

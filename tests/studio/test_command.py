"""`anylight studio` before it serves."""

import socket

import pytest

from anylight.cli import studio
from anylight.cli.main import main


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(studio, "find_spec", lambda name: None if name == "uvicorn" else name)
    assert main(["studio"]) == 2
    assert "the studio needs uvicorn: pip install 'anylight[studio]'." in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["no/such/folder"], ["--port", "70000"]])
def test_wrong_arguments_are_refused_before_anything_starts(arguments, capsys):
    assert main(["studio", *arguments]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_another_interface_warns(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("anylight.studio.serve.serve", lambda *given: asked.append(given))
    assert main(["studio", "--host", "0.0.0.0", "--no-browser"]) == 0
    assert "not encrypted" in " ".join(capsys.readouterr().err.split())
    assert asked[0][1] == "0.0.0.0"
    assert main(["studio", "--no-browser"]) == 0
    assert capsys.readouterr().err == ""


def test_a_taken_port_is_refused(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["studio", "--port", port, "--no-browser"]) == 2
    assert "choose another --port" in " ".join(capsys.readouterr().err.split())

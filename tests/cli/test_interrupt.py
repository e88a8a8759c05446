"""Runs that are told to stop."""

import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys

import pytest

from anylight.cli.main import main
from anylight.io.archive import load_reconstruction
from tests.cli.short import FAST


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--preset", "paper", "--iterations", "9999"], "iteration 3/"),
        ([], "balloon 0.03, level 0, order 1, step 1:"),
    ],
    ids=["paper", "default"],
)
def test_interrupting_the_solve_keeps_a_result(capture, tmp_path, arguments, line):
    program = [sys.executable, "-m", "anylight.cli.main", "run", str(capture)]
    out = tmp_path / "out"
    run = subprocess.Popen(
        [*program, "--out", str(out), *arguments], stderr=subprocess.PIPE, text=True
    )
    for said in run.stderr:
        if said.startswith(line):
            run.send_signal(signal.SIGINT)
            break
    rest = run.communicate(timeout=120)[1]
    assert run.returncode == 130
    assert "Traceback" not in rest
    assert json.loads((out / "run.json").read_text())["status"] == "stopped by the user"


def press_ctrl_c(monkeypatch, place, times=1):
    """Press Ctrl-C while a function is at work for the first time."""
    plain, pressed = pkgutil.resolve_name(place), []

    def interrupted(*arguments, **more):
        while len(pressed) < times:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)
        return plain(*arguments, **more)

    monkeypatch.setattr(place, interrupted)


def test_ctrl_c_in_the_first_step_keeps_that_step(capture, tmp_path, capfd, monkeypatch):
    press_ctrl_c(monkeypatch, "anylight.paper.alternate.update_depth")
    before, out = signal.getsignal(signal.SIGINT), tmp_path / "out"
    with pytest.raises(SystemExit) as stop:
        main(["run", str(capture), "--out", str(out), "--only-result", *FAST])
    assert stop.value.code == 130
    assert "press Ctrl-C again" in capfd.readouterr().err
    assert len(json.loads((out / "run.json").read_text())["energies"]) == 1
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("place", "method"),
    [
        ("anylight.paper.method.reconstruction", FAST),
        ("anylight.joint.explanation.paint", ["--order", "2", "--shadows", "off"]),
    ],
    ids=["paper", "default"],
)
def test_ctrl_c_after_the_last_step_loses_nothing(capture, tmp_path, monkeypatch, place, method):
    press_ctrl_c(monkeypatch, place)
    out = tmp_path / "out"
    assert main(["run", str(capture), "--out", str(out), "--only-result", *method]) == 0
    assert load_reconstruction(out / "result.npz").depth is not None


@pytest.mark.parametrize(
    ("place", "times", "asked"),
    [
        ("anylight.paper.alternate.update_depth", 2, FAST),
        ("anylight.baselines.favaro2012.factorise", 1, ["--method", "favaro2012"]),
        ("anylight.joint.course.lenses._try", 1, ["--shadows", "off"]),
    ],
    ids=["twice", "competitor", "lenses"],
)
def test_ctrl_c_without_a_result_leaves_nothing(
    capture, tmp_path, capsys, monkeypatch, place, times, asked
):
    press_ctrl_c(monkeypatch, place, times)
    before, out = signal.getsignal(signal.SIGINT), tmp_path / "made" / "out"
    shutil.copytree(capture, tmp_path / "bust")
    if "lenses" in place:
        (tmp_path / "bust" / "K.txt").unlink()
    assert main(["run", str(tmp_path / "bust"), "--out", str(out), *asked]) == 130
    said = capsys.readouterr().err
    assert "nothing was written" in said
    assert ("before there was a result to keep" in said) == (times == 1)
    assert not out.parent.exists()
    assert signal.getsignal(signal.SIGINT) is before


def test_in_the_background_ctrl_c_is_not_for_us(capture, tmp_path, monkeypatch):
    press_ctrl_c(monkeypatch, "anylight.paper.alternate.update_depth", 2)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert (
            main(["run", str(capture), "--out", str(tmp_path / "o"), "--only-result", *FAST]) == 0
        )
    finally:
        signal.signal(signal.SIGINT, before)


def test_being_told_to_end_leaves_nothing(capture, tmp_path):
    program = [sys.executable, "-m", "anylight.cli.main", "run", str(capture)]
    arguments = ["--out", str(tmp_path / "out"), "--preset", "paper", "--iterations", "9999"]
    run = subprocess.Popen([*program, *arguments], stderr=subprocess.PIPE, text=True)
    for said in run.stderr:
        if said.startswith("iteration 3/"):
            run.terminate()
            break
    rest = run.communicate(timeout=60)[1]
    assert run.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in rest
    assert not list(tmp_path.iterdir())

"""Where compiled code is kept, and who hears that it is made."""

import gc
import os
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from numba.core import event as numba_event
from numba.core.errors import TypingError

from anylight import compiler
from anylight.cli.main import main
from anylight.cli.warm_up import MOST
from anylight.compiler import compiling, numba
from anylight.threads import loop


def test_the_compiler_is_heard():
    def twice(begin, end, values):
        for i in range(begin, end):
            values[i] *= 2

    twice.__module__ = "anylight.tests"
    kernel, heard, values = loop({}, over="values")(twice), [], np.ones(5)
    with compiling(heard.append):
        kernel(values)
        kernel(values)
    assert heard == [1]
    assert (values == 4).all()
    kernel(np.ones(5, np.float32))
    assert heard == [1]


def test_only_our_functions_are_compiled_with_our_settings(monkeypatch):
    class Spy(numba_event.Listener):
        def on_start(self, _event):
            seen.append((gc.isenabled(), int(numba.config.OPT)))

        def on_end(self, event):
            """Nothing to do."""

    def once(values):
        values[0] = 1

    def wrong(values):
        values.there_is_no_such_thing()

    monkeypatch.delenv("NUMBA_OPT", raising=False)
    usual = (gc.isenabled(), int(numba.config.OPT))
    assert usual[0]
    for module, expected in (("anylight.tests", (False, 1)), ("elsewhere", usual)):
        for function in (once, wrong):
            seen: list[tuple[bool, int]] = []
            function.__module__ = module
            with numba_event.install_listener("numba:compile", Spy()), suppress(TypingError):
                numba.njit(function)(np.ones(1))
            assert seen[0] == expected
            assert (gc.isenabled(), int(numba.config.OPT)) == usual


def test_folders_that_cannot_be_written_are_told(tmp_path):
    assert compiler._is_writable(tmp_path / "new" / "folder")
    (tmp_path / "file").write_text("")
    assert not compiler._is_writable(tmp_path / "file")
    assert not compiler._is_writable(tmp_path / "file" / "below")


def test_without_any_place_code_is_kept_for_the_process_alone(tmp_path):
    (tmp_path / "file").write_text("")
    program = (
        "import os, anylight.compiler as c; own = os.environ['NUMBA_CACHE_DIR']; "
        "print(c.IS_KEPT, own, os.path.isdir(own))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file" / "cache")},
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert told[0] == "False"
    assert told[2] == "True"
    assert not os.path.exists(told[1])


def test_folders_that_others_may_write_are_not_used(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    assert compiler.is_private(shared)
    assert not compiler.is_private(tmp_path / "nowhere")
    shared.chmod(0o777)
    assert not compiler.is_private(shared)
    program = "import os, anylight.compiler as c; print(c.IS_KEPT, os.environ['NUMBA_CACHE_DIR'])"
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_CACHE_DIR": str(shared)},
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert told[0] == "False"
    assert told[1] != str(shared)


def test_warm_up_says_where_code_cannot_be_kept(monkeypatch, capsys):
    monkeypatch.setattr("anylight.cli.warm_up.IS_KEPT", False)
    assert main(["warm-up"]) == 2
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err


@pytest.mark.slow
def test_warm_up_compiles_everything_once(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-m", "anylight.cli.main", "warm-up"],
            env=environment, capture_output=True, text=True, check=True,
        ).stderr
        for _ in range(2)
    ]  # fmt: skip
    assert f"{MOST} functions compiled" in said[0]
    assert "everything was compiled already" in said[1]


def test_at_debug_only_we_are_heard():
    program = """
import logging
heard = []
logging.basicConfig(level=logging.DEBUG)
logging.getLogger().handlers[0].emit = lambda record: heard.append(record.name)
import anylight, numpy as np
from anylight.threads import loop
def twice(begin, end, values):
    for i in range(begin, end):
        values[i] *= 2
loop({}, over="values")(twice)(np.ones(5))
import trimesh
trimesh.creation.box()
capture = anylight.render(anylight.SynthOptions(images=3, height=24)).capture
anylight.reconstruct(capture, method="favaro2012")
print(sorted(set(heard)))
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "['anylight']\n"

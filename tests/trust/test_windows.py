"""What other systems do not have is missed by nothing: modules and names of POSIX taken away.

This is no Windows, so it shows only that nothing of ours needs them: every module is imported, and
a run goes from photos to a result.
"""

import subprocess
import sys

WITHOUT = """
import builtins, importlib, os, pkgutil, signal, sys
import numba, numpy, scipy.optimize, OpenImageIO, trimesh, multiprocessing, rich, tyro  # need them
GONE = {"fcntl", "resource", "pwd", "grp", "termios", "posix"}
plain_import, plain_module = builtins.__import__, importlib.import_module

def refused(name, asker):
    if name in GONE and asker.startswith("anylight"):
        raise ImportError(f"no module named {name}")

def imported(name, globals=None, *more, **others):
    refused(name, (globals or {}).get("__name__", ""))
    return plain_import(name, globals, *more, **others)

def module(name, *more):
    refused(name, sys._getframe(1).f_globals.get("__name__", ""))
    return plain_module(name, *more)

builtins.__import__, importlib.import_module = imported, module
for name in ("sysconf", "geteuid", "getuid", "O_CLOEXEC", "memfd_create", "fork"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGHUP", "SIGKILL"):
    delattr(signal, name)
import anylight
names = [found.name for found in pkgutil.walk_packages(anylight.__path__, "anylight.")]
for name in names:
    plain_module(name)
from anylight.io import room, stage
stage._IS_POSIX = False
assert stage.fcntl is None and room.resource is None
room.limit_memory(2**40)
assert room.peak_memory() == 0
from anylight.cli.main import main
quick = ["--preset", "paper", "--iterations", "2", "--first-order-iterations", "1"]
assert main(["synth", "--images", "4", "--height", "32", "--out", "vase"]) == 0
for _ in range(2):  # the second replaces the first
    assert main(["run", "vase", "--out", "out", "--again", *quick]) == 0
print(len(names))
"""


def test_nothing_needs_what_only_posix_has(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout.split()[-1]) > 150
    assert (tmp_path / "out" / "run.json").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "vase"]

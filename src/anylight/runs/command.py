"""A run as the line that repeats it on a terminal."""

import os
import shlex
import subprocess
from pathlib import Path

import msgspec

from anylight.pipeline import RunOptions

from .flags import FLAGS


def command_words(capture: Path, out: Path, asked: dict[str, msgspec.Struct]) -> list[str]:
    """Name a run's program, capture, options that are not the defaults, and folder.

    Args:
        capture: what it reads.
        out: where it writes.
        asked: all options by the name that the record has for them.
    """
    options = asked["options"]
    assert isinstance(options, RunOptions)
    method = options.chosen().name
    words = ["anylight", "run", os.fspath(capture)]
    for group, given in asked.items():
        for field in msgspec.structs.fields(given):
            value = getattr(given, field.name)
            if value == field.default or value is None:
                continue
            name = _flag(method, field.name) if group == "settings" else field.name
            flag = f"--{name.replace('_', '-')}"
            words += [flag] if value is True else [flag, str(value)]
    return [*words, "--out", os.fspath(out)]


def quoted(words: list[str]) -> str:
    """A line that the shell of this system takes apart into these words again."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _flag(method: str, field: str) -> str:
    """The flag of a method's option."""
    return next(name for name, flag in FLAGS.items() if flag.owners.get(method) == field)

"""The words of a command line as a command; what is wrong with them, in a sentence."""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import tyro

from anylight.errors import InvalidInputError
from anylight.intake.photo import READABLE

DESCRIPTION = (
    "Photos of one object under any unknown light in, a real 3-D surface out. "
    "anylight --version says which version this is."
)
_ON_CAPTURES = ("run", "info", "mask")
_NUMBERS = {"FLOAT": "a number", "INT": "a whole number"}


def understood(commands: Any, words: list[str]) -> Any:
    """The command that the words ask for.

    Raises:
        InvalidInputError: a sentence about the usual mistakes; the parser itself tells of others.
    """
    heard = io.StringIO()
    try:
        with contextlib.redirect_stderr(heard):
            return tyro.cli(
                commands,
                prog="anylight",
                description=DESCRIPTION,
                args=words,
                config=(tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes),
            )
    except SystemExit as stop:
        said = heard.getvalue()
        if stop.code not in (None, 0):
            sentence = _about_captures(words, said) or _about_numbers(words, said)
            if sentence:
                raise InvalidInputError(sentence) from None
        sys.stderr.write(said)
        raise


def quoted(*words: Path | str) -> str:
    """A command that can be pasted into a shell."""
    return shlex.join(map(str, words))


def _about_captures(words: list[str], said: str) -> str | None:
    """Photos, or several folders, where one capture is meant."""
    if not words or words[0] not in _ON_CAPTURES or "Unrecognized" not in said:
        return None
    command = words[0]
    loose = [Path(word) for word in words[1:] if not word.startswith("-")]
    photos = [path for path in loose if path.suffix.lower() in READABLE and path.is_file()]
    folders = [path for path in loose if path.is_dir()]
    if len(photos) > 1:
        homes = sorted({path.parent for path in photos})
        if len(homes) > 1:
            return f"put the photos into one folder, and give it to anylight {command}."
        return (
            f"give the folder of the photos: {quoted('anylight', command, homes[0])} (to use only "
            "some of its photos, list them as files in its capture.toml)."
        )
    if len(folders) > 1:
        many = quoted("anylight", "batch", *folders, "--out", "results")
        return f"anylight {command} takes one capture; for several: {many}"
    return None


def _about_numbers(words: list[str], said: str) -> str | None:
    """A word where a number is meant."""
    plain = " ".join(line.strip("│╭╮╰╯─ ") for line in said.splitlines())
    found = re.search(r"Error parsing (--[\w-]+):.*Argument helptext: +\1 (\S+)", plain)
    if found is None:
        return None
    flag, kinds = found[1], set(found[2].split("|"))
    kind = next((words for name, words in _NUMBERS.items() if name in kinds), None)
    given = _value(words, flag)
    if kind is None or given is None or len(kinds - {"{None}"}) > 1:
        return None
    number = re.match(r"[-+]?\d+(?:[.,]\d+)?", given)
    if number is None:
        return f"{flag} {given}: must be {kind}."
    bare = number[0].replace(",", ".")
    if "INT" in kinds:
        bare = f"{round(float(bare))}"
    return f"{flag} {given}: must be {kind}; write {flag} {bare}."


def _value(words: list[str], flag: str) -> str | None:
    """What was given to a flag."""
    for word, after in zip(words, [*words[1:], None], strict=True):
        if word == flag:
            return after
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
    return None

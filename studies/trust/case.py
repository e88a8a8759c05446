"""One bad capture: how it is made, what is asked, what must be said."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Build = Callable[[Path], object]


@dataclass(frozen=True)
class Bad:
    """A capture, a command, and how it must end."""

    name: str
    build: Build
    """Spoils a copy of a good capture."""
    arguments: tuple[str, ...]
    """Of the program; CAPTURE is the folder, OUT where to write, PLACE the folder of both."""
    phrase: str
    """What the message holds."""
    code: int = 2


RUN = ("run", "CAPTURE", "--out", "OUT", "--preset", "paper", "--iterations", "2",
       "--first-order-iterations", "1", "--only-result")  # fmt: skip
"""A short run: what is bad must be found before it, or survive it."""


def refused(
    name: str,
    build: object,
    phrase: str,
    *more: str,
    no_k: bool = False,
    command: tuple[str, ...] = RUN,
) -> Bad:
    """A capture that is refused with exit code 2."""

    def made(folder: Path) -> None:
        if no_k:
            (folder / "K.txt").unlink()
        if callable(build):
            build(folder)

    return Bad(name, made, (*command, *more), phrase)


def survives(name: str, build: Build, phrase: str = "", *more: str) -> Bad:
    """A capture that says little, but from which a run must end with finite numbers."""
    return Bad(name, build, (*RUN, *more), phrase, code=0)


def put(name: str, content: bytes) -> Build:
    """Write a file into the capture."""
    return lambda folder: (folder / name).write_bytes(content)


def text(name: str, words: str) -> Build:
    """Write words into the capture."""
    return put(name, words.encode())


def edit(name: str, content: Callable[[Path], bytes]) -> Build:
    """Replace a file by what is made of others."""
    return lambda folder: (folder / name).write_bytes(content(folder))


def place(inner: str) -> Build:
    """Move all files one folder deeper."""

    def build(folder: Path) -> None:
        files = list(folder.iterdir())
        (folder / inner).mkdir()
        for path in files:
            path.rename(folder / inner / path.name)

    return build

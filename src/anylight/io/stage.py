"""Hidden folders in which outputs are made, and what is left of them when a process is killed.

A stage is `.NAME.anylight-XXXX` beside the output that it is for: `lock` in it is held by the
process that writes, and the system lets go of it however that process ends; `new` becomes the
output. A stage whose lock nobody holds is a leftover, whatever its age: no process numbers, no
flags that a crash leaves behind.
"""

import contextlib
import ctypes
import importlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any = None
"""Locks of files; without them (Windows) leftovers are left alone."""
with contextlib.suppress(ImportError):
    fcntl = importlib.import_module("fcntl")

_MARK = ".anylight-"
_NAMED = re.compile(rf"\.(.+){re.escape(_MARK)}\w+")
_LOCK, _NEW, _OLD = "lock", "new", "old"
_IS_POSIX = os.name == "posix"
_OWN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
"""Files that processes we start do not inherit."""
_HERE, _EXCHANGE = -100, 2
"""Of Linux: paths are relative to the current folder; rename both ways at once."""


@dataclass(frozen=True)
class Stage:
    """A folder for what is not finished yet."""

    place: Path
    lock: int
    """File descriptor; the lock is held as long as it is open."""

    @property
    def new(self) -> Path:
        """What will be moved to its place."""
        return self.place / _NEW


def open_stage(target: Path) -> Stage:
    """Make a stage beside a target; its parents must be there."""
    while True:
        place = Path(tempfile.mkdtemp(prefix=f".{target.name}{_MARK}", dir=target.parent))
        try:
            handle = os.open(place / _LOCK, os.O_CREAT | os.O_RDWR | _OWN, 0o600)
        except FileNotFoundError:  # a cleaner was faster
            continue
        except OSError:
            shutil.rmtree(place, ignore_errors=True)
            raise
        stage = Stage(place, handle)
        try:
            if _locked(handle) and (place / _LOCK).exists():  # else a cleaner was faster
                stage.new.mkdir()
                return stage
        except OSError:
            close_stage(stage)
            raise
        close_stage(stage)


def close_stage(stage: Stage) -> None:
    """Remove a stage with what is still in it."""
    if _IS_POSIX:
        _remove(stage.place)
        os.close(stage.lock)
    else:  # files that are open cannot be removed
        os.close(stage.lock)
        _remove(stage.place)


def _remove(place: Path) -> None:
    """Remove a stage, its lock last: whoever is killed on the way leaves one that can be told."""
    for inner in (_NEW, _OLD):
        shutil.rmtree(place / inner, ignore_errors=True)
    shutil.rmtree(place, ignore_errors=True)


def put_in_place(stage: Stage, target: Path) -> None:
    """Bring all bytes to the disk, then put the new folder in the target's place in one step.

    Whenever the machine stops, the target is the old one or the new one, whole.
    """
    _flush(stage.new)
    if not target.exists():
        stage.new.rename(target)
    elif not _exchanged(stage.new, target):
        target.rename(stage.place / _OLD)
        try:
            stage.new.rename(target)
        except OSError:
            (stage.place / _OLD).rename(target)
            raise
    _flush_folder(target.parent)


def clear_leftovers(parent: Path) -> list[Path]:
    """Remove stages and files in a folder whose process is dead; gives what was removed.

    An output that was moved aside and never replaced is moved back.
    """
    removed = []
    with contextlib.suppress(OSError):
        for place in list(parent.glob(f".*{_MARK}*")):
            named = _NAMED.fullmatch(place.name)
            if named is None or place.is_symlink() or not _is_dead(place):
                continue
            target = parent / named[1]
            if (place / _OLD).exists() and not target.exists():
                (place / _OLD).rename(target)
            if place.is_dir():
                _remove(place)
            else:
                place.unlink(missing_ok=True)
            removed.append(place)
    return removed


def _is_dead(place: Path) -> bool:
    """Whether nobody holds the lock of a stage or file; others' folders have none."""
    if fcntl is None:
        return False
    try:
        lock = place / _LOCK if place.is_dir() else place
        handle = os.open(lock, os.O_RDWR | _OWN)
    except FileNotFoundError:
        return not any(place.iterdir())  # killed before its lock was made
    except OSError:
        return False
    try:
        return _locked(handle)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Take a lock if nobody has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _exchanged(first: Path, second: Path) -> bool:
    """Swap two folders at once, where the system can."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    names = (os.fsencode(first), os.fsencode(second))
    return bool(rename(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0)


def _flush(folder: Path) -> None:
    for inner, _, files in os.walk(folder, topdown=False):
        for file in files:
            flush_file(Path(inner) / file)
        _flush_folder(Path(inner))


def flush_file(path: Path) -> None:
    """Bring a file to the disk."""
    way = os.O_RDONLY if _IS_POSIX else os.O_RDWR  # elsewhere only a writer may flush
    handle = os.open(path, way | _OWN)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_folder(folder: Path) -> None:
    if _IS_POSIX:  # elsewhere folders cannot be opened
        flush_file(folder)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file that is there whole or not at all, whenever the machine stops."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}{_MARK}")
    try:
        with os.fdopen(handle, "w+b") as file:
            _locked(handle)
            yield file
            file.flush()
            os.fsync(handle)
            if _IS_POSIX:  # elsewhere only a closed file can be moved
                Path(name).replace(path)
        if not _IS_POSIX:
            Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def write_whole(path: Path, content: bytes) -> None:
    """Write all bytes of a file, or none."""
    with whole_file(path) as file:
        file.write(content)

"""Output folders that appear whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from anylight.errors import InvalidInputError

from .stage import clear_leftovers, close_stage, open_stage, put_in_place


@dataclass(frozen=True)
class Owned:
    """What a command writes: how to recognise a folder that it may replace."""

    marker: str
    """A file that only this command writes; without it a folder is somebody else's."""
    patterns: tuple[str, ...]
    """Every file in the folder, relative to it, matches one of these."""


def check_output(target: Path, owned: Owned) -> None:
    """Refuse, before any work is done, a place that cannot or must not be written."""
    target = _resolved(target)
    clear_leftovers(target.parent)
    if target.exists() and not target.is_dir():
        raise InvalidInputError(f"{target}: is a file; choose a folder for the output.")
    foreign = sorted(_foreign(target, owned)) if target.exists() else []
    if foreign:
        raise InvalidInputError(
            f"{target}: already holds other files ({foreign[0]}); choose an empty or new folder."
        )
    parent = target.parent
    while not parent.exists():
        parent = parent.parent
    try:
        close_stage(open_stage(parent / target.name))
    except OSError as error:
        raise _unwritable(target, error) from error


@contextmanager
def staged_folder(target: Path, owned: Owned) -> Iterator[Path]:
    """Give a hidden folder to write into, and move it to its place when all went well.

    A folder that stands there already is replaced only if this command wrote all of it, and only
    after the new one is complete: nothing of the user's is ever lost.
    """
    check_output(target, owned)
    target = _resolved(target)
    made = [p for p in (target.parent, *target.parent.parents) if not p.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        stage = open_stage(target)
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield stage.new
        put_in_place(stage, target)
        made = []
    except OSError as error:
        raise InvalidInputError(
            f"{target}: writing failed ({error.strerror or error}); what was there before is "
            "untouched. Free some space or choose another folder."
        ) from error
    finally:
        close_stage(stage)
        for parent in made:
            if parent.exists() and not any(parent.iterdir()):
                parent.rmdir()


def _foreign(target: Path, owned: Owned) -> list[str]:
    files = [path for path in target.rglob("*") if not path.is_dir() or path.is_symlink()]
    names = [path.relative_to(target).as_posix() for path in files]
    if names and owned.marker not in names:
        return names
    return [name for name in names if not any(fnmatch(name, p) for p in owned.patterns)]


def _resolved(target: Path) -> Path:
    return target.absolute().resolve()


def _unwritable(target: Path, error: OSError) -> InvalidInputError:
    return InvalidInputError(
        f"{target}: cannot be written ({error.strerror}); choose another folder."
    )

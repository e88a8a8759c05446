"""Output folders that appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

from anylight.errors import InvalidInputError


@contextmanager
def staged_folder(target: Path, ours: tuple[str, ...]) -> Iterator[Path]:
    """Give a hidden folder to write into, and move it to its place when all went well.

    A folder that already stands there is replaced only if everything in it matches `ours`, names
    that an earlier call of the same command writes: nothing of the user's is ever lost.

    Args:
        target: the folder to make.
        ours: patterns of the names the command writes.
    """
    target = target.absolute()
    check_replaceable(target, ours)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise InvalidInputError(
            f"{target}: cannot be written ({error.strerror}); choose another folder."
        ) from error
    try:
        stage.chmod(0o777 & ~_umask())
        yield stage
        if target.exists():
            shutil.rmtree(target)
        stage.rename(target)
    except OSError as error:
        raise InvalidInputError(
            f"{target}: writing failed ({error.strerror}); nothing was left there."
        ) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def check_replaceable(target: Path, ours: tuple[str, ...]) -> None:
    """Refuse a target that is a file, or a folder with something foreign in it."""
    if target.exists() and not target.is_dir():
        raise InvalidInputError(f"{target}: is a file; choose a folder for the output.")
    foreign = [
        path.name
        for path in (target.iterdir() if target.exists() else ())
        if not any(fnmatch(path.name, pattern) for pattern in ours)
    ]
    if foreign:
        raise InvalidInputError(
            f"{target}: already holds other files ({sorted(foreign)[0]}); "
            "choose an empty or new folder."
        )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

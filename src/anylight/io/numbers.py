"""Arrays of numbers in `.npz` and `.npy` files: never Python objects, never more than fits."""

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as layout

from anylight.errors import InvalidInputError

from .room import check_memory

_OBJECTS = "holds Python objects, which are never read; save arrays of numbers."
_REDUCE = "give a smaller file."


def read_npz(path: Path, names: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """Read arrays of an archive: all, or those of some names that are there.

    Raises:
        InvalidInputError: the file is missing, damaged, too large, or holds Python objects.
    """
    kind = "NPZ archive"
    with _explained(path, kind), path.open("rb") as file:
        if file.read(2) != b"PK":
            raise InvalidInputError(
                f"{path}: is not a readable {kind} (no zip file); write it again."
            )
        _check_members(path, names)
        file.seek(0)
        with np.load(file, allow_pickle=False) as archive:
            return {n: archive[n] for n in archive.files if names is None or n in names}


def read_npy(path: Path) -> np.ndarray:
    """Read one array; errors as for `read_npz`."""
    with _explained(path, ".npy file"):
        with path.open("rb") as file:
            _check(path, _promised(path, file), path.stat().st_size)
        return np.asarray(np.load(path, allow_pickle=False))


@contextmanager
def _explained(path: Path, kind: str) -> Iterator[None]:
    """Say what is wrong with a file; a damaged one can raise nearly anything."""
    try:
        yield
    except InvalidInputError:
        raise
    except FileNotFoundError as error:
        raise InvalidInputError(f"{path}: no such file; check the name.") from error
    except Exception as error:
        raise InvalidInputError(
            f"{path}: is not a readable {kind} ({_reason(error)}); write it again."
        ) from error


def _check_members(path: Path, names: Collection[str] | None) -> None:
    """Look at the headers of all arrays that will be read, before any of them is unpacked."""
    needed = 0
    with ZipFile(path) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if names is not None and name not in names:
                continue
            with archive.open(member) as file:
                size = _promised(path, file)
            if size > member.file_size:
                raise _cut_off(path)
            needed += member.file_size
    check_memory(path, needed, _REDUCE)


def _check(path: Path, promised: int, size: int) -> None:
    if promised > size:
        raise _cut_off(path)
    check_memory(path, promised, _REDUCE)


def _promised(path: Path, file: Any) -> int:
    """Bytes of the array that a header announces."""
    version = layout.read_magic(file)
    read = layout.read_array_header_1_0 if version == (1, 0) else layout.read_array_header_2_0
    shape, _, kind = read(file)
    if kind.hasobject:
        raise InvalidInputError(f"{path}: {_OBJECTS}")
    return math.prod(shape) * kind.itemsize


def _cut_off(path: Path) -> InvalidInputError:
    return InvalidInputError(f"{path}: is cut off; copy or write it again.")


def _reason(error: Exception) -> str:
    """What went wrong in one line, without advice to trust the file."""
    words = " ".join(str(error).split())[:200]
    return "it is damaged" if not words or "pickle" in words else words

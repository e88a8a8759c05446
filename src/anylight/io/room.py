"""How much fits: free memory and free space on a disk, asked before they are used."""

import contextlib
import importlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from anylight.errors import InvalidInputError

resource: Any = None
"""Limits of processes, where the system has them."""
with contextlib.suppress(ImportError):
    resource = importlib.import_module("resource")

_UNKNOWN = 2**62
_MEMORY = Path("/proc/meminfo")
_GROUPS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
"""Limit and use of a container's memory, under its control groups."""


def free_memory(groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that can still be used: of the machine, of the container, of the process."""
    return min(_of_machine(), _of_container(groups), _of_process())


def _of_machine() -> int:
    try:
        lines = _MEMORY.read_text(encoding="ascii").splitlines()
        found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
        return int(found[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return _UNKNOWN


def _of_container(groups: Path) -> int:
    for limit, used in _GROUPS:
        try:
            return int((groups / limit).read_text()) - int((groups / used).read_text())
        except (OSError, ValueError):  # none, or "max"
            continue
    return _UNKNOWN


def _of_process() -> int:
    if resource is None:
        return _UNKNOWN
    limit = int(resource.getrlimit(resource.RLIMIT_AS)[0])
    if limit == resource.RLIM_INFINITY:
        return _UNKNOWN
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return limit
    return limit - pages * os.sysconf("SC_PAGE_SIZE")


def limit_memory(size: int) -> None:
    """Bound the memory of this process, where the system can."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def peak_memory() -> int:
    """Bytes that this process has held at most; nothing where the system does not say."""
    if resource is None:
        return 0
    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else 1024 * peak


def free_disk(place: Path) -> int:
    """Bytes that can be written at a place, or at the nearest folder above it that exists."""
    place = place.absolute()
    while not place.exists():
        place = place.parent
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return _UNKNOWN


def check_memory(what: Path | str, needed: int, remedy: str) -> None:
    """Refuse what would not fit into memory, before it is read.

    Raises:
        InvalidInputError: says how much is needed and how much is free.
    """
    free = free_memory()
    if needed > free:
        raise InvalidInputError(
            f"{what}: needs {in_words(needed)} of memory, and {in_words(free)} are free; {remedy}"
        )


def check_disk(place: Path, needed: int) -> None:
    """Refuse a disk on which the output would not fit.

    Raises:
        InvalidInputError: says how much is needed and how much is free.
    """
    free = free_disk(place)
    if needed > free:
        raise InvalidInputError(
            f"{place}: the disk has {in_words(free)} free, up to {in_words(needed)} are needed; "
            "free some space or choose another folder."
        )


def in_words(size: int) -> str:
    """A number of bytes for people."""
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{max(size, 0) / 1024:.0f} KiB"

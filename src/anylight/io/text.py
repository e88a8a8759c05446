"""Small texts: numbers, names and notes that lie beside photos."""

import errno
import os
from pathlib import Path

_MOST = 4_000_000
"""Bytes: more is no such text, and slow to search."""


def small_text(path: Path) -> str:
    """Read a text in UTF-8.

    Raises:
        OSError: it cannot be read, or is far too large.
        UnicodeDecodeError: it is something else.
    """
    if path.stat().st_size > _MOST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return path.read_text(encoding="utf-8-sig")

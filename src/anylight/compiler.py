"""The compiler of the kernels: where its results are kept, and who hears that it is at work.

While it is at work, nobody looks for garbage in circles: it makes millions of small objects that it
needs to the end, and looking through them again and again took a sixth of its time.

Compiled code is kept beside the sources, or else in the user's cache folder. Where neither can be
written (a read-only installation without a home), it is kept in a temporary folder of this process
alone. Folders that belong to other people, or that others may write, are not used: what is kept is
read back as it is, so compiled code of other people must never be there.
"""

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_KEY, _LEVEL_KEY = "NUMBA_CACHE_DIR", "NUMBA_OPT"
_LEVEL = 1
"""How hard the back end tries. More takes longer and makes no kernel faster: loops become vector
code at every level but zero."""
_HOME = "~"


def _is_writable(folder: Path) -> bool:
    """Whether a file can be made in a folder, which is made if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def is_private(folder: Path) -> bool:
    """Whether a folder is ours, and only we can write into it."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        facts = folder.stat()
    except OSError:
        return False
    by_group = facts.st_mode & 0o020 and facts.st_gid != os.getegid()
    return facts.st_uid == os.geteuid() and not facts.st_mode & 0o002 and not by_group


def _user_cache() -> Path | None:
    """The folder that the compiler itself would take; None if there is no home."""
    given = os.environ.get("XDG_CACHE_HOME")
    home = Path(_HOME).expanduser() if given is None else Path(given)
    if str(home) == _HOME:
        return None
    return home / "numba" if given is not None else home / ".cache" / "numba"


def _kept() -> bool:
    """Whether compiled code can be kept for the next run; else it gets a folder of its own."""
    given, beside = os.environ.get(_KEY), Path(__file__).parent / "kernels" / "__pycache__"
    user = _user_cache()
    first = Path(given) if given else beside
    is_written = _is_writable(first)
    if is_written and is_private(first):
        return True
    if not given and user is not None and _is_writable(user) and is_private(user):
        if is_written:  # by others, too: the compiler would take it
            os.environ[_KEY] = str(user)
        return True
    own = tempfile.mkdtemp(prefix="anylight-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    os.environ[_KEY] = own
    return False


IS_KEPT = _kept()
"""False: everything is compiled again in every run."""

import numba as _numba  # noqa: E402
from numba.core import event as _numba_event  # noqa: E402

numba: Any = _numba
_event: Any = _numba_event
_PACKAGE = __name__.partition(".")[0]


class _Listener(_numba_event.Listener):
    """Hears the compiler."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell, self._names = tell, set[str]()

    def on_start(self, event: Any) -> None:
        """Count every function of ours once."""
        if _is_ours(event):
            source = event.data["dispatcher"].py_func
            self._names.add(f"{source.__module__}.{source.__qualname__}")
            self._tell(len(self._names))

    def on_end(self, event: Any) -> None:
        """Nothing to do."""


class _Settings(_numba_event.Listener):
    """How functions of ours, and those that they call, are compiled.

    The compiler holds a lock from start to end, so one thread at a time is here.
    """

    def __init__(self) -> None:
        self._depth, self._was_on, self._was_level = 0, False, numba.config.OPT

    def on_start(self, event: Any) -> None:
        """The outermost function sets everything."""
        if self._depth or _is_ours(event):
            self._depth += 1
        if self._depth == 1:
            self._was_on, self._was_level = gc.isenabled(), numba.config.OPT
            gc.disable()
            if not os.environ.get(_LEVEL_KEY):
                numba.config.OPT = type(self._was_level)(_LEVEL)

    def on_end(self, _event: Any) -> None:
        """And puts it back, also after errors."""
        if self._depth:
            self._depth -= 1
            if not self._depth:
                numba.config.OPT = self._was_level
                if self._was_on:
                    gc.enable()


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith(_PACKAGE)


_event.register("numba:compile", _Settings())


@contextmanager
def compiling(tell: Callable[[int], None]) -> Iterator[None]:
    """Tell, while inside, how many functions have begun to be compiled; nothing if none are."""
    listener = _Listener(tell)
    _event.register("numba:compile", listener)
    try:
        yield
    finally:
        _event.unregister("numba:compile", listener)

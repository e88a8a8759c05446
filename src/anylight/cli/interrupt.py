"""Ctrl-C and the wish to end: what they mean while a command runs."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import rich.console

_Handler = Callable[[int, Any], Any] | int | None


@contextmanager
def _handled(handler: _Handler) -> Iterator[None]:
    """Hear Ctrl-C in another way; only the main thread of a process can.

    In the background and under nohup Ctrl-C is not for us: it stays ignored.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def stopping(console: rich.console.Console, stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C asks for a stop after the step at hand; pressed again, it interrupts at once."""

    def heard(number: int, frame: object) -> None:
        del number, frame
        stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if console.file in (sys.stderr, sys.stdout):  # the console itself may be busy printing
            words = "stopping after this step; press Ctrl-C again to stop without a result\n"
            os.write(2, words.encode())

    with _handled(heard):
        yield


def undisturbed() -> Any:
    """Let a finished solve be written even if Ctrl-C is pressed once more."""
    return _handled(signal.SIG_IGN)


def end_cleanly(number: int, frame: object) -> None:
    """Leave as after a mistake, so that nothing half-written stays behind (SIGTERM, SIGHUP)."""
    del frame
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)

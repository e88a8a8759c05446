"""Work in a child process: it talks through a pipe, and may neither eat all memory nor hang.

What crosses the pipe is MessagePack, never code.
"""

import contextlib
import importlib
import multiprocessing
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import msgspec

from anylight.errors import InvalidInputError
from anylight.io.room import limit_memory

Message = dict[str, Any]
"""With a "kind"; the rest depends on it."""
FAILED, DONE = "failed", "done"
_KILLED = -9
"""Exit code of a process that was killed, where systems know that."""


@dataclass(frozen=True)
class Limits:
    """What a child may use."""

    memory: int | None = None
    """Bytes of address space, where the system can limit it."""
    seconds: float | None = None
    """Time after which it is ended."""


class Line:
    """The child's end of the pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def tell(self, kind: str, **values: Any) -> None:
        """Tell the parent something."""
        self._pipe.send_bytes(msgspec.msgpack.encode({"kind": kind, **values}))

    def heard(self, wait: bool = False) -> str | None:
        """What the parent asks for, if anything; waits for it if told so."""
        if not wait and not self._pipe.poll():
            return None
        return msgspec.msgpack.decode(self._pipe.recv_bytes(), type=str)


class Child:
    """One task in a process of its own."""

    def __init__(
        self,
        task: str,
        arguments: Message,
        hear: Callable[[Message], None],
        limits: Limits = Limits(),
    ) -> None:
        """Start it.

        Args:
            task: "module:function", called with a `Line` and the arguments.
            arguments: plain values by name.
            hear: called from a thread with everything the child tells; the last message is "done",
                with what the task returned, or "failed", with a sentence.
            limits: what it may use.
        """
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        packed = msgspec.msgpack.encode(arguments)
        self._process = context.Process(
            target=_work, args=(task, packed, theirs, limits.memory), daemon=True
        )
        self._process.start()
        theirs.close()
        self._hear, self._limits, self._late = hear, limits, False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def ask(self, word: str) -> None:
        """Ask the child for something."""
        with contextlib.suppress(OSError):  # it has ended, and its last message says so
            self._pipe.send_bytes(msgspec.msgpack.encode(word))

    def end(self) -> None:
        """End it at once."""
        self._process.kill()

    def join(self) -> None:
        """Wait until it has ended and was heard to the last word."""
        self._thread.join()

    def _listen(self) -> None:
        timer = None
        if self._limits.seconds is not None:
            timer = threading.Timer(self._limits.seconds, self._too_late)
            timer.daemon = True
            timer.start()
        ended = False
        try:
            while not ended:
                message = msgspec.msgpack.decode(self._pipe.recv_bytes())
                ended = message["kind"] in (DONE, FAILED)
                if ended:
                    self._process.join(5)
                self._hear(message)
        except (EOFError, OSError):
            self._process.join(5)
            self._hear({"kind": FAILED, "sentence": self._why()})
        finally:
            if timer is not None:
                timer.cancel()
            self._pipe.close()

    def _too_late(self) -> None:
        self._late = True
        self._process.kill()

    def _why(self) -> str:
        if self._late:
            return f"this took more than {self._limits.seconds:.0f} seconds and was ended."
        if self._process.exitcode == _KILLED:
            return "it was ended."
        return "it ended without a word: perhaps a file is damaged, or memory ran out."


def _work(task: str, packed: bytes, pipe: Connection, memory: int | None) -> None:
    """What the child does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line = Line(pipe)
    try:
        if memory is not None:
            limit_memory(memory)
        module, _, name = task.partition(":")
        function = getattr(importlib.import_module(module), name)
        line.tell(DONE, result=function(line, **msgspec.msgpack.decode(packed)))
    except InvalidInputError as error:
        line.tell(FAILED, sentence=str(error))
    except MemoryError:
        line.tell(FAILED, sentence="not enough memory for photos of this size; use smaller ones.")
    except Exception as error:  # noqa: BLE001  the parent lives on, whatever it was
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        line.tell(FAILED, sentence=f"something went wrong that should not ({reason}).")

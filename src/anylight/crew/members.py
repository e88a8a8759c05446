"""The threads themselves."""

import atexit
import ctypes
import os
import struct
import threading
import time
from collections import deque
from collections.abc import Sequence
from enum import Enum
from queue import SimpleQueue
from typing import Any

from .calls import SLOTS, Loop
from .waiting import ACTIVE, JOB, waiting

_LINE = 64
"""A line of a processor's cache. [bytes]"""
_AWAKE = 2e-4
"""Seconds that a thread looks for work all the time: most loops follow sooner than that."""
_FAREWELL = 1.0
"""How long to wait for each thread at the end of the program. [seconds]"""


class Outcome(Enum):
    """What became of a loop."""

    DONE = "done"
    BUSY = "busy"
    FAILED = "failed"


class Crew:
    """The calling thread and others, which wait for parts of its loops."""

    def __init__(self, num: int) -> None:
        self._work, self._lead, self._settle, _ = waiting()
        size = JOB + 8 * (5 + SLOTS)
        self._memory = (ctypes.c_uint8 * (size + _LINE))()
        begin = ctypes.addressof(self._memory)
        self._address = -(-begin // _LINE) * _LINE
        first = self._address - begin
        self._view = memoryview(self._memory).cast("B")[first : first + size]
        self._head = struct.Struct("=5q")
        self._busy = threading.Lock()
        self._sleepers: deque[SimpleQueue[None]] = deque()
        self._held: Sequence[Any] = ()
        self._spins = self._pauses(_AWAKE)
        self._is_settled = True
        """Nobody reads a job any more; an interrupted one leaves this open."""
        self._is_over = False
        self._members: list[threading.Thread] = []
        for k in range(1, num):
            member = threading.Thread(target=self._stay, name=f"anylight-{k}", daemon=True)
            try:
                member.start()
            except RuntimeError:  # no more threads are to be had; fewer do the same work
                break
            self._members.append(member)
        atexit.register(self.disband)

    def disband(self) -> None:
        """Let the others go; loops run on the calling thread alone after that."""
        self._is_over = True
        while self._sleepers:
            self._sleepers.pop().put(None)
        for member in self._members:
            member.join(_FAREWELL)

    def _pauses(self, seconds: float) -> int:
        """How many looks take so long."""
        tries, taken = 1000, []
        struct.pack_into("=q", self._view, ACTIVE, 1)
        for _ in range(5):
            begin = time.perf_counter()
            self._settle(self._address, tries)
            taken.append(time.perf_counter() - begin)
        struct.pack_into("=q", self._view, ACTIVE, 0)
        return max(100, int(tries * seconds / max(min(taken), 1e-9)))

    def _stay(self) -> None:
        bell: SimpleQueue[None] = SimpleQueue()
        while not self._is_over:
            self._work(self._address, self._spins)
            self._sleepers.append(bell)
            if not self._is_over:
                bell.get()

    @property
    def is_busy(self) -> bool:
        """Whether a loop is running."""
        return self._busy.locked()

    def run(self, loop: Loop, begin: int, end: int, num: int, args: Sequence[Any]) -> Outcome:
        """Run a loop in so many parts, unless the crew is busy with another thread's loop."""
        if self._busy.locked():
            return Outcome.BUSY
        with self._busy:
            if not self._is_settled:
                self._wait()
            loop.pack(self._view, JOB + self._head.size, args)
            self._held = (loop, args)
            self._head.pack_into(self._view, JOB, loop.address, begin, end, num, 0)
            for _ in range(min(num - 1, len(self._sleepers))):
                self._sleepers.pop().put(None)
            self._is_settled = False
            if not self._lead(self._address, self._spins):
                self._wait()
            self._is_settled = True
            self._held = ()
            has_failed = self._head.unpack_from(self._view, JOB)[4]
        return Outcome.FAILED if has_failed else Outcome.DONE

    def _wait(self) -> None:
        """Until nobody is active: what an interrupted job left may still be running."""
        while not self._settle(self._address, self._spins):
            os.sched_yield() if hasattr(os, "sched_yield") else time.sleep(0)

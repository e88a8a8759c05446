"""Compiled loops on all cores, and threads for matrix algebra beside them.

A kernel is compiled for one thread and leaves the interpreter free; here its loop is cut into
parts, which a crew of threads shares (see `anylight.crew`). No threading layer of the compiler is
involved, so runs in several threads and processes that fork do as they should, and compiling takes
less time.
"""

import inspect
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Protocol, TypeVar, cast

import threadpoolctl
from numba._dispatcher import compute_fingerprint

from anylight.compiler import IS_KEPT, compiling, numba
from anylight.crew.calls import is_plain, knows_arrays, loop_of
from anylight.crew.members import Crew, Outcome

__all__ = [
    "HEAVY_ROWS",
    "IS_KEPT",
    "ROWS",
    "chunks",
    "compiling",
    "in_parallel",
    "loop",
    "num_threads",
    "quiet_algebra",
    "side_by_side",
    "use_threads",
]
ROWS = 0
"""Grain of loops over the rows of a grid: as many as make up `_ELEMENTS`."""
HEAVY_ROWS = -1
"""The same where an element takes several times as long: an eighth of them."""
_ELEMENTS = 32768
"""Elements of a grid that are worth a thread."""
_GRAIN = 1024
"""Pixels that are worth a thread."""
_CHUNK = 16384
"""Pixels that pass through array code together."""
_PARTS = 4
"""Parts for every thread, at most: those that are late leave theirs to others."""


class _Here(threading.local):
    """How many threads the loops of this thread may use."""

    num: int | None = None


_here = _Here()


def use_threads(num: int | None) -> int:
    """Set the number of threads of all loops, at most what the machine has.

    None takes what NUMBA_NUM_THREADS says, or else all.
    """
    usual = int(numba.config.NUMBA_NUM_THREADS)
    _here.num = usual if num is None else max(1, min(num, max(usual, os.cpu_count() or 1)))
    return _here.num


def num_threads() -> int:
    """How many threads compute."""
    return use_threads(None) if _here.num is None else _here.num


@cache
def _pool(num: int) -> ThreadPoolExecutor:
    # Whatever runs in a worker does not ask for workers itself.
    return ThreadPoolExecutor(num, "anylight", initializer=use_threads, initargs=(1,))


@cache
def _crew(num: int) -> Crew:
    return Crew(num)


def _forget() -> None:
    """Threads do not survive a fork."""
    _pool.cache_clear()
    _crew.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

Item = TypeVar("Item")
Made = TypeVar("Made")
Kernel = Callable[..., None]


class Loop(Protocol):
    """A kernel that cuts its loop into parts."""

    compiled: Any
    """The loop (begin, end, …) itself, for other compiled code."""

    def __call__(self, *args: Any) -> None:
        """Run the whole loop."""


def chunks(num: int, size: int = _CHUNK) -> Iterator[slice]:
    """Cut so many pixels into parts, each for one thread."""
    for start in range(0, num, size):
        yield slice(start, min(start + size, num))


def in_parallel(function: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    """Call a function that leaves the interpreter free (matrix algebra) for every item."""
    every, num = list(items), num_threads()
    if num == 1 or len(every) == 1:
        return [function(item) for item in every]
    return list(_pool(num).map(function, every))


def side_by_side(
    tasks: Mapping[str, Callable[[], Any]], told: Callable[[str, float], None] | None = None
) -> dict[str, Any]:
    """Run tasks that leave the interpreter free, as many at once as there are threads.

    Their own loops share the threads that are left. Gives what each of them returns.

    Args:
        tasks: by name, those that take long first.
        told: told which one is finished, and the share done.
    """
    num = min(len(tasks), num_threads())
    share = num_threads() // num
    with (
        quiet_algebra(),
        ThreadPoolExecutor(num, "anylight", initializer=use_threads, initargs=(share,)) as workers,
    ):
        running = {workers.submit(task): name for name, task in tasks.items()}
        try:
            for done, task in enumerate(as_completed(running), start=1):
                task.result()
                if told is not None:
                    told(running[task], done / len(running))
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise
    return {name: task.result() for task, name in running.items()}


def loop(
    options: Mapping[str, Any],
    *,
    over: str,
    axis: int = 0,
    margin: int | str = 0,
    grain: int = _GRAIN,
    step: int = 1,
) -> Callable[[Kernel], Loop]:
    """Make a kernel of a function (begin, end, …): a compiled loop, cut into parts.

    The kernel is called without begin and end.

    Args:
        options: of the compiler.
        over: name of the array (or of a tuple of arrays) along which the loop runs.
        axis: of that array.
        margin: what is left out at both ends, or the name of the argument that says it.
        grain: how many passes are worth a thread.
        step: how many elements of the array one pass takes.
    """

    def made(function: Kernel) -> Loop:
        names = list(inspect.signature(function).parameters)[2:]
        place = names.index(over)
        edge_place, width = (names.index(margin), 0) if isinstance(margin, str) else (None, margin)
        few = _ELEMENTS // 8 if grain == HEAVY_ROWS else _ELEMENTS
        # Called from here and from other compiled code, never by the interpreter itself: what
        # that would need for every argument takes a tenth of the time of compiling.
        usual = {**options, "nogil": True, "no_cfunc_wrapper": True}
        compiled = numba.njit(no_cpython_wrapper=True, **usual)(function)
        known: dict[bytes, Any] = {}

        def kernel(*args: Any) -> None:
            along = args[place]
            shape = (along[0] if isinstance(along, tuple) else along).shape
            edge = args[edge_place] if edge_place is not None else width
            begin, end = edge, -(-shape[axis] // step) - edge
            threads = num_threads()
            if threads > 1:
                least = grain if grain > 0 else max(1, few // max(shape[-1], 1))
                num = min(_PARTS * threads, (end - begin) // least)
                if num > 1 and shared(threads, begin, end, num, args):
                    return
            if begin < end:
                own = found(args)
                if own is None or not own.run(begin, end, args):
                    interpreted()(begin, end, *args)

        def found(args: tuple[Any, ...]) -> Any:
            """The loop for such arguments; None if they are not plain arrays and numbers."""
            if not (knows_arrays() and is_plain(args)):
                return None
            key = compute_fingerprint(args)
            if key not in known:
                known[key] = loop_of(compiled, args)
            return known[key]

        @cache
        def interpreted() -> Any:
            """The same for arguments of any kind; says why a loop failed."""
            return numba.njit(**{**usual, "cache": False})(function)

        def shared(threads: int, begin: int, end: int, num: int, args: tuple[Any, ...]) -> bool:
            own = found(args)
            if own is None:
                return False
            outcome = _crew(threads).run(own, begin, end, num, args)
            if outcome is Outcome.FAILED:
                interpreted()(begin, end, *args)  # says why
                raise MemoryError("a part of a loop got no memory")
            return outcome is Outcome.DONE

        kernel.__name__ = kernel.__qualname__ = function.__name__
        kernel.__module__, kernel.__doc__ = function.__module__, function.__doc__
        result = cast(Loop, kernel)
        result.compiled = compiled
        return result

    return made


def quiet_algebra() -> AbstractContextManager[Any]:
    """Keep the matrix library to one thread: its threads spin while they wait.

    On a busy machine the spinning made runs ten times slower. Large products are cut into tiles
    that compiled loops share among their own threads.
    """
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> Any:
    return threadpoolctl.ThreadpoolController()

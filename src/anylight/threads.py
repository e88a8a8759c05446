"""One thread pool for all compiled loops, and threads for matrix algebra beside it."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

import threadpoolctl

from anylight.compiler import numba


def use_threads(num: int | None) -> int:
    """Set the number of threads of all compiled loops; None takes what the machine has."""
    limit = numba.config.NUMBA_NUM_THREADS
    chosen = limit if num is None else min(num, limit)
    numba.set_num_threads(chosen)
    return int(chosen)


def num_threads() -> int:
    """How many threads compute."""
    return int(numba.get_num_threads())


Item = TypeVar("Item")
Made = TypeVar("Made")


@cache
def _pool(num: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(num, "anylight")


def in_parallel(function: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    """Call a function that leaves the interpreter free (matrix algebra) for every item."""
    every, num = list(items), num_threads()
    if num == 1 or len(every) == 1:
        return [function(item) for item in every]
    return list(_pool(num).map(function, every))


def quiet_algebra() -> AbstractContextManager[Any]:
    """Keep the matrix library to one thread: its threads spin while they wait.

    On a busy machine the spinning made runs ten times slower. Large products are cut into tiles
    that compiled loops share among their own threads.
    """
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> Any:
    return threadpoolctl.ThreadpoolController()

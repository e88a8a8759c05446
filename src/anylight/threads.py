"""One thread pool for all compiled loops.

Waiting threads must sleep, not spin: on a busy machine spinning turns every small loop into a
wait for the scheduler (milliseconds instead of microseconds). The OpenMP runtime reads its policy
when it is first used, so compiled loops get numba from here.
"""

import os
from contextlib import AbstractContextManager
from typing import Any

import numba as _numba
import threadpoolctl

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

numba: Any = _numba


def use_threads(num: int | None) -> int:
    """Set the number of threads of all compiled loops; None takes what the machine has."""
    limit = numba.config.NUMBA_NUM_THREADS
    chosen = limit if num is None else min(num, limit)
    numba.set_num_threads(chosen)
    return int(chosen)


def quiet_algebra() -> AbstractContextManager[Any]:
    """Keep the matrix library to one thread: its threads spin while they wait.

    Matrix products here are small. On an idle machine a second thread gains nothing; on a busy one
    the spinning made runs ten times slower.
    """
    return threadpoolctl.threadpool_limits(limits=1, user_api="blas")

"""What this machine can do at most: bytes that are read and multiply-adds, per second.

Measured by loops on the same threads that the solver's loops run on.
"""
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from anylight.threads import loop, quiet_algebra, use_threads

_OPTIONS = {"cache": True, "fastmath": True}
_PARTS = 64
"""Parts of the work, shared among threads."""
_NUMBERS = 1 << 20
"""Numbers of a part that is read: all together are larger than any cache."""
_ROUNDS = 20_000


@loop(_OPTIONS, over="values", grain=1)
def _read(begin, end, values, out):
    for i in range(begin, end):
        row, part = values[i], np.float32(0)
        for k in range(len(row)):
            part += row[k]
        out[i] = part


@loop(_OPTIONS, over="out", grain=1)
def _multiply_add(begin, end, rounds, out):
    for t in range(begin, end):
        x = np.ones((8, 64), np.float32)
        a, b = np.float32(0.999), np.float32(0.001)
        for _ in range(rounds):
            for j in range(8):
                for k in range(64):
                    x[j, k] = x[j, k] * a + b
        out[t] = x.sum()


@dataclass(frozen=True)
class Limits:
    """Per second."""

    bytes_read: float
    operations: float
    """In single precision; a multiply-add is two."""


def best(call: Callable[[], object], repeats: int = 7) -> float:
    """Shortest of several times, after one call to compile."""
    call()
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return min(times)


def limits(threads: int | None = None) -> Limits:
    """Of so many threads together; of all if not given."""
    use_threads(threads)
    values, out = np.ones((_PARTS, _NUMBERS), np.float32), np.zeros(_PARTS, np.float32)
    with quiet_algebra():
        reading = best(lambda: _read(values, out))
        adding = best(lambda: _multiply_add(_ROUNDS, out), 3)
    return Limits(values.nbytes / reading, 2 * 512 * _ROUNDS * _PARTS / adding)

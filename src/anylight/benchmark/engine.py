"""Where tasks run: in local processes, or on the workers of a Dask cluster.

A task is a function of one plain value. When its worker dies it is started again elsewhere; every
start is remembered, so that a result says how often it was tried and which processes were lost.
"""

import multiprocessing
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any

from anylight.errors import InvalidInputError
from anylight.io.room import limit_memory
from anylight.io.stage import clear_leftovers, close_stage, open_stage

TRIES = 3
"""How often a task is started before it is given up."""
_TOPIC = "anylight-start"
_PATIENCE = "10s"


@dataclass(frozen=True)
class Launch:
    """One start of a task."""

    host: str
    pid: int


@dataclass(frozen=True)
class Done:
    """A task that came to an end."""

    key: str
    value: Any
    """What the function returned; None if it failed."""
    error: str
    """Why it failed, in one line; empty if it did not."""
    starts: tuple[Launch, ...]


Task = Callable[[Any], Any]


def run_here(function: Task, arguments: Mapping[str, Any]) -> Iterator[Done]:
    """Run tasks one after the other in this process."""
    here = (Launch(socket.gethostname(), os.getpid()),)
    for key, argument in arguments.items():
        value, error = _tried(function, argument)
        yield Done(key, value, error, here)


def run_locally(
    function: Task,
    arguments: Mapping[str, Any],
    jobs: int,
    memory_mb: int | None = None,
    place: Path | None = None,
) -> Iterator[Done]:
    """Run tasks in local processes, which end with this one, however it ends.

    Args:
        function: what to run; importable by name.
        arguments: its argument by task.
        jobs: number of processes.
        memory_mb: address space that a process may use.
        place: folder for notes about starts, while it runs; a temporary one if not given.
    """
    todo = dict(arguments)
    with _notes(place) as log:
        while todo:
            finished = set()
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(jobs, context, initializer=_limit, initargs=(memory_mb,))
            try:
                for done in _pooled(pool, partial(_logged, function, log), todo, log):
                    finished.add(done.key)
                    yield done
            except BrokenProcessPool:
                for key in _given_up(todo.keys() - finished, log):
                    finished.add(key)
                    message = f"its process died {TRIES} times (out of memory?)"
                    yield Done(key, None, message, _starts(log, key))
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
            todo = {key: value for key, value in todo.items() if key not in finished}


@contextmanager
def _notes(place: Path | None) -> Iterator[Path]:
    """A folder that is gone afterwards; if we are killed, the next run removes it."""
    if place is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
        return
    place.mkdir(parents=True, exist_ok=True)
    clear_leftovers(place)
    stage = open_stage(place / "tasks")
    try:
        yield stage.new
    finally:
        close_stage(stage)


def _pooled(
    pool: ProcessPoolExecutor, function: Task, todo: Mapping[str, Any], log: Path
) -> Iterator[Done]:
    waiting: dict[Future[tuple[Any, str]], str] = {}
    for number, (key, argument) in enumerate(todo.items()):
        waiting[pool.submit(function, (f"{number:05d}-{_file(key)}", argument))] = key
    broken: BrokenProcessPool | None = None
    while waiting:
        ended, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in ended:
            key = waiting.pop(future)
            try:
                value, error = future.result()
            except BrokenProcessPool as failure:
                broken = failure
                continue
            yield Done(key, value, error, _starts(log, key))
    if broken is not None:
        raise broken


def _file(key: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in key)


def _logged(function: Task, log: Path, named: tuple[str, Any]) -> tuple[Any, str]:
    """Leave a note that the task was started, then run it."""
    name, argument = named
    note = tempfile.NamedTemporaryFile(dir=log, prefix=f"{name}@{os.getpid()}@", delete=False)  # noqa: SIM115
    note.close()
    return _tried(function, argument)


def _starts(log: Path, key: str) -> tuple[Launch, ...]:
    notes = sorted(log.glob(f"*-{_file(key)}@*"), key=lambda path: path.stat().st_mtime_ns)
    host = socket.gethostname()
    return tuple(Launch(host, int(note.name.rsplit("@", 2)[1])) for note in notes)


def _given_up(keys: set[str], log: Path) -> list[str]:
    return [key for key in keys if len(_starts(log, key)) >= TRIES]


def _limit(memory_mb: int | None) -> None:
    """Prepare a process: bound its memory, and let it end with the one that started it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if memory_mb is not None:
        limit_memory(memory_mb * 2**20)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


def _tried(function: Task, argument: Any) -> tuple[Any, str]:
    """A task's value, or why there is none: one bad task must not end the others."""
    try:
        return function(argument), ""
    except MemoryError:
        return None, "not enough memory"
    except Exception as error:  # noqa: BLE001
        return None, " ".join(f"{type(error).__name__}: {error}".split())[:500]


def run_on_cluster(function: Task, arguments: Mapping[str, Any], address: str) -> Iterator[Done]:
    """Run tasks on the workers of a Dask scheduler (extra `cluster`).

    Workers limit their own memory (`dask worker --memory-limit`); one that exceeds it is restarted
    by its nanny, and its tasks go elsewhere.
    """
    try:
        import distributed  # noqa: PLC0415
    except ImportError as error:
        raise InvalidInputError(
            "--cluster needs the extra 'cluster': pip install 'anylight[cluster]'."
        ) from error
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InvalidInputError(
            f"--cluster {address}: no scheduler answers there; start one with `dask scheduler`, "
            "or check the address."
        ) from error
    with client:
        futures = {
            client.submit(_announced, function, key, argument, key=f"anylight-{key}", pure=False,
                          retries=TRIES - 1): key
            for key, argument in arguments.items()
        }  # fmt: skip
        for future in distributed.as_completed(futures, loop=client.loop):
            key = futures[future]
            value, problem = None, ""
            try:
                value, problem = future.result()
            except Exception as failure:  # noqa: BLE001
                problem = " ".join(f"{type(failure).__name__}: {failure}".split())[:500]
            starts = [event for _, event in client.get_events(_TOPIC) if event["key"] == key]
            found = tuple(Launch(event["host"], event["pid"]) for event in starts)
            yield Done(key, value, problem, found)
            future.release()


def _announced(function: Task, key: str, argument: Any) -> tuple[Any, str]:
    """Tell the scheduler, which outlives the worker, that the task was started here."""
    import distributed  # noqa: PLC0415

    start = {"key": key, "host": socket.gethostname(), "pid": os.getpid()}
    distributed.get_worker().log_event(_TOPIC, start)
    return _tried(function, argument)

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from anylight.benchmark import engine
from anylight.benchmark.engine import TRIES, run_here, run_locally, run_on_cluster
from anylight.errors import InvalidInputError


def square(value):
    if value == 13:
        raise ValueError("unlucky")
    return value * value


def die_once(folder, value):
    """Kill the process that runs this for the first time."""
    note = Path(folder) / f"{value}"
    if value == 2 and not note.exists():
        note.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return value * value


def die_always(value):
    os.kill(os.getpid(), signal.SIGKILL)
    return value


def wait_for_release(folder, value):
    """Say which process is at work, then wait to be killed or released."""
    folder = Path(folder)
    (folder / f"at_{value}_{os.getpid()}").touch()
    for _ in range(1200):
        if (folder / "released").exists():
            return value * value
        time.sleep(0.05)
    raise TimeoutError


def test_tasks_run_here_and_one_failure_stops_nobody():
    done = {d.key: d for d in run_here(square, {"a": 2, "b": 13, "c": 3})}
    assert (done["a"].value, done["c"].value) == (4, 9)
    assert done["b"].value is None
    assert "unlucky" in done["b"].error


def test_tasks_run_in_processes():
    done = {d.key: d for d in run_locally(square, {str(k): k for k in range(5)}, jobs=2)}
    assert {key: d.value for key, d in done.items()} == {str(k): k * k for k in range(5)}
    assert all(d.starts[0].pid != os.getpid() for d in done.values())


def test_a_process_that_dies_is_replaced_and_its_task_tried_again(tmp_path):
    tasks = {f"task {k}": k for k in range(4)}
    done = {d.key: d for d in run_locally(partial(die_once, str(tmp_path)), tasks, jobs=2)}
    assert {key: d.value for key, d in done.items()} == {f"task {k}": k * k for k in range(4)}
    starts = done["task 2"].starts
    assert len(starts) >= 2
    assert starts[0].pid == int((tmp_path / "2").read_text())


def test_a_task_that_always_kills_its_process_is_given_up():
    (done,) = run_locally(die_always, {"a": 1}, jobs=1)
    assert "died" in done.error
    assert len(done.starts) == TRIES


def test_a_cluster_that_cannot_be_reached_is_one_sentence(monkeypatch):
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    monkeypatch.setattr(engine, "_PATIENCE", "2s")
    with pytest.raises(InvalidInputError, match="no scheduler answers there") as caught:
        list(run_on_cluster(square, {"a": 1}, "tcp://127.0.0.1:1"))
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_in_the_middle_is_survived_and_recorded(tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        memory_limit="2GiB", host="127.0.0.1",
    ) as cluster:  # fmt: skip
        tasks = {f"task {k}": k for k in range(4)}
        run = run_on_cluster(
            partial(wait_for_release, str(tmp_path)), tasks, cluster.scheduler_address
        )
        killed = []

        def murder():
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                at_work = sorted(tmp_path.glob("at_*"))
                if len(at_work) >= 2:
                    _, value, pid = at_work[0].name.split("_")
                    os.kill(int(pid), signal.SIGKILL)
                    killed.append((f"task {value}", int(pid)))
                    break
                time.sleep(0.05)
            time.sleep(0.5)
            (tmp_path / "released").touch()

        helper = threading.Thread(target=murder)
        helper.start()
        done = {d.key: d for d in run}
        helper.join()
    assert {key: d.value for key, d in done.items()} == {f"task {k}": k * k for k in range(4)}
    ((key, pid),) = killed
    assert len(done[key].starts) == 2
    assert done[key].starts[0].pid == pid
    assert done[key].starts[1].pid != pid


COORDINATOR = """
import sys
from functools import partial
from pathlib import Path
from anylight.benchmark.engine import run_locally
from tests.benchmark.test_engine import wait_for_release

if __name__ == "__main__":
    place = Path(sys.argv[1])
    list(run_locally(partial(wait_for_release, sys.argv[1]), {"a": 1, "b": 2}, 2, None, place))
"""


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] != "Z"
    except OSError:
        return False


def test_when_the_coordinator_is_killed_its_workers_end_and_the_next_run_cleans_up(tmp_path):
    (tmp_path / "coordinator.py").write_text(COORDINATOR)
    root = Path(__file__).parents[2]
    run = subprocess.Popen(
        [sys.executable, str(tmp_path / "coordinator.py"), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("at_*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = [int(path.name.split("_")[2]) for path in tmp_path.glob("at_*")]
    assert len(workers) == 2
    run.kill()
    run.wait()
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, workers))
    assert list(tmp_path.glob(".tasks.anylight-*"))
    (tmp_path / "released").touch()
    tasks = {"a": 1, "b": 2}
    done = list(run_locally(partial(wait_for_release, str(tmp_path)), tasks, 2, None, tmp_path))
    assert {d.key: d.value for d in done} == {"a": 1, "b": 4}
    assert not list(tmp_path.glob(".tasks.anylight-*"))

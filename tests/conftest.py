import os
import signal
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers side by side must not fight over the cores: runs ask for more threads where they
    # test them.
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background and under nohup Ctrl-C is ignored, and programs that are started inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

import numpy as np
import pytest
import typecheck  # noqa: F401  (from here on it remembers what it has checked)
from jaxtyping import config

from anylight.threads import quiet_algebra

EARLY = ("joint/shadows/test_phase", "synth", "intake/test_coding", "intake/test_s",
         "joint/test_method", "test_examples")  # fmt: skip
"""Files to begin with: one worker compiles nearly everything, the other needs none of it; then the
long ones. Each worker takes whole files (`make test`), so that what they share is made once."""
SHARED = Path(__file__).parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items):
    def place(item):
        name = item.path.relative_to(Path(__file__).parent).as_posix()
        return next((i for i, start in enumerate(EARLY) if name.startswith(start)), len(EARLY))

    items.sort(key=place)


@pytest.fixture(scope="session", autouse=True)
def _one_thread_for_matrix_products():
    """Workers side by side must not fight over the cores."""
    with quiet_algebra():
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(20191027)


@pytest.fixture
def shared_data():
    """Folder of meshes, environment maps and real captures that is not part of the project."""
    if not SHARED.is_dir():
        pytest.skip("the shared data folder is not beside the project")
    return SHARED


def odd_mask():
    """Holes, two components, both touching the border, and parts one pixel wide."""
    mask = np.zeros((13, 17), bool)
    mask[2:10, 0:9] = True
    mask[4:6, 3:5] = False
    mask[6, 9:14] = True
    mask[0:2, 4] = True
    mask[11:13, 12:17] = True
    mask[9, 16] = True
    return mask


@pytest.fixture
def as_users_run_it():
    """Without the tests' type checker, which would be first to refuse."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)

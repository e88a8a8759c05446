"""No compiled loop reads or writes beyond its arrays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_loops_stay_within_their_arrays(tmp_path):
    """What checks kernels is run once more with every index checked."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    ended = subprocess.run(
        [*command, "tests/kernels", "tests/linalg", "tests/facets", "tests/integration"],
        cwd=root, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-3000:]

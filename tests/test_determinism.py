"""Same input, same machine, same bytes; on other processors nearly the same."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from anylight.cli.main import main
from anylight.io.archive import load_reconstruction

TIMED = {"trace.csv", "report.html"}
"""Files that say how long it took."""
DEFAULT = ["--shadows", "off", "--order", "2"]


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("same") / "vase"
    assert (
        main(["synth", "--shape", "vase", "--images", "6", "--height", "40", "--out", str(folder)])
        == 0
    )
    return folder


@pytest.fixture(scope="module")
def ran(capture):
    out = capture.parent / "out"
    assert main(["run", str(capture), "--out", str(out), *DEFAULT]) == 0
    return out


def test_the_same_bytes_in_every_file(capture, ran):
    out = capture.parent / "again"
    assert main(["run", str(capture), "--out", str(out), "--threads", "1", *DEFAULT]) == 0
    files = [json.loads((folder / "run.json").read_text())["files"] for folder in (ran, out)]
    assert files[0].keys() == files[1].keys()
    differ = {name for name in files[0] if files[0][name] != files[1][name]}
    assert differ <= TIMED


@pytest.mark.slow
def test_another_processor_gives_nearly_the_same(tmp_path):
    """Code for the plainest processor, and matrix products as on an old one.

    The photos have one explanation. Where there are several (a few hundred pixels, six photos, a
    light of second order), rounding may decide which start wins.
    """
    capture, ran = tmp_path / "bust", tmp_path / "here"
    asked = ["--shape", "bust", "--images", "12", "--height", "128"]
    assert main(["synth", *asked, "--out", str(capture)]) == 0
    program = ["run", str(capture), "--only-result", "--shadows", "off"]
    assert main([*program, "--out", str(ran)]) == 0
    other = {
        **os.environ,
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "OPENBLAS_CORETYPE": "Nehalem",
    }
    out = tmp_path / "out"
    there = [sys.executable, "-m", "anylight.cli.main", *program, "--out", str(out)]
    subprocess.run(there, check=True, env=other)
    here, afar = (load_reconstruction(folder / "result.npz") for folder in (ran, out))
    cosines = (here.normals * afar.normals).sum(axis=-1)[here.mask]
    degrees = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    assert degrees.mean() < 0.05
    assert np.quantile(degrees, 0.99) < 0.5
    depth = np.abs(afar.depth / here.depth - 1)[here.mask]
    assert depth.max() < 1e-3

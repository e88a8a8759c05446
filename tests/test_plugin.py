"""A method of another package is found through its entry point, and behaves like ours."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anylight.cli.main import main

PACKAGE = Path(__file__).parents[1] / "examples" / "silhouette_method"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the program with the package installed beside it."""
    site = tmp_path_factory.mktemp("site")
    install = [
        sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--no-build-isolation", "--no-index", "--target", str(site), str(PACKAGE),
    ]  # fmt: skip
    subprocess.run(install, check=True, cwd=site)

    def call(*arguments, cwd):
        command = [sys.executable, "-m", "anylight.cli.main", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(site)}
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )

    return call


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture") / "bust"
    assert main(["synth", "--height", "48", "--images", "4", "--out", str(folder)]) == 0
    return folder


def test_help_lists_it_with_its_options(run, tmp_path):
    text = " ".join(run("run", "--help", cwd=tmp_path).stdout.replace("│", " ").split())
    assert "silhouette: the outline, blown up" in text
    assert "--fullness" in text


def test_it_runs_with_its_options_and_refuses_those_of_others(run, capture, tmp_path):
    done = run("run", capture, "--method", "silhouette", "--fullness", 0.1, "--out", "out",
               "--only-result", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["method"] == "silhouette"
    assert record["settings"] == {"fullness": 0.1}
    refused = run("run", capture, "--method", "silhouette", "--order", 4, cwd=tmp_path)
    assert refused.returncode == 2
    assert "--order belongs to default" in refused.stderr
    refused = run("run", capture, "--method", "silhouette", "--fullness", 7, cwd=tmp_path)
    assert refused.returncode == 2
    assert "--fullness must be between 0 and 1" in refused.stderr


def test_the_benchmark_has_a_column_for_it(run, tmp_path):
    done = run("bench", "--out", "bench", "--shapes", "tennyson", "--albedos", "white",
               "--height", 64, "--methods", "silhouette", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "silhouette, blown up" in done.stdout

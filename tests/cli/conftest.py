import pytest

from anylight.cli.main import main
from tests.cli.short import FAST


@pytest.fixture(scope="session")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "bust"
    assert main(["synth", "--images", "6", "--height", "56", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def ran(capture):
    out = capture.parent / "out"
    assert main(["run", str(capture), "--out", str(out), "--use", "5", *FAST]) == 0
    return out

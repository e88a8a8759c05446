import time

import pytest

pytest.importorskip("starlette", reason="the extra 'studio' is not installed")

from chromium import ARGUMENTS, SOFTWARE_GL, chromium
from starlette.testclient import TestClient

from anylight.cli.main import main
from anylight.studio.app import application
from anylight.studio.room import Room
from anylight.studio.uploads import UploadLimits

PORT, TOKEN = 8123, "a-token-of-the-tests"
HOME = f"http://127.0.0.1:{PORT}"
OWN = {"origin": HOME}


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """A small capture on disk."""
    folder = tmp_path_factory.mktemp("captures") / "vase & co"
    arguments = ["synth", "--shape", "vase", "--images", "5", "--height", "48"]
    assert main([*arguments, "--out", str(folder)]) == 0
    return folder


class Page:
    """What a page does, without a browser."""

    def __init__(self, client):
        self.client = client

    def state(self):
        return self.client.get("/api/state").json()

    def post(self, address, **body):
        return self.client.post(address, json=body, headers=OWN)

    def choose(self, *path, value):
        return self.post("/api/choice", path=list(path), value=value)

    def live(self, **headers):
        return self.client.websocket_connect(f"ws://127.0.0.1:{PORT}/live", headers=headers or OWN)

    def until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.state()
            if condition(state):
                return state
            time.sleep(0.05)
        raise AssertionError(f"it did not happen: {state['message']} {state['run']}")

    def opened(self):
        return self.until(lambda state: state["reading"] is None)


@pytest.fixture(scope="module")
def page(photos, tmp_path_factory):
    """A studio with the small capture open."""
    room = Room(tmp_path_factory.mktemp("sessions"), UploadLimits(6, 400_000, 1_000_000))
    app = application(room, TOKEN, PORT, photos)
    with TestClient(app, base_url=HOME) as client:
        assert client.get(f"/?token={TOKEN}").status_code == 200
        page = Page(client)
        state = page.opened()
        assert state["message"] == ""
        yield page


@pytest.fixture(scope="module")
def browser():
    yield from chromium([*ARGUMENTS, *SOFTWARE_GL])

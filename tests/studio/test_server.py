"""What the studio promises a page, without a browser."""

import json
import shlex
import time
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from starlette.testclient import TestClient
from studio.conftest import HOME, OWN, PORT, TOKEN, Page

from anylight.cli.main import main
from anylight.intake.load import load
from anylight.io.archive import load_reconstruction
from anylight.studio.app import application
from anylight.studio.room import Room


def test_opening_a_folder_makes_a_session_that_a_run_reads_alike(page, photos):
    session = page.state()["session"]
    assert session["folder"].endswith("vase & co_studio")
    first, again = load(photos).capture, load(session["folder"]).capture
    np.testing.assert_array_equal(first.photos, again.photos)
    np.testing.assert_array_equal(first.mask, again.mask)
    np.testing.assert_allclose(first.camera.matrix, again.camera.matrix)
    words = shlex.split(session["command"])
    assert words[:3] == ["anylight", "run", session["folder"]]


def test_only_files_that_were_issued_are_served(page):
    client = page.client
    for path in (
        "/files/run.json", "/files/../../../etc/passwd", "/assets/../routes.py",
        "/assets/%2e%2e/routes.py", "/assets//etc/passwd", "/assets/viewer/../sources.py",
        "/photos/99/thumb.jpg", "/photos/0/secret.jpg", "/results/1/scene", "/anything",
    ):  # fmt: skip
        assert client.get(path).status_code in (404, 405), path
    assert client.get("/assets/viewer/view.js").headers["content-type"].startswith("text/java")
    assert client.get("/photos/0/thumb.jpg").content[:2] == b"\xff\xd8"


def test_photos_are_switched_off_and_on(page):
    left_out = [page.state()["session"]["facts"]["names"][1]]
    assert page.choose("left_out", value=left_out).status_code == 200
    assert load(page.state()["session"]["folder"]).capture.num_photos == 4
    page.choose("left_out", value=[])
    assert load(page.state()["session"]["folder"]).capture.num_photos == 5


def test_choices_become_the_command(page):
    page.choose("camera", value="orthographic")
    page.choose("volume", value=0.125)
    page.choose("settings", "default", "order", value=4)
    page.choose("scale_points", value=[10, 12, 30, 31.5])
    page.choose("scale_mm", value=42)
    command = page.state()["session"]["command"]
    assert "--orthographic --scale-points 10,12,30,31.5,42" in command
    assert "--volume 0.125 --order 4" in command or "--order 4 --volume 0.125" in command
    for path in ("volume", "scale_points", "scale_mm"):
        page.choose(path, value=None)
    page.choose("settings", "default", "order", value=None)
    page.choose("camera", value="photos")
    assert not load(page.state()["session"]["folder"]).capture.lens_known
    page.choose("camera", value="found")
    words = shlex.split(page.state()["session"]["command"])
    assert [word for word in words if word.startswith("--")] == ["--out"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["camera"], "pinhole"),
        (["nothing"], 1),
        (["settings", "default", "order"], 3),
        (["settings", "default", "nothing"], 3),
        (["options", "method"], "magic"),
        (["intake", "downscale"], 0),
        (["volume"], "much"),
        (["left_out", "a"], 1),
    ],
)
def test_a_wrong_choice_gets_a_sentence_and_changes_nothing(page, path, value):
    before = page.state()["session"]["choices"]
    answer = page.choose(*path, value=value)
    assert answer.status_code == 400
    assert answer.json()["sentence"].endswith(".")
    assert page.state()["session"]["choices"] == before


def test_the_mask_of_a_stale_tab_is_refused(page):
    """Two tabs paint: the second is told, and nothing of the first is lost."""
    answer = page.client.get("/api/mask")
    number, mask = int(answer.headers["x-mask-number"]), bytearray(answer.content)
    here = mask.index(1)
    mask[here] = 0
    put = lambda: page.client.put(f"/api/mask?number={number}", content=bytes(mask), headers=OWN)  # noqa: E731
    assert put().status_code == 200
    assert page.state()["session"]["mask"]["number"] == number + 1
    mask[here + 1] = 0
    refused = put()
    assert refused.status_code == 409
    assert "another tab" in refused.json()["sentence"]
    assert page.client.get("/api/mask").content[here + 1] == 1
    kept = load(page.state()["session"]["folder"]).capture.mask
    assert kept.sum() == sum(page.client.get("/api/mask").content)
    empty = page.client.put(f"/api/mask?number={number + 1}", content=bytes(48 * 48), headers=OWN)
    assert empty.status_code == 400


def frame_header(frame):
    size = int.from_bytes(frame[:4], "little")
    return json.loads(frame[4 : 4 + size])


def test_the_balloon_follows_and_late_ones_are_dropped(page):
    with page.live() as socket:
        assert socket.receive_json()["kind"] == "state"
        socket.send_json({"kind": "volume", "volume": 0.1, "number": 1})
        low = frame_header(socket.receive_bytes())
        for number in range(2, 42):
            socket.send_json({"kind": "volume", "volume": 0.005 * number, "number": number})
        seen = []
        while not seen or seen[-1]["number"] != 41:
            seen.append(frame_header(socket.receive_bytes()))
        assert len(seen) < 40
        assert [header["number"] for header in seen] == sorted(h["number"] for h in seen)
        assert seen[-1]["size"][2] > low["size"][2]
        begin = time.monotonic()
        assert page.client.get("/api/state").status_code == 200
        assert time.monotonic() - begin < 1.0
        socket.send_text("not json")
        socket.send_json({"kind": "volume", "volume": "much", "number": 50})
        assert frame_header(socket.receive_bytes())["number"] == 50


def test_a_corrupt_upload_gets_a_message_and_the_session_lives_on(page):
    before = page.state()["session"]["folder"]
    key = page.post("/api/uploads").json()["key"]
    for name in ("a.png", "b.png", "../../c.png", "c.png"):
        sent = page.client.put(
            f"/api/uploads/{key}/files/{name.replace('/', '%2F')}", content=b"no image", headers=OWN
        )
        assert sent.status_code in (200, 404), name
    assert page.post(f"/api/uploads/{key}/open", title="../evil").status_code == 200
    state = page.opened()
    assert "a.png" in state["message"]
    assert state["session"]["folder"] == before
    assert page.client.get("/photos/0/view.jpg").status_code == 200


def test_uploads_have_limits(page):
    key = page.post("/api/uploads").json()["key"]

    def send(name, size):
        path = f"/api/uploads/{key}/files/{name}"
        return page.client.put(path, content=bytes(size), headers=OWN)

    large = send("large.png", 400_001)
    assert large.status_code == 413
    assert "large.png" in large.json()["sentence"]
    assert send("program.exe", 10).status_code == 400
    assert [send(f"{index}.png", 10).status_code for index in range(7)] == [200] * 6 + [413]
    assert page.client.put("/api/uploads/guess/files/a.png", headers=OWN).status_code == 409


@pytest.fixture(scope="module")
def ran(page):
    """A run that was paused and resumed; what was seen of it on the way."""
    page.choose("options", "method", value="paper")
    page.choose("settings", "paper", "iterations", value=6)
    page.choose("settings", "paper", "first_order_iterations", value=2)
    command = page.state()["session"]["command"]
    started = page.post("/api/run/start").status_code
    page.post("/api/run/pause")
    meanwhile = [page.post(path).status_code for path in ("/api/run/start", "/api/example")]
    paused = page.until(lambda state: state["run"]["state"] == "paused")
    page.post("/api/run/resume")
    with page.live() as socket:
        found = socket.receive_json()["state"]["run"]["number"]
    ended = page.until(lambda state: state["run"]["state"] in ("finished", "failed"))
    return {"command": command, "codes": [started, *meanwhile], "paused": paused["run"],
            "found": found, "ended": ended}  # fmt: skip


def test_a_run_is_paused_resumed_and_found_again(ran):
    assert ran["codes"] == [200, 409, 409]
    assert ran["paused"]["share"] < 1
    assert ran["found"] == 1
    assert ran["ended"]["run"]["message"] == ""
    assert len(ran["ended"]["run"]["energies"]) == 6


def test_a_run_leaves_its_files_and_can_be_repeated(ran, page, tmp_path):
    (result,) = ran["ended"]["session"]["results"]
    keys = {file["name"]: file["key"] for file in result["files"]}
    assert {"mesh.glb", "mesh.ply", "mesh.obj", "depth.exr", "report.html", "run.json"} <= set(keys)
    assert page.client.get(f"/files/{keys['mesh.glb']}").content[:4] == b"glTF"
    report = page.client.get(f"/files/{keys['report.html']}")
    assert report.headers["content-security-policy"] == "sandbox allow-scripts"
    words = shlex.split(ran["command"])
    assert shlex.split(result["command"])[:-1] == words[:-1]
    assert main([*words[1:-1], str(tmp_path / "again")]) == 0
    first = load_reconstruction(f"{result['folder']}/result.npz")
    again = load_reconstruction(tmp_path / "again" / "result.npz")
    np.testing.assert_array_equal(first.depth, again.depth)


@pytest.mark.usefixtures("ran")
def test_a_result_can_be_looked_at(page):
    client = page.client
    header = frame_header(client.get("/results/1/scene").content)
    assert header["kind"] == "result"
    assert {"cells", "positions", "pixels", "bumps", "paint"} <= set(header["arrays"])
    for name in ("shaded", "albedo", "normals", "depth", "error"):
        assert client.get(f"/results/1/pictures/{name}.jpg").content[:2] == b"\xff\xd8", name
    for kind in ("photo", "rendering", "residual", "light"):
        assert client.get(f"/results/1/photos/0/{kind}.jpg").content[:2] == b"\xff\xd8", kind
    assert client.get("/results/1/photos/9/photo.jpg").status_code == 404
    assert client.get("/results/1/pictures/secret.jpg").status_code == 404
    lights = client.get("/results/1/lights").json()
    assert [len(light) for light in lights] == [27] * 5
    profile = client.get("/results/1/profile?x0=12&y0=24&x1=36&y1=24").json()
    assert len(profile["heights"]) == len(profile["along"]) > 50
    known = [height for height in profile["heights"] if height is not None]
    assert max(known) > min(known) >= 0


@pytest.mark.usefixtures("ran")
def test_a_session_goes_on_where_it_was_left(page, photos):
    """The same photos, opened by another studio, find mask, choices, all photos and results."""
    page.choose("left_out", value=[page.state()["session"]["facts"]["names"][2]])
    before = page.state()["session"]
    home = Path(before["folder"]).parent
    with TestClient(application(Room(home), TOKEN, PORT, photos), base_url=HOME) as client:
        client.get(f"/?token={TOKEN}")
        again = Page(client).opened()["session"]
    for key in ("folder", "choices", "command"):
        assert again[key] == before[key], key
    assert again["facts"]["names"] == before["facts"]["names"]
    assert again["facts"]["camera_source"] == before["facts"]["camera_source"]
    assert again["mask"]["share"] == before["mask"]["share"]
    assert [result["number"] for result in again["results"]] == [1]
    page.choose("left_out", value=[])


def test_every_option_has_a_field_with_its_help(page):
    forms = page.client.get("/api/forms").json()
    order = next(field for field in forms["settings"]["default"] if field["name"] == "order")
    assert order["kind"] == "choice"
    assert order["choices"] == [2, 4, 6, 8]
    groups = [forms["options"], forms["intake"], forms["output"], *forms["settings"].values()]
    assert all(field["help"] for group in groups for field in group)


def test_photos_that_are_sent_become_a_session(page, photos):
    """Names from outside become harmless; everything else is as on disk."""
    key = page.post("/api/uploads").json()["key"]
    for path in sorted(photos.glob("*.png")):
        name = f"a<b>|{path.name}" if path.stem != "mask" else path.name
        address = f"/api/uploads/{key}/files/{quote(name)}"
        assert page.client.put(address, content=path.read_bytes(), headers=OWN).status_code == 200
    page.post(f"/api/uploads/{key}/open", title="../../my vase")
    state = page.opened()
    assert state["message"] == ""
    folder = Path(state["session"]["folder"])
    assert folder.name == "my_vase_studio"
    assert state["session"]["facts"]["names"][0] == "a_b__photo_00.png"
    sent, stored = load(photos).capture, load(folder).capture
    np.testing.assert_array_equal(sent.photos, stored.photos)
    np.testing.assert_array_equal(sent.mask, stored.mask)
    assert not state["session"]["facts"]["lens_known"]


def test_the_port_is_part_of_the_cookie(page):
    assert f"anylight_{PORT}" in page.client.cookies

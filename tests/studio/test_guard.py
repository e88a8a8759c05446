"""Nobody but the studio's own page gets in."""

import asyncio

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from studio.conftest import HOME, OWN, PORT, TOKEN

from anylight.studio.guard import Guard, is_loopback


@pytest.fixture
def fenced():
    async def inside(scope, receive, send):
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "text": "in"})
            await send({"type": "websocket.close"})
            return
        await PlainTextResponse("in")(scope, receive, send)

    return TestClient(Guard(inside, TOKEN, PORT), base_url=HOME)


def let_in(client):
    assert client.get(f"/?token={TOKEN}").status_code == 200
    return client


def test_only_the_token_lets_in_and_a_cookie_keeps_it(fenced):
    assert fenced.get("/").status_code == 403
    assert fenced.get("/?token=guess").status_code == 403
    assert "terminal" in fenced.get("/api/state").text
    cookie = let_in(fenced).get(f"/?token={TOKEN}").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert fenced.get("/api/state").status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}",
     f"127.0.0.1.evil.example:{PORT}", f"user@evil.example:{PORT}", "", "[::1"],
)  # fmt: skip
def test_a_rebound_name_is_refused_even_with_the_token(fenced, host):
    """DNS rebinding: the browser believes that evil.example is this computer."""
    let_in(fenced)
    assert fenced.get("/", headers={"host": host}).status_code == 403
    evil = {"host": host, "origin": f"http://{host}"}
    assert fenced.post("/api/run/start", headers=evil).status_code == 403


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"127.0.0.1:{PORT}", f"[::1]:{PORT}"])
def test_all_names_of_this_computer_work(fenced, host):
    headers = {"host": host, "cookie": f"anylight_{PORT}={TOKEN}"}
    assert fenced.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", f"http://evil.example:{PORT}", "null", f"https://127.0.0.1:{PORT}",
     f"http://127.0.0.1:{PORT + 1}", "file://"],
)  # fmt: skip
def test_another_page_may_neither_post_nor_listen(fenced, origin):
    let_in(fenced)
    assert fenced.post("/", headers={"origin": origin}).status_code == 403
    with (
        pytest.raises(WebSocketDisconnect),
        fenced.websocket_connect(f"ws://127.0.0.1:{PORT}/live", headers={"origin": origin}),
    ):
        pass


def test_changes_need_an_origin_and_websockets_the_token(fenced):
    with (
        pytest.raises(WebSocketDisconnect),
        fenced.websocket_connect(f"ws://127.0.0.1:{PORT}/live", headers=OWN),
    ):
        pass
    let_in(fenced)
    assert fenced.post("/").status_code == 403
    assert fenced.post("/", headers=OWN).status_code == 200
    sneaky = {**OWN, "sec-fetch-site": "cross-site"}
    assert fenced.post("/", headers=sneaky).status_code == 403
    framed = {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}
    assert fenced.get("/photos/0/view.jpg", headers=framed).status_code == 403
    clicked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert fenced.get("/", headers=clicked).status_code == 200
    with fenced.websocket_connect(f"ws://127.0.0.1:{PORT}/live", headers=OWN) as socket:
        assert socket.receive_text() == "in"


def test_other_interfaces_need_the_token_too():
    async def inside(scope, receive, send):
        await PlainTextResponse("in")(scope, receive, send)

    home = f"http://192.168.0.7:{PORT}"
    client = TestClient(Guard(inside, TOKEN, PORT, ("192.168.0.7",)), base_url=home)
    assert client.get("/").status_code == 403
    assert client.get(f"/?token={TOKEN}").status_code == 200
    assert client.post("/", headers={"origin": home}).status_code == 200
    assert client.get("/", headers={"host": f"192.168.0.8:{PORT}"}).status_code == 403


def test_two_hosts_are_none():
    """A request with two Host headers means something else to everybody who reads it."""
    asked = []

    async def inside(scope, _receive, _send):
        asked.append(scope)

    async def answer(message):
        asked.append(message.get("status"))

    hosts = [(b"host", f"127.0.0.1:{PORT}".encode()), (b"host", b"evil.example")]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": hosts}
    asyncio.run(Guard(inside, TOKEN, PORT)(scope, None, answer))
    assert asked[0] == 403


def test_answers_forbid_everything_foreign(fenced):
    policy = let_in(fenced).get("/").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert fenced.get("/").headers["x-content-type-options"] == "nosniff"


def test_loopback_is_known():
    assert is_loopback("127.0.0.53")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("localhost.evil.example")

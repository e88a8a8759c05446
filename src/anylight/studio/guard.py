"""Who may talk to the studio: this computer's own browser, with the token of the address.

A page of somebody else that the same browser shows must not reach it: neither by a name that was
pointed at this computer (Host), nor by a request or WebSocket of its own (Origin), nor by guessing
the address (token).
"""

import hmac
import ipaddress
import secrets
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_REFUSED = (
    "Open the address that the studio printed on the terminal: it holds the key to this page."
)


def new_token() -> str:
    """Make a token that nobody guesses."""
    return secrets.token_urlsafe(24)


def is_loopback(host: str) -> bool:
    """Whether a name or address means this computer only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Lets through what comes from the studio's own page, and adds what browsers should know."""

    def __init__(self, app: ASGIApp, token: str, port: int, hosts: tuple[str, ...] = ()) -> None:
        """Fence an application in.

        Args:
            app: what is behind the fence.
            token: of the address.
            port: that the server listens on.
            hosts: further names under which it may be asked for, besides this computer's own.
        """
        self._app, self._token, self._port, self._hosts = app, token, port, hosts

    @property
    def cookie(self) -> str:
        """Name of the cookie; servers on other ports have their own."""
        return f"anylight_{self._port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        headers = connection.headers
        refusal = self._refusal(scope, headers, connection)
        if refusal is None:
            first = "token" in connection.query_params
            await self._app(scope, receive, self._told(send, first))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403, "reason": refusal})
        else:
            await PlainTextResponse(refusal, 403)(scope, receive, self._told(send))

    def _refusal(self, scope: Scope, headers: Headers, connection: HTTPConnection) -> str | None:
        """Why a request is refused; None if it is not."""
        if len(headers.getlist("host")) != 1 or not self._is_own(f"//{headers['host']}"):
            return "The studio does not answer under this name."
        origin = headers.get("origin")
        if origin is not None and not (origin.startswith("http://") and self._is_own(origin)):
            return "Another page may not use the studio."
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if changes and origin is None:
            return "Only the studio's own page may change anything."
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if foreign and (changes or headers.get("sec-fetch-mode") != "navigate"):
            return "Another page may not use the studio."
        given = connection.query_params.get("token") or connection.cookies.get(self.cookie, "")
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return _REFUSED
        return None

    def _is_own(self, address: str) -> bool:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        return port == self._port and (is_loopback(host) or host in self._hosts)

    def _told(self, send: Send, first: bool = False) -> Send:
        """Add the headers to every answer, and the cookie to the first."""
        cookie = f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                more = [
                    (name.encode(), value.encode())
                    for name, value in _HEADERS.items()
                    if name.encode() not in known
                ]
                if first:
                    more.append((b"set-cookie", cookie.encode()))
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        return sent

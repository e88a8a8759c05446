"""The studio's server: one address on this computer, printed and opened."""

import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from anylight.errors import InvalidInputError

from .app import application
from .guard import is_loopback, new_token
from .room import Room

_EVERYWHERE = ("0.0.0.0", "::", "")


def serve(
    capture: Path | None, host: str, port: int, say: Callable[[str], None], browser: bool
) -> None:
    """Serve until Ctrl-C.

    Args:
        capture: to be opened at once.
        host: address to listen on.
        port: to listen on; 0: any that is free.
        say: told the address, once the server listens.
        browser: whether to open the address.
    """
    listening = _listening(host, port)
    port = listening.getsockname()[1]
    token = new_token()
    name = f"[{host}]" if ":" in host else host
    shown = "127.0.0.1" if is_loopback(host) or host in _EVERYWHERE else name
    others = _own_names() if host in _EVERYWHERE else () if is_loopback(host) else (host,)
    address = f"http://{shown}:{port}/?token={token}"
    say(address)
    for other in others:
        if other != shown:
            say(f"http://{other}:{port}/?token={token}")
    app = application(Room(Path.cwd()), token, port, capture, others)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=1_000_000,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
    )
    if browser:
        threading.Timer(0.4, webbrowser.open, [address]).start()
    uvicorn.Server(config).run([listening])


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(
            f"the studio cannot listen on {host}, port {port} ({reason}); choose another --port "
            "or leave it out."
        ) from error
    return listening


def _own_names() -> tuple[str, ...]:
    """Names and addresses of this computer in its network."""
    name = socket.gethostname()
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(name, None, socket.AF_INET)}
    except OSError:
        found = set()
    return (*sorted(address for address in found if not is_loopback(address)), name)

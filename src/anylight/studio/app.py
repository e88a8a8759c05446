"""The studio as an ASGI application behind its fence."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.types import ASGIApp

from .guard import Guard
from .room import Room
from .routes import routes


def application(
    room: Room, token: str, port: int, capture: Path | None = None, hosts: tuple[str, ...] = ()
) -> ASGIApp:
    """Make the application.

    Args:
        room: what is going on.
        token: of the address.
        port: that the server listens on.
        capture: to be opened at once.
        hosts: further names under which it may be asked for.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        if capture is not None:
            room.open(capture.resolve(), capture.resolve().stem)
        try:
            yield
        finally:
            room.close()

    app = Starlette(routes=routes(), lifespan=lifespan)
    app.state.room = room
    return Guard(app, token, port, hosts)

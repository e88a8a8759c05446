"""The line between a tab and the studio: states and surfaces out, moves of the slider in."""

import asyncio
import contextlib
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from anylight.errors import InvalidInputError

from .hub import Tab
from .room import Room


async def live(socket: WebSocket) -> None:
    """Serve one tab until it is closed."""
    room: Room = socket.app.state.room
    await socket.accept()
    tab = Tab(socket)
    tab.say("state", state=room.state())
    running = room.running
    if running is not None and running.frame is not None and not running.is_over:
        tab.show("glimpse", running.frame)
    room.hub.tabs.add(tab)
    moves = _Moves(room, tab)
    tasks = [asyncio.create_task(tab.run()), asyncio.create_task(moves.answer())]
    try:
        while True:
            moves.take(await socket.receive_text())
    except WebSocketDisconnect:
        pass
    finally:
        room.hub.tabs.discard(tab)
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, RuntimeError, WebSocketDisconnect):
                await task


class _Moves:
    """Moves of the volume slider: only the latest is answered."""

    def __init__(self, room: Room, tab: Tab) -> None:
        self._room, self._tab = room, tab
        self._latest: dict[str, Any] | None = None
        self._due = asyncio.Event()

    def take(self, text: str) -> None:
        """Remember a move; an earlier one that was not answered yet is forgotten."""
        try:
            move = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return
        if isinstance(move, dict) and move.get("kind") == "volume":
            self._latest = move
            self._due.set()

    async def answer(self) -> None:
        """Answer move after move."""
        while True:
            await self._due.wait()
            self._due.clear()
            move, self._latest = self._latest, None
            if move is None:
                continue
            value = move.get("volume")
            volume = float(value) if isinstance(value, int | float) else None
            number = int(move.get("number") or 0)
            try:
                frame = await self._room.balloon(volume, number)
            except InvalidInputError as error:
                self._tab.say("sentence", sentence=str(error))
                continue
            if frame is not None:
                self._tab.show("balloon", frame)

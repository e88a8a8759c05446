"""Who is told what: every open tab hears of every change; pictures that are late are dropped."""

import asyncio
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketState


class Tab:
    """One open page. Words wait in a queue; of surfaces only the latest of each kind waits."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._words: list[str] = []
        self._frames: dict[str, bytes] = {}
        self._due = asyncio.Event()
        self.dropped = 0
        """Surfaces that were late."""

    def say(self, kind: str, **values: Any) -> None:
        """Send words."""
        self._words.append(msgspec.json.encode({"kind": kind, **values}).decode())
        self._due.set()

    def show(self, kind: str, frame: bytes) -> None:
        """Send a surface, unless a later one overtakes it."""
        self.dropped += kind in self._frames
        self._frames[kind] = frame
        self._due.set()

    async def run(self) -> None:
        """Send until the page is closed."""
        while self._socket.application_state is WebSocketState.CONNECTED:
            await self._due.wait()
            self._due.clear()
            words, self._words = self._words, []
            frames, self._frames = self._frames, {}
            for text in words:
                await self._socket.send_text(text)
            for frame in frames.values():
                await self._socket.send_bytes(frame)


class Hub:
    """All open tabs."""

    def __init__(self) -> None:
        self.tabs: set[Tab] = set()

    def say(self, kind: str, **values: Any) -> None:
        """Tell every tab."""
        for tab in self.tabs:
            tab.say(kind, **values)

    def show(self, kind: str, frame: bytes) -> None:
        """Show every tab a surface."""
        for tab in self.tabs:
            tab.show(kind, frame)

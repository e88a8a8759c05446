"""Child processes whose words are heard on the server's own thread."""

import asyncio
import contextlib
from collections.abc import Callable

from .child import DONE, FAILED, Child, Limits, Message


class Errands:
    """All children that are at work."""

    def __init__(self) -> None:
        self._children: set[Child] = set()

    def start(
        self, task: str, arguments: Message, hear: Callable[[Message], None], limits: Limits
    ) -> Child:
        """Start a child; arguments as for `Child`."""
        loop = asyncio.get_running_loop()

        def heard(message: Message) -> None:
            with contextlib.suppress(RuntimeError):  # the server has been closed
                loop.call_soon_threadsafe(take, message)

        def take(message: Message) -> None:
            if message["kind"] in (DONE, FAILED):
                self._children.discard(child)
            hear(message)

        child = Child(task, arguments, heard, limits)
        self._children.add(child)
        return child

    def close(self) -> None:
        """End all of them."""
        for child in list(self._children):
            child.end()

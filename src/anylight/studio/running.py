"""A run as the page sees it."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from .child import DONE, FAILED, Child, Message
from .solving import PAUSE, RESUME, STOP

_MOST_ENERGIES = 4000
"""Steps whose energy is kept for the curve. (memory)"""
_OVER = ("finished", "failed")


@dataclass
class Running:
    """What is known of a run; changed only on the server's own thread."""

    number: int
    method: str
    state: str = "starting"
    """Starting, running, pausing, paused, stopping, finished or failed."""
    share: float = 0.0
    line: str = "reading the photos"
    energies: list[tuple[str, float]] = field(default_factory=list)
    message: str = ""
    frame: bytes | None = None
    """The latest surface, for pages that are opened later."""
    begun: float = field(default_factory=monotonic)
    child: Child | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state in _OVER

    def ask(self, action: str) -> None:
        """Pause, resume or stop; a second stop ends it at once."""
        assert self.child is not None
        if self.is_over:
            return
        if action == STOP and self.state == "stopping":
            self.child.end()
            return
        states = {PAUSE: "pausing", RESUME: "running", STOP: "stopping"}
        if action in states:
            self.state = states[action]
            self.child.ask(action)

    def hear(self, message: Message) -> None:
        """Take in what the child tells."""
        kind = message["kind"]
        if kind == "step":
            self.share, self.line = message["share"], message["line"]
            if self.state == "starting":
                self.state = "running"
            if message["energy"] is not None:
                self.energies.append((message["stage"], message["energy"]))
                del self.energies[:-_MOST_ENERGIES]
        elif kind == "share":
            task = str(message["task"])
            self.line = _TASKS.get(task, task)
            if message["task"] == "write":
                self.share = 0.97 + 0.03 * message["share"]
        elif kind == "frame":
            self.frame = message["frame"]
        elif kind in ("paused", "resumed"):
            self.state = "paused" if kind == "paused" else "running"
        elif kind == DONE:
            self.state, self.share = "finished", 1.0
            self.line = message["result"]["status"]
        elif kind == FAILED:
            self.state, self.message = "failed", message["sentence"]

    def told(self) -> dict[str, Any]:
        """As the page wants it."""
        return {
            "number": self.number,
            "method": self.method,
            "state": self.state,
            "share": self.share,
            "line": self.line,
            "message": self.message,
            "energies": self.energies,
            "seconds": monotonic() - self.begun,
        }


_TASKS: dict[str, str] = {
    "read": "reading the photos",
    "mask": "finding the object",
    "examine": "looking at the photos",
    "write": "writing meshes, maps and report",
}

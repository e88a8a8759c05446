"""`anylight studio`: see it, tune it, relight it, in the browser."""

import contextlib
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import rich.console
import tyro

from anylight.errors import InvalidInputError
from anylight.intake.source import find_source

from .progress import say

_NEEDED = ("starlette", "uvicorn", "websockets")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True)
class Studio:
    """Open a page on this computer where everything is done by hand and seen at once.

    Prints its address, with the key to it, on standard output, and opens it. Nothing leaves this
    computer. Sessions are folders beside each other here, NAME_studio, which `anylight run`
    understands. Ctrl-C ends it.
    Try: anylight studio photos/
    """

    capture: tyro.conf.Positional[Path | None] = None
    """Folder of photos, or a .mat, .npz or .lp file; not given: choose one on the page."""
    port: int = 0
    """Port to listen on; any that is free if not given."""
    no_browser: bool = False
    """Only print the address; do not open it."""
    host: str = "127.0.0.1"
    """Address to listen on; another than this computer's own lets others in who know the key."""

    def run(self, console: rich.console.Console) -> None:
        """Serve until Ctrl-C."""
        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            raise InvalidInputError(
                f"the studio needs {' and '.join(missing)}: pip install 'anylight[studio]'."
            )
        if not 0 <= self.port < 65536:
            raise InvalidInputError("--port must be between 0 and 65535.")
        if self.capture is not None:
            find_source(self.capture)
        if self.host not in _LOOPBACK:
            say(
                console,
                f"warning: listening on {self.host}: whoever in the network knows the address "
                "with its key can see and change everything in the studio, and it is not "
                "encrypted.",
                style="yellow",
            )
        from anylight.studio.serve import serve  # noqa: PLC0415  an extra

        def tell(address: str) -> None:
            sys.stdout.write(f"{address}\n")
            sys.stdout.flush()

        with contextlib.suppress(KeyboardInterrupt):  # the way to end it
            serve(self.capture, self.host, self.port, tell, not self.no_browser)

"""`anylight warm-up`: compile everything now, so that no run has to."""

from dataclasses import dataclass
from typing import Any

import rich.console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from anylight.errors import InvalidInputError
from anylight.pipeline import reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from anylight.threads import IS_KEPT, compiling

from .progress import say

MOST = 94
"""Functions that the default with cast shadows and the published method compile."""
NOT_KEPT = (
    "warning: compiled code cannot be kept, because neither the installation nor the home folder "
    "nor NUMBA_CACHE_DIR, if it is set, can be written by you alone: every run compiles for half a "
    "minute. Set NUMBA_CACHE_DIR to a folder of your own, and run 'anylight warm-up' once."
)
_SCENES: tuple[tuple[SynthOptions, dict[str, Any]], ...] = (
    (SynthOptions(shape="coral", height=56, images=8, cast_shadows=True), {}),
    (SynthOptions(shape="bust", height=48, images=4), {"method": "paper"}),
)
"""What is run: cast shadows use everything that the default has."""


@dataclass(frozen=True)
class WarmUp:
    """Compile everything that runs need, for images of machines and for installers.

    Compiled code is kept beside the program, or in the user's cache folder, or in NUMBA_CACHE_DIR.
    A run that finds it there starts at once. Try: anylight warm-up
    """

    def run(self, console: rich.console.Console) -> None:
        """Run tiny scenes by every method that is compiled."""
        if not IS_KEPT:
            raise InvalidInputError(NOT_KEPT.removeprefix("warning: "))
        counts = [0]
        columns = (BarColumn(), TextColumn("{task.description}"))
        with Bars(*columns, console=console, transient=True) as bars:
            task = bars.add_task("starting", total=MOST)

            def tell(count: int) -> None:
                counts[0] = count
                bars.update(task, completed=count, description=f"compiling {count} of about {MOST}")

            with compiling(tell):
                for options, settings in _SCENES:
                    reconstruct(render(options).capture, **settings)
        done = f"{counts[0]} functions compiled" if counts[0] else "everything was compiled already"
        say(console, f"{done}; the next run starts at once.")

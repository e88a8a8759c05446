"""`anylight`: one program, one sub-command per task.

Exit codes: 0 all went well; 2 something is wrong with the input, said in one sentence;
130 stopped by the user.
"""

import os
import sys
from typing import Annotated

import rich.console
import tyro

import anylight
from anylight.errors import InvalidInputError

from .batch import Batch
from .bench import Bench
from .evaluate import Evaluate
from .info import Info
from .integrate import Integrate
from .mask import Mask
from .mix import Mix
from .progress import say
from .run import Run
from .studio import Studio
from .synth import Synth
from .warm_up import WarmUp
from .words import understood

Command = (
    Annotated[Run, tyro.conf.subcommand("run")]
    | Annotated[Studio, tyro.conf.subcommand("studio")]
    | Annotated[Info, tyro.conf.subcommand("info")]
    | Annotated[Mask, tyro.conf.subcommand("mask")]
    | Annotated[Integrate, tyro.conf.subcommand("integrate")]
    | Annotated[Synth, tyro.conf.subcommand("synth")]
    | Annotated[Evaluate, tyro.conf.subcommand("eval")]
    | Annotated[Batch, tyro.conf.subcommand("batch")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
    | Annotated[Mix, tyro.conf.subcommand("mix")]
    | Annotated[WarmUp, tyro.conf.subcommand("warm-up")]
)

BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, run the command, say in one sentence what is wrong."""
    console = rich.console.Console(stderr=True)
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:
        sys.stdout.write(f"anylight {anylight.__version__}\n")
        return 0
    try:
        understood(Command, arguments).run(console)
    except (InvalidInputError, OSError, MemoryError, KeyboardInterrupt) as error:
        return _ended(console, error)
    return 0


def _ended(console: rich.console.Console, error: BaseException) -> int:
    """Say in one sentence why it ended; gives the exit code."""
    match error:
        case KeyboardInterrupt():
            _fail(console, f"stopped{f' {error}' if error.args else ''}; nothing was written.")
            return INTERRUPTED
        case BrokenPipeError():  # who reads our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return BROKEN_PIPE
        case MemoryError():
            _fail(console, "not enough memory for images of this size; use smaller ones.")
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            _fail(console, f"{where}{error.strerror or error}; check the path and its permissions.")
        case _:
            _fail(console, str(error))
    return BAD_INPUT


def _fail(console: rich.console.Console, sentence: str) -> None:
    say(console, f"anylight: {sentence}", style="bold red")


if __name__ == "__main__":
    from .entry import main as enter

    sys.exit(enter())

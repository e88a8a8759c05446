"""`anylight batch`: many captures at once."""

import io
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import rich.console
import tyro

from anylight.errors import InvalidInputError
from anylight.intake.options import IntakeOptions
from anylight.model.scale import ScaleOptions
from anylight.pipeline import RunOptions
from anylight.runs.folder import OutputOptions
from anylight.runs.place import Identity, is_finished

from .bench import run_tasks
from .flags import MethodFlags
from .progress import say, shown_progress
from .run import Run


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Reconstruct many captures, each as `anylight run` does.

    Finished ones are left alone, so an interrupted batch goes on where it stopped. One capture that
    fails does not stop the others; the exit code is then 2.
    Try: anylight batch photos/* --out results --jobs 2
    """

    captures: tyro.conf.Positional[tuple[Path, ...]]
    """Folders (or .mat, .npz, .lp files) of captures."""
    out: Path
    """Folder that gets one result folder per capture."""
    intake: IntakeOptions = field(default_factory=IntakeOptions)
    solver: RunOptions = field(default_factory=RunOptions)
    methods: MethodFlags = field(default_factory=MethodFlags)
    scale: ScaleOptions = field(default_factory=ScaleOptions)
    output: OutputOptions = field(default_factory=OutputOptions)
    again: bool = False
    """Run also what is finished."""
    replace: bool = False
    """Overwrite results of other captures."""
    jobs: int = 1
    """Local processes."""
    memory_mb: int | None = None
    """Memory that a local process may use."""
    cluster: str | None = None
    """Address of a Dask scheduler; its workers must see the same folders (extra 'cluster')."""

    def run(self, console: rich.console.Console) -> None:
        """Run what is missing and say how it went."""
        if not self.captures:
            raise InvalidInputError("there is nothing to do: name the folders of the captures.")
        names = [capture.resolve().name for capture in self.captures]
        twins = {name for name in names if names.count(name) > 1}
        if twins:
            raise InvalidInputError(
                f"two captures are called {sorted(twins)[0]}; their results would overwrite each "
                "other: rename one."
            )
        tasks = {
            name: Run(
                capture=capture.resolve(),
                out=(self.out / name).resolve(),
                intake=self.intake,
                solver=self.solver,
                methods=self.methods,
                scale=self.scale,
                output=self.output,
                again=self.again,
                replace=self.replace,
            )
            for name, capture in zip(names, self.captures, strict=True)
        }
        tasks = {name: task for name, task in tasks.items() if self.again or not _is_done(task)}
        say(console, f"{len(names)} captures, {len(tasks)} to run: {self.out}")
        failed = []
        try:
            failed = self._run(console, tasks)
        except (KeyboardInterrupt, SystemExit) as stop:
            say(console, "stopped; finished captures are kept, the others run next time.")
            raise SystemExit(getattr(stop, "code", 130)) from None
        if failed:
            raise InvalidInputError(f"{len(failed)} of {len(tasks)} failed: {', '.join(failed)}.")

    def _run(self, console: rich.console.Console, tasks: dict[str, Run]) -> list[str]:
        """Run what is missing; names those that failed."""
        failed = []
        with shown_progress(console) as report:
            ended = run_tasks(
                reconstruct_one, tasks, self.jobs, self.memory_mb, self.cluster, self.out
            )
            for count, done in enumerate(ended, start=1):
                words = done.error or str(done.value)
                if words != "done":
                    failed.append(done.key)
                tries = f" (started {len(done.starts)} times)" if len(done.starts) > 1 else ""
                say(console, f"{count}/{len(tasks)} {done.key}: {words}{tries}")
                report("captures", count / len(tasks))
        return failed


def _is_done(command: Run) -> bool:
    """Whether there is nothing to do; a capture that cannot be read is tried, and says why."""
    assert command.out is not None
    try:
        return is_finished(command.out, Identity.of(command.capture), command.asked())
    except OSError:
        return False


def reconstruct_one(command: Run, sharing: int = 1) -> str:
    """Run one capture; says "done" or what is wrong.

    Args:
        command: what to run.
        sharing: number of processes that share the machine.
    """
    if sharing > 1 and command.solver.threads is None:
        share = max(1, (os.cpu_count() or 1) // sharing)
        solver = msgspec.structs.replace(command.solver, threads=share)
        command = replace(command, solver=solver)
    try:
        command.run(rich.console.Console(file=io.StringIO(), force_terminal=False))
    except InvalidInputError as error:
        return str(error)
    return "done"

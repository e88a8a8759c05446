"""`anylight run`: reconstruct a capture."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import rich.console
import tyro
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from anylight.doctor.after import diagnose
from anylight.doctor.before import examine
from anylight.errors import InvalidInputError
from anylight.intake.forecast import bytes_to_solve, bytes_to_write
from anylight.intake.load import Intake, load
from anylight.intake.options import IntakeOptions
from anylight.io.folder import check_output, staged_folder
from anylight.io.journal import FileJournal
from anylight.io.room import check_disk, check_memory
from anylight.model.journal import remembering
from anylight.model.method import Iteration, Progress, StopRequestedError
from anylight.model.result import Result
from anylight.model.scale import ScaleOptions, check_scale, to_scale
from anylight.model.status import Status
from anylight.pipeline import RunOptions, steps
from anylight.runs.folder import OWNED, OutputOptions, leave, troubles, untold
from anylight.runs.place import Identity, is_finished, place_of, run_key
from anylight.threads import IS_KEPT, compiling, use_threads

from .flags import MethodFlags, settings_of
from .interrupt import stopping, undisturbed
from .progress import say, shown_progress
from .warm_up import MOST, NOT_KEPT

FINISHED = "finished before, with the same photos, options and version"


@dataclass(frozen=True, kw_only=True)
class Run:
    """Turn a folder of photos into a textured mesh with its colours and the light of every photo.

    Writes meshes (GLB, PLY, OBJ), depth, normals, albedo, lights, report.html, result.npz and,
    last, run.json. Ctrl-C keeps what has been reached, from the first step on; twice stops at once.
    Competitors, and the trial of lenses where nothing says which one it was, have nothing to keep.
    Try: anylight run photos/
    """

    capture: tyro.conf.Positional[Path]
    """Folder of photos, or a .mat, .npz or .lp file (docs/formats.md)."""
    out: Path | None = None
    """Folder to write, new, empty, or from an earlier run of this capture. NAME_result here if not
    given, with a number if that is another capture's."""
    intake: IntakeOptions = field(default_factory=IntakeOptions)
    solver: RunOptions = field(default_factory=RunOptions)
    methods: MethodFlags = field(default_factory=MethodFlags)
    scale: ScaleOptions = field(default_factory=ScaleOptions)
    output: OutputOptions = field(default_factory=OutputOptions)
    again: bool = False
    """Run even if the result is there already, of the same photos, options and version."""
    replace: bool = False
    """Overwrite the result of another capture."""

    def asked(self) -> dict[str, msgspec.Struct]:
        """All options by the name that the record has for them."""
        return {
            "options": self.solver,
            "settings": settings_of(self.methods, self.solver),
            "intake": self.intake,
            "scale": self.scale,
            "output": self.output,
        }

    def run(self, console: rich.console.Console) -> None:
        """Load, examine, solve, write."""
        settings = settings_of(self.methods, self.solver)
        if not self.capture.exists():
            raise InvalidInputError(
                f"{self.capture}: no such folder; give the folder of the photos."
            )
        identity = Identity.of(self.capture)
        out = place_of(identity, self.capture, self.out, self.replace)
        check_output(out, OWNED)
        if not self.again and is_finished(out, identity, self.asked()):
            say(console, f"{FINISHED}: {out} (--again runs it anew)")
            return
        use_threads(self.solver.threads)
        with shown_progress(console) as report:
            intake = load(self.capture, self.intake, report)
            examination = examine(intake, report)
        place, distance = (intake.corner, intake.downscale), self.intake.distance
        check_scale(self.scale, intake.capture, *place, distance)
        _check_room(out, intake, self.output.only_result)
        intake = replace(intake, warnings=(*intake.warnings, *troubles(examination)))
        for warning in intake.warnings:
            say(console, f"warning: {warning}", style="yellow")
        if not IS_KEPT:
            say(console, NOT_KEPT, style="yellow")
        journal = FileJournal.of(run_key(identity, self.asked()))
        with remembering(journal):
            result = _shown(console, steps(intake.capture, self.solver, settings))
        if journal.recalled:
            say(console, f"{journal.recalled} parts were taken over from a run that was cut short")
        scene = to_scale(result.reconstruction, self.scale, *place, distance)
        result = replace(result, reconstruction=scene)
        after = diagnose(result, intake.capture, examination)
        for warning in (*result.warnings, *untold(after, result.warnings)):
            say(console, f"warning: {warning}", style="yellow")
        out = place_of(identity, self.capture, self.out, self.replace)
        findings = (examination.findings, after)
        with (
            undisturbed(),
            shown_progress(console) as progress,
            staged_folder(out, OWNED) as stage,
        ):
            leave(stage, identity, self.asked(), intake, result, findings, progress)
        if result.status is not Status.INTERRUPTED:
            journal.forget()
        say(
            console,
            f"{result.status}; {len(result.trace)} steps in {result.seconds['solve']:.1f} s: {out}",
        )
        if not self.output.only_result:
            mesh = "" if scene.depth is None else f"; the mesh is {out / 'mesh.glb'}"
            say(console, f"look at {out / 'report.html'}{mesh}")
        if result.status is Status.INTERRUPTED:
            raise SystemExit(130)


def _check_room(out: Path, intake: Intake, only_result: bool) -> None:
    """Refuse, before the solve, what memory or disk cannot hold."""
    capture = intake.capture
    pixels = int(capture.mask.sum())
    check_memory(
        intake.source.name,
        bytes_to_solve(capture.photos.nbytes, pixels),
        "reduce the photos with --downscale 2, or as far as it takes with --fit.",
    )
    check_disk(out, bytes_to_write(capture.num_photos, pixels, only_result))


def _shown(console: rich.console.Console, running: Generator[Progress, None, Result]) -> Result:
    """Run to the end, showing every step."""
    run = Iteration(running)
    try:
        with stopping(console, run.stop):
            if not console.is_terminal:
                with compiling(lambda count: _say_once(console, count)):
                    for progress in run:
                        say(console, progress.line)
                return run.result
            columns = (BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
            with Bars(*columns, console=console, transient=True) as bars:
                task = bars.add_task("starting", total=1.0)

                def tell(count: int) -> None:
                    bars.update(task, description=f"compiling, this once: {count} of about {MOST}")

                with compiling(tell):
                    for progress in run:
                        bars.update(task, completed=progress.share, description=progress.line)
                return run.result
    except StopRequestedError:
        raise KeyboardInterrupt("before there was a result to keep") from None


def _say_once(console: rich.console.Console, count: int) -> None:
    """Say that the compiler is at work, when it begins."""
    if count == 1:
        say(console, "compiling, this once, for up to half a minute")

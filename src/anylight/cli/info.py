"""`anylight info`: look at photos before a run."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import rich.console
import tyro

from anylight.doctor.before import examine
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.model.finding import Finding

from .progress import say, shown_progress

PROBLEMS = 3
"""Exit code if the photos have a problem that spoils a run."""
STYLES = {"problem": "bold red", "warning": "yellow", "note": "cyan", "good": "green"}


@dataclass(frozen=True, kw_only=True)
class Info:
    """Look at photos before a run: are they linear, sharp, still, varied enough?

    Every finding comes with its remedy. Nothing is written. Ends with 3 if there is a problem that
    spoils a run, else with 0.
    Try: anylight info photos/
    """

    capture: tyro.conf.Positional[Path]
    """Folder of photos, or a .mat, .npz or .lp file (docs/formats.md)."""
    intake: IntakeOptions = field(default_factory=IntakeOptions)
    json: bool = False
    """Print one JSON object with all measurements instead."""

    def run(self, console: rich.console.Console) -> None:
        """Read, examine, print."""
        with shown_progress(console) as report:
            intake = load(self.capture, self.intake, report)
            examination = examine(intake, report)
        if self.json:
            record = msgspec.json.encode(examination.record(intake))
            sys.stdout.write(msgspec.json.format(record, indent=2).decode() + "\n")
        else:
            out = rich.console.Console()
            for finding in examination.findings:
                print_finding(out, finding)
        if any(finding.severity == "problem" for finding in examination.findings):
            raise SystemExit(PROBLEMS)


def print_finding(console: rich.console.Console, finding: Finding) -> None:
    """Print one finding and its remedy."""
    console.print(f"{finding.severity:>8} ", style=STYLES[finding.severity], end="", markup=False)
    say(console, f"{finding.topic}: {finding.text}")
    if finding.remedy:
        say(console, f"         → {finding.remedy}")

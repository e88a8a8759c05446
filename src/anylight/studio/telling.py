"""A session as the page wants it: plain values."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from anylight.errors import InvalidInputError
from anylight.intake.options import IntakeOptions
from anylight.model.options import made
from anylight.model.scale import ScaleOptions
from anylight.pipeline import RunOptions
from anylight.runs.command import command_words, quoted
from anylight.runs.folder import OutputOptions

from .session import Session


def told(session: Session) -> dict[str, Any]:
    """Everything about a session that a page shows."""
    facts = session.facts
    try:
        command, trouble = session.command(), ""
    except InvalidInputError as error:
        command, trouble = "", str(error)
    return {
        "folder": str(session.folder),
        "facts": msgspec.to_builtins(facts),
        "choices": msgspec.to_builtins(session.choices),
        "method": session.choices.method(),
        "view": [-(-facts.width // session.factor), -(-facts.height // session.factor)],
        "factor": session.factor,
        "mask": {
            "number": session.mask_number,
            "source": session.mask_source,
            "share": session.mask_share,
        },
        "command": command,
        "trouble": trouble,
        "results": [_result(session, path) for path in session.results()],
    }


def _result(session: Session, folder: Path) -> dict[str, Any]:
    record = _record(folder / "run.json", (folder / "run.json").stat().st_mtime_ns)
    return {
        "number": int(folder.name),
        "folder": str(folder),
        "method": record["method"],
        "status": record["status"],
        "photos": record["photos"],
        "seconds": sum(record["seconds"].values()),
        "unit": record["unit"],
        "warnings": record["warnings"],
        "findings": record["findings"]["after"],
        "flipped": bool(record["settings"].get("flip")),
        "files": session.files(folder),
        "command": _command(session, folder, record),
    }


def _command(session: Session, folder: Path, record: dict[str, Any]) -> str:
    """The line that repeats a result on a terminal, beside it; empty if its method is gone."""
    try:
        options = made(RunOptions, record["options"], "a run")
        asked: dict[str, msgspec.Struct] = {
            "options": options,
            "settings": made(options.chosen().options, record["settings"], "the method"),
            "intake": made(IntakeOptions, record["intake"], "the reading of photos"),
            "scale": made(ScaleOptions, record["scale"], "the scale"),
            "output": made(OutputOptions, record["output"], "the output"),
        }
    except (InvalidInputError, KeyError):
        return ""
    out = folder.with_name(f"{folder.name}_again")
    return quoted(command_words(session.folder, out, asked))


@lru_cache(16)
def _record(path: Path, _changed: int) -> dict[str, Any]:
    """The record of a run; read again if the file has changed."""
    record: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    return record

"""Where sessions are kept, and what is still known when one is opened again."""

from pathlib import Path

import msgspec

from anylight.errors import InvalidInputError
from anylight.intake.fingerprint import fingerprint

from .choices import Choices
from .reading import EXAMPLE, FACTS, Facts

_MOST = 1000


def session_folder(home: Path, source: Path | None, title: str) -> Path:
    """Of a session: the one that belongs to these photos already, else a new one.

    Args:
        home: where session folders are.
        source: the photos; None: the example.
        title: what to call a new one.
    """
    if source is not None and (source / FACTS).is_file():
        return source
    mark = EXAMPLE if source is None else fingerprint(source)
    for count in range(1, _MOST):
        folder = home / (f"{title}_studio" + (f"_{count}" if count > 1 else ""))
        if not folder.exists() or _mark(folder) == mark:
            return folder
    raise InvalidInputError(f"{home}: is full of sessions; remove some.")


def _mark(folder: Path) -> str:
    """Which photos a session was made of."""
    try:
        return str(msgspec.json.decode((folder / FACTS).read_bytes())["facts"]["fingerprint"])
    except (OSError, KeyError, TypeError, msgspec.MsgspecError):
        return ""


def kept_choices(folder: Path) -> Choices:
    """What was chosen when a session was last open; the defaults where nothing can be read."""
    try:
        kept = msgspec.json.decode((folder / FACTS).read_bytes())
        return msgspec.convert(kept["choices"], Choices)
    except (OSError, KeyError, TypeError, msgspec.MsgspecError):
        return Choices()


def kept_facts(folder: Path, facts: Facts) -> Facts:
    """What was found out when a session was made: its photos, its camera and its source."""
    try:
        kept = msgspec.json.decode((folder / FACTS).read_bytes())
        first = msgspec.convert(kept["facts"], Facts)
    except (OSError, KeyError, TypeError, msgspec.MsgspecError):
        return facts
    if (first.width, first.height) != (facts.width, facts.height):
        return facts
    return msgspec.structs.replace(
        facts,
        name=first.name,
        fingerprint=first.fingerprint,
        names=first.names,
        camera_kind=first.camera_kind,
        camera_matrix=first.camera_matrix,
        camera_source=first.camera_source,
        lens_known=first.lens_known,
        focal_35mm=first.focal_35mm,
    )

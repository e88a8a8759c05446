"""Which folder a result goes to, whose result is there, and whether it is the one asked for."""

import hashlib
import os
import platform
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import anylight
from anylight.errors import InvalidInputError
from anylight.intake.fingerprint import fingerprint
from anylight.model.status import Status
from anylight.threads import in_parallel

from .record import named_files, versions


def named_after(capture: Path, what: str) -> Path:
    """A folder here that bears the capture's whole name: vase.v1 and vase.v2 are two."""
    return Path(f"{capture.resolve().name or 'capture'}_{what}")


@dataclass(frozen=True)
class Identity:
    """Which capture a result is of: its bytes, and where it lies."""

    fingerprint: str
    """Of all bytes that count."""
    place: str
    """Digest of the path, which itself is nobody's business."""

    @staticmethod
    def of(capture: Path) -> "Identity":
        """Look at a capture that exists."""
        place = hashlib.sha256(str(capture.resolve()).encode(errors="surrogateescape"))
        return Identity(fingerprint(capture), place.hexdigest())

    def is_that_of(self, record: dict[str, Any]) -> bool:
        """Whether a result is of this capture, even if its files changed or it was moved."""
        return self.place == record.get("place") or self.fingerprint == record.get("fingerprint")


def read_record(folder: Path) -> dict[str, Any] | None:
    """What the result in a folder says about itself; nothing if there is none."""
    try:
        record = msgspec.json.decode((folder / "run.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return record if isinstance(record, dict) else {}


def place_of(identity: Identity, capture: Path, out: Path | None, replace: bool) -> Path:
    """The folder for a result; without a wish, the first that holds no other capture's.

    Raises:
        InvalidInputError: the folder that was asked for holds another capture's result.
    """
    if out is not None:
        record = read_record(out)
        if record is not None and not replace and not identity.is_that_of(record):
            name = str((record.get("capture") or {}).get("name") or "unknown")
            raise InvalidInputError(
                f"{out}: holds the result of another capture ({name}); choose another --out, or "
                "say --replace."
            )
        return out
    first = named_after(capture, "result")
    for number in count(1):
        folder = first if number == 1 else first.with_name(f"{first.name}_{number}")
        record = read_record(folder)
        if record is None or identity.is_that_of(record):
            return folder
    raise AssertionError


def is_finished(folder: Path, identity: Identity, asked: dict[str, msgspec.Struct]) -> bool:
    """Whether a whole result is there, of the same bytes, options and version."""
    try:
        record = msgspec.json.decode((folder / "run.json").read_bytes())
        same = (
            record["fingerprint"] == identity.fingerprint
            and record["inputs"]["named_files"] == named_files(asked)
            and record["versions"]["anylight"] == anylight.__version__
            and all(record[name] == msgspec.to_builtins(o) for name, o in asked.items())
            and all((folder / name).is_file() for name in record["files"])
        )
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return False
    return bool(same and record["status"] != str(Status.INTERRUPTED))


def run_key(identity: Identity, asked: dict[str, msgspec.Struct]) -> str:
    """What a run of these bytes with these options by this very program and processor is called."""
    source = Path(anylight.__file__).parent
    stamps = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in source.rglob("*.py")]
    wanted = [msgspec.to_builtins(options) for options in asked.values()]
    words = [
        identity.fingerprint,
        named_files(asked),
        wanted,
        versions(),
        sorted(stamps),
        _machine(),
    ]
    return hashlib.sha256(msgspec.json.encode(words)).hexdigest()[:32]


def _machine() -> list[object]:
    """What else numbers may depend on in their last digits: the processor, and wishes about it."""
    wishes = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("NUMBA_CPU", "NUMBA_FASTMATH", "OPENBLAS_CORETYPE", "NPY_"))
    }
    features = np.show_config(mode="dicts")["SIMD Extensions"]
    return [platform.machine(), features, sorted(wishes.items())]


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file in a folder, by its name relative to it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    by_size = sorted(files, key=lambda path: -path.stat().st_size)  # threads end together
    found = dict(zip(by_size, in_parallel(_digest, by_size), strict=True))
    return {path.relative_to(folder).as_posix(): found[path] for path in files}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

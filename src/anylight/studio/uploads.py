"""Photos that the page sends: into a private folder, under harmless names, within limits."""

import re
import secrets
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from anylight.errors import InvalidInputError
from anylight.intake.photo import READABLE

_ALLOWED = (*READABLE, ".txt", ".toml", ".yml", ".yaml", ".lp", ".npz", ".mat")
_ARRAYS = (".npz", ".mat")
_LONGEST_NAME = 100


@dataclass(frozen=True)
class UploadLimits:
    """How much may be sent."""

    files: int = 300
    file_bytes: int = 400_000_000
    all_bytes: int = 8_000_000_000


class TooMuchError(InvalidInputError):
    """More than the limits allow."""


@dataclass
class Upload:
    """A folder that is being sent."""

    folder: Path
    limits: UploadLimits = field(default_factory=UploadLimits)
    key: str = field(default_factory=lambda: secrets.token_hex(8))
    size: int = 0
    """Bytes of all files so far."""
    names: set[str] = field(default_factory=set)

    async def take(self, name: str, content: AsyncIterator[bytes]) -> str:
        """Store one file; what is not whole is not kept. Gives the name it got.

        Raises:
            TooMuchError: it is too large, or there are too many.
            InvalidInputError: it is nothing that can be read.
        """
        limits = self.limits
        if len(self.names) >= limits.files:
            raise TooMuchError(f"more than {limits.files} files are too many; send fewer.")
        safe = self._safe(name)
        part, size = self.folder / f".{secrets.token_hex(8)}", 0
        try:
            with part.open("wb") as file:
                async for chunk in content:
                    size += len(chunk)
                    if size > limits.file_bytes:
                        most = limits.file_bytes // 1_000_000
                        raise TooMuchError(f"{safe}: is larger than {most} MB; reduce it.")
                    if self.size + size > limits.all_bytes:
                        most = limits.all_bytes // 1_000_000
                        raise TooMuchError(f"all files together are larger than {most} MB.")
                    file.write(chunk)
            part.rename(self.folder / safe)
        finally:
            part.unlink(missing_ok=True)
        self.size += size
        self.names.add(safe)
        return safe

    def capture(self) -> Path:
        """What is to be read: the folder, or the one file of arrays in it."""
        arrays = [name for name in self.names if Path(name).suffix.lower() in _ARRAYS]
        return self.folder / arrays[0] if len(arrays) == 1 else self.folder

    def drop(self) -> None:
        """Forget everything."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _safe(self, name: str) -> str:
        """A name without folders or odd letters that is not taken yet."""
        last = PurePosixPath(name.replace("\\", "/")).name
        words = re.sub(r"[^\w .()+-]", "_", last).lstrip(". ")
        stem, suffix = Path(words).stem[:_LONGEST_NAME], Path(words).suffix
        if not stem or suffix.lower() not in _ALLOWED:
            raise InvalidInputError(f"{last[:_LONGEST_NAME]}: is not a photo that can be read.")
        safe, count = f"{stem}{suffix}", 1
        while safe.casefold() in {taken.casefold() for taken in self.names}:
            count += 1
            safe = f"{stem} {count}{suffix}"
        return safe


def safe_title(title: str) -> str:
    """A name for a folder, from one that the page tells."""
    return re.sub(r"[^\w-]+", "_", title).strip("_")[:40] or "photos"

"""Which capture it is, by its bytes; and what is no capture but a result."""

import hashlib
from pathlib import Path


def is_result(folder: Path) -> bool:
    """Whether a folder was written by a run."""
    return (folder / "run.json").is_file() and (folder / "result.npz").is_file()


def fingerprint(path: Path) -> str:
    """Digest of the names and bytes of a capture's files.

    Hidden files, and results that lie among the photos, do not count.
    """
    digest = hashlib.sha256()
    for name, file in [(path.name, path)] if path.is_file() else _files(path, path):
        with file.open("rb") as content:
            inner = hashlib.file_digest(content, "sha256").hexdigest()
        digest.update(f"{len(name)} {name} {inner}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _files(folder: Path, root: Path) -> list[tuple[str, Path]]:
    found = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_file():
            found.append((path.relative_to(root).as_posix(), path))
        elif path.is_dir() and not path.is_symlink() and not is_result(path):
            found += _files(path, root)
    return found

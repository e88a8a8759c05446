"""The user's cache: what can be made again, in a folder that only the user writes."""

import os
from pathlib import Path


def user_cache(what: str) -> Path:
    """Folder for one kind of things; it may not be there yet."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path("~").expanduser() / ".cache") / "anylight" / what

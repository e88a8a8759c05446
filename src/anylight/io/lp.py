"""LP: the directions of lamps, as reflectance transformation imaging (RTI) lists them."""

from pathlib import Path

import numpy as np

from anylight.errors import InvalidInputError

from .text import small_text

_DIGITS = 9
"""Of the number of photos, at most."""
_REMEDY = "write the number of photos, then a line 'file x y z' for each."


def read_lp(path: Path) -> list[tuple[str, tuple[float, float, float]]]:
    """Read photo names and directions to the lamp: x right, y up, z towards the viewer.

    Raises:
        InvalidInputError: the file is missing or not a list of directions.
    """
    try:
        text = small_text(path)
    except OSError as error:
        raise InvalidInputError(
            f"{path}: cannot be read ({error.strerror}); check the name."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path}: is not text in UTF-8; {_REMEDY}") from error
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    first = lines[0][1].strip() if lines else ""
    if not first.isdecimal() or len(first) > _DIGITS:
        raise InvalidInputError(f"{path}: does not begin with a number; {_REMEDY}")
    promised = int(first)
    if len(lines) - 1 != promised:
        raise InvalidInputError(
            f"{path}: promises {promised} photos and lists {len(lines) - 1}; {_REMEDY}"
        )
    return [_entry(path, number, line) for number, line in lines[1:]]


def write_lp(path: Path, lamps: list[tuple[str, tuple[float, float, float]]]) -> None:
    """Write photo names and directions to the lamp."""
    lines = ["{} {:.8f} {:.8f} {:.8f}".format(name, *direction) for name, direction in lamps]
    path.write_text("\n".join([str(len(lamps)), *lines]) + "\n", encoding="utf-8", newline="\n")


def _entry(path: Path, number: int, line: str) -> tuple[str, tuple[float, float, float]]:
    *name, x, y, z = ["", "", "", *line.strip().rsplit(None, 3)][-4:]
    try:
        direction = (float(x), float(y), float(z))
    except ValueError:
        direction = (0.0, 0.0, 0.0)
    if not name[0] or not np.isfinite(direction).all() or not any(direction):
        raise InvalidInputError(f"{path}: line {number} is not a name and a direction; {_REMEDY}")
    return name[0], direction

"""Tuned constants as the source declares them: a number, and under it what it means and its unit.

A module constant of the default method's rooms has a docstring that ends either in its unit in
square brackets, then it is tuned and belongs into docs/constants.md, or in one of the words of
`KINDS` in round ones, which says why it is not.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
ROOMS = ("joint", "integration", "facets", "initial", "sky.py")
"""Rooms of the default method."""
KINDS = ("guard", "memory", "progress", "definition")
"""Reasons not to tune a number: it only keeps a division or a loop sound, it bounds memory, it only
moves the progress bar, or it is what a word means."""
_ENDING = re.compile(r"(?:\[(?P<unit>[^\]]+)\]|\((?P<kind>\w+)\))$")


@dataclass(frozen=True)
class Declared:
    """One module constant with a number in it."""

    module: str
    name: str
    value: str
    """As the source writes it."""
    text: str
    unit: str
    """Empty if it is not tuned."""
    kind: str
    """Why it is not tuned; empty if it is."""

    @property
    def key(self) -> str:
        """The room's file and the name."""
        return f"{self.module.removeprefix('anylight.')}.{self.name}"


def declared(rooms: tuple[str, ...] = ROOMS) -> list[Declared]:
    """All module constants with a number in them, room by room."""
    found = []
    for room in rooms:
        place = SOURCE / "anylight" / room
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            found += _of_file(path)
    return found


def _of_file(path: Path) -> list[Declared]:
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    body = ast.parse(path.read_text(encoding="utf-8")).body
    found = []
    for statement, following in zip(body, [*body[1:], ast.Pass()], strict=True):
        if not isinstance(statement, ast.Assign) or not _has_number(statement.value):
            continue
        text = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            text = " ".join(str(following.value.value).split())
        ending = _ENDING.search(text)
        names = ", ".join(ast.unparse(target) for target in statement.targets)
        found.append(
            Declared(
                module=module,
                name=names,
                value=ast.unparse(statement.value),
                text=text[: ending.start()].strip() if ending else text,
                unit=(ending["unit"] or "") if ending else "",
                kind=(ending["kind"] or "") if ending else "",
            )
        )
    return found


def _has_number(node: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, int | float)
        and not isinstance(part.value, bool)
        for part in ast.walk(node)
    )

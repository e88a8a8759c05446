"""Make docs/api.md from the docstrings of all public names: `make api`."""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import anylight

PAGE = Path(__file__).with_name("api.md")
STUB = Path(anylight.__file__).with_suffix(".pyi")
_HEAD = """# Public names

Everything here is `anylight.NAME`. This page is made from the docstrings by `make api`; the names
are listed once, in `src/anylight/__init__.pyi`.

**What stays.** A name on this page keeps its meaning within a minor version. One that has to go
warns for a whole minor version first, and the [changelog](../CHANGELOG.md) says what to use
instead. Whatever is not on this page may change at any time. Paths may be strings.
"""


def groups() -> dict[str, list[tuple[str, str]]]:
    """Public names by subject, each with its module, in the order of the list."""
    found: dict[str, list[tuple[str, str]]] = {}
    subject = ""
    for line in STUB.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            subject = line[2:]
        match = re.match(r"from (\S+) import (\w+) as", line)
        if match:
            found.setdefault(subject, []).append((match[1], match[2]))
    return found


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for subject, names in groups().items():
        parts.append(f"## {subject}\n")
        parts += [entry(name, getattr(importlib.import_module(m), name)) for m, name in names]
    return "\n".join(parts)


def entry(name: str, thing: Any) -> str:
    """One name."""
    parts = [f"### `{name}`\n", f"```\n{name}{signature(thing)}\n```\n"]
    parts.append(prose(inspect.getdoc(thing) or ""))
    if inspect.isclass(thing):
        parts += members(thing)
    return "\n".join(parts)


def signature(thing: Any) -> str:
    """How it is called, defaults included; types are in the source."""
    if inspect.isclass(thing) and (issubclass(thing, Exception) or hasattr(thing, "__members__")):
        return ""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    shown = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_plain(parameter.default))
        for parameter in found.parameters.values()
    ]
    return re.sub(r"'<(\w+)>'", r"\1", str(inspect.Signature(shown)))


class _Factory:
    def __repr__(self) -> str:
        return "..."


def _plain(default: Any) -> Any:
    """Defaults that have no short form are left out."""
    if default is inspect.Parameter.empty or isinstance(default, str | int | float | tuple | None):
        return default
    return _Factory()


def prose(text: str) -> str:
    """A docstring as Markdown: arguments become a list."""
    lines, listed = [], False
    for line in text.splitlines():
        if line in ("Args:", "Raises:"):
            listed = True
            lines.append(f"*{line[:-1]}*\n")
        elif listed and re.match(r" {4}\S", line):
            name, _, rest = line.strip().partition(": ")
            lines.append(f"- `{name}`: {rest}")
        elif listed and line.startswith("        "):
            lines.append(f"  {line.strip()}")
        else:
            listed = listed and not line.strip()
            lines.append(line)
    return "\n".join(lines).rstrip() + "\n"


def members(kind: type) -> list[str]:
    """Fields with what is said under them, and public methods with their first line."""
    fields = field_docs(kind)
    lines = [f"- `{name}`{f': {text}' if text else ''}" for name, text in fields.items()]
    for name, value in vars(kind).items():
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        first = (inspect.getdoc(function) or "").splitlines()
        called = "" if isinstance(value, property) else "()"
        lines.append(f"- `{name}{called}`: {first[0] if first else ''}")
    return ["\n".join(lines) + "\n"] if lines else []


def field_docs(kind: type) -> dict[str, str]:
    """Fields of a class and of those it is made of, with the strings under them."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if not one.__module__.startswith("anylight"):
            continue
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(body, ast.ClassDef)
        for statement, following in zip(body.body, [*body.body[1:], ast.Pass()], strict=True):
            text = ""
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                text = " ".join(str(following.value.value).split())
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                found[statement.target.id] = text
            elif isinstance(statement, ast.Assign) and hasattr(kind, "__members__"):
                found[ast.unparse(statement.targets[0])] = ast.literal_eval(statement.value)
    return {name: text for name, text in found.items() if not name.startswith("_")}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

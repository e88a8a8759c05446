"""Uncalibrated photometric stereo under general lighting.

Photos of one object, from one viewpoint, under any unknown light in; a real 3-D surface with its
colours and the light of every photo out. The public names stand in `__init__.pyi`, once; each is
loaded when it is first used.
"""

import ast
import logging
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0.dev0"

for _name in ("numba", "trimesh"):
    # Who listens at DEBUG wants to hear us, not the compiler's 90 000 lines.
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.WARNING)


@cache
def _homes() -> dict[str, str]:
    """The module of every public name."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in imports for alias in line.names}


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in _homes():
        raise AttributeError(f"module 'anylight' has no attribute '{name}'")
    return getattr(import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_homes()]

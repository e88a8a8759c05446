"""Every compiled kernel has a twin or an oracle in the tests: this lists those that have none."""

import ast
import importlib
import pkgutil
from pathlib import Path

from numba.core.dispatcher import Dispatcher

import anylight.kernels
import anylight.linalg
import anylight.synth

TESTS = Path(__file__).parents[1]


def compiled() -> set[str]:
    """Everything that numba compiles, by the place of its source."""
    found = set()
    for package in (anylight.kernels, anylight.linalg, anylight.synth):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                compiled = getattr(value, "compiled", value)
                if isinstance(compiled, Dispatcher):
                    source = compiled.py_func
                    found.add(f"{source.__module__}.{source.__name__}".removeprefix("anylight."))
    return found


def compared() -> set[str]:
    """Names that a test marks as what it compares with a twin or an oracle."""
    found = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "twin"
            ):
                found |= {part.value for part in node.args if isinstance(part, ast.Constant)}
    return found


def test_no_kernel_is_without_a_twin():
    assert sorted(compiled() - compared()) == []


def test_no_twin_is_without_its_kernel():
    assert sorted(compared() - compiled()) == []

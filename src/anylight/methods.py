"""All methods by name: ours, the published one, competitors, and those of other packages.

Another package adds one by an entry point in the group `anylight.methods` that names a `Method`.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import msgspec

from anylight.baselines.method import FAVARO, MO, PENG, WOODHAM
from anylight.errors import InvalidInputError
from anylight.joint.method import DEFAULT
from anylight.model.method import Method
from anylight.paper.method import PAPER

GROUP = "anylight.methods"
"""Entry points of other packages."""
BUILT_IN: tuple[Method[Any], ...] = (DEFAULT, PAPER, FAVARO, PENG, MO, WOODHAM)
_ALIASES = {"ours": DEFAULT.name}
RESERVED = (
    "method", "preset", "init", "use", "threads",
    "photos", "mask", "K", "camera", "transfer", "depth", "start", "lights", "exposures",
)  # fmt: skip
"""Words of a run and of a capture that no option of a method may have for a name."""


@cache
def _loaded() -> tuple[dict[str, Method[Any]], dict[str, str]]:
    """Methods by name, and why others could not be loaded."""
    methods: dict[str, Method[Any]] = {method.name: method for method in BUILT_IN}
    broken: dict[str, str] = {}
    for entry in entry_points(group=GROUP):
        try:
            method = entry.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001  another package may raise anything
            broken[entry.name] = " ".join(f"{type(error).__name__}: {error}".split())
            continue
        fault = _fault(method, methods)
        if fault:
            broken[getattr(method, "name", None) or entry.name] = fault
        else:
            methods[method.name] = method
    return methods, broken


def _fault(method: Any, others: Mapping[str, Method[Any]]) -> str:
    """What keeps a method from being used; empty if nothing does."""
    if not isinstance(method, Method):
        return "it is not an anylight.Method"
    if not re.fullmatch(r"[a-z]\w*", method.name):
        return "its name must be small letters, digits and underscores"
    if method.name in others or method.name in _ALIASES:
        return f"a method called {method.name} is there already"
    try:
        fields = msgspec.structs.fields(method.options)
        method.options()
    except Exception as error:  # noqa: BLE001  annotations that cannot be resolved, no defaults
        reason = " ".join(str(error).split())
        return f"its options must be a msgspec.Struct whose fields have defaults ({reason})"
    taken = [field.name for field in fields if field.name in RESERVED]
    return f"its option {taken[0]} has a meaning of its own; call it otherwise" if taken else ""


def registered() -> Mapping[str, Method[Any]]:
    """All methods that can be used, ours first."""
    return _loaded()[0]


def is_registered(name: str) -> bool:
    """Whether a word names a method."""
    return _ALIASES.get(name, name) in registered()


def method_named(name: str) -> Method[Any]:
    """Find a method by its name.

    Raises:
        InvalidInputError: there is none; the sentence lists those there are.
    """
    methods, broken = _loaded()
    name = _ALIASES.get(name, name)
    if name in methods:
        return methods[name]
    if name in broken:
        raise InvalidInputError(f"the method {name} cannot be loaded: {broken[name]}.")
    raise InvalidInputError(f"there is no method called {name}; there are {', '.join(methods)}.")

"""All methods by name: ours, the published one, competitors, and those of other packages.

Another package adds one by an entry point in the group `anylight.methods` that names a `Method`.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from anylight.baselines.method import FAVARO, MO, PENG, WOODHAM
from anylight.errors import InvalidInputError
from anylight.joint.method import DEFAULT
from anylight.model.method import Method
from anylight.paper.method import PAPER

GROUP = "anylight.methods"
"""Entry points of other packages."""
BUILT_IN: tuple[Method[Any], ...] = (DEFAULT, PAPER, FAVARO, PENG, MO, WOODHAM)
_ALIASES = {"ours": DEFAULT.name}


@cache
def _loaded() -> tuple[dict[str, Method[Any]], dict[str, str]]:
    """Methods by name, and why others could not be loaded."""
    methods: dict[str, Method[Any]] = {method.name: method for method in BUILT_IN}
    broken: dict[str, str] = {}
    for entry in entry_points(group=GROUP):
        try:
            method = entry.load()
        except Exception as error:  # noqa: BLE001  another package's import may raise anything
            broken[entry.name] = " ".join(f"{type(error).__name__}: {error}".split())
            continue
        if not isinstance(method, Method):
            broken[entry.name] = "it is not an anylight.Method"
        elif method.name in methods:
            broken[entry.name] = f"a method called {method.name} is there already"
        else:
            methods[method.name] = method
    return methods, broken


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

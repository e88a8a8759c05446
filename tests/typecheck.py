"""The run-time type checker of the test suite: an int may stand for a float, as in PEP 484.

Half of the time of a small solve would go into checking the same shapes again. So every function is
checked once for every combination of types, shapes and words that enters it, and once for every one
that leaves it then.
"""

from enum import Enum
from functools import cache, partial, wraps
from types import FunctionType

import jaxtyping
import numpy as np
from beartype import BeartypeConf, beartype
from jaxtyping import _decorator, config

checker = beartype(conf=BeartypeConf(is_pep484_tower=True))
_plain = _decorator.jaxtyped


def kind(value):
    """All that a check can depend on."""
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape
    if value is None or isinstance(value, str | Enum | type):
        return value
    if isinstance(value, tuple | list):
        return type(value), *map(kind, value)
    if isinstance(value, dict):
        return dict, *((kind(key), kind(entry)) for key, entry in value.items())
    return type(value)


def once(function, typechecker):
    """Check a function once for every kind of arguments and results."""
    seen = {}

    @cache
    def checked():  # made when it is called first: most functions never are
        return _plain(function, typechecker=typechecker)

    @wraps(function)
    def call(*arguments, **named):
        __tracebackhide__ = True
        if config.jaxtyping_disable:
            return function(*arguments, **named)
        key = (kind(arguments), kind(named))
        if key not in seen:
            result = checked()(*arguments, **named)
            seen[key] = {kind(result)}
            return result
        result = function(*arguments, **named)
        found = kind(result)
        if found not in seen[key]:
            again = wraps(function)(lambda *_, **__: result)
            _plain(again, typechecker=typechecker)(*arguments, **named)
            seen[key].add(found)
        return result

    return call


def jaxtyped(function=None, *, typechecker=None):
    """Stand in for jaxtyping's own decorator, from the first import of this module on."""
    if function is None:
        return partial(jaxtyped, typechecker=typechecker)
    if typechecker is None or not isinstance(function, FunctionType):
        return _plain(function, typechecker=typechecker)
    return once(function, typechecker)


jaxtyping.jaxtyped = _decorator.jaxtyped = jaxtyped

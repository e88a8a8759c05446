"""The viewer's modules as files, and joined to one script for a page that stands alone."""

import re
from importlib.resources import files

MODULES = ("shaders.js", "surface.js", "pose.js", "drawing.js", "ball.js", "gestures.js", "view.js")
"""In the order in which they use each other: a module imports only from those before it."""

_IMPORT = re.compile(r"^import \{[^}]*\} from \"[^\"]*\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def module(name: str) -> str:
    """Source of a module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def joined(last: str) -> str:
    """One script of all modules and a last part that uses them, as if they were one file.

    Top-level names of the modules are different from each other, so that imports and exports can
    simply be left out.
    """
    sources = [*(module(name) for name in MODULES), last]
    plain = [_EXPORT.sub("", _IMPORT.sub("", source)) for source in sources]
    return '"use strict";\n(function () {\n' + "\n".join(plain) + "})();\n"

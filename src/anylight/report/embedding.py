"""Pictures, numbers and words as a page can hold them without a file beside it."""

import base64
import hashlib
import html
import json
import re

import numpy as np
from jaxtyping import Shaped

from anylight.io.images import jpeg_bytes, png_bytes
from anylight.pictures import Sheet

LONGEST_TEXT = 2000
"""Words from outside are cut after so many letters."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_FOR_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def jpeg(picture: Sheet, quality: int) -> str:
    """A picture as the address of a JPEG."""
    return f"data:image/jpeg;base64,{_text(jpeg_bytes(picture, quality))}"


def png(picture: Sheet) -> str:
    """A picture as the address of a PNG, for values that must not be blurred."""
    return f"data:image/png;base64,{_text(png_bytes(picture))}"


def numbers(array: Shaped[np.ndarray, "..."]) -> str:
    """The bytes of an array, little-endian, in base64."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return _text(little.tobytes())


def words(text: object) -> str:
    """Any text as HTML that shows it and does nothing else, in element or attribute."""
    shown = _CONTROL.sub("\ufffd", str(text))
    if len(shown) > LONGEST_TEXT:
        shown = shown[:LONGEST_TEXT] + "…"
    return html.escape(shown, quote=True)


def data_block(value: object) -> str:
    """JSON that cannot end the script element it stands in; all letters are ASCII."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_FOR_HTML)


def source_hash(source: str) -> str:
    """Name an inline script or style to a content security policy."""
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")

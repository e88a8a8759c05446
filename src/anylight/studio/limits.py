"""What reading photos may use."""

import os

from .child import Limits

_SECONDS = 600.0
_LEAST, _SHARE = 4 * 2**30, 0.8
"""Bytes, and the share of this computer's memory."""


def reading_limits() -> Limits:
    """Limits for decoding files that somebody sent."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return Limits(None, _SECONDS)
    return Limits(max(_LEAST, int(_SHARE * memory)), _SECONDS)

"""What the doctor says about a capture or a result: an observation and its remedy."""

from collections.abc import Iterable
from typing import Literal

import msgspec

Severity = Literal["good", "note", "warning", "problem"]


class Finding(msgspec.Struct, frozen=True):
    """One observation in one sentence, and what to do about it."""

    severity: Severity
    topic: str
    """A word or two: photos, gamma, clipping, movement, lights, camera, memory …"""
    text: str
    remedy: str = ""
    """What to do; empty when there is nothing to do."""


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Problems, then warnings, notes, and what is good; each in the order given."""
    order = ("problem", "warning", "note", "good")
    return tuple(sorted(findings, key=lambda finding: order.index(finding.severity)))

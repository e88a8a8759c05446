"""The parameter studies as curves: SVG, made from saved cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import log10

from .catalogue import label_of
from .store import Record
from .tables import error_of

_WIDTH, _HEIGHT, _MARGIN = 560, 360, 54
_COLOURS = ("#0b6e99", "#c4473a", "#5a8f29", "#8a5fb0", "#b8860b", "#444444", "#d16ba5", "#2a9d8f")


@dataclass(frozen=True)
class Axis:
    """One axis of a figure."""

    title: str
    is_log: bool = False


def study_figure(records: Sequence[Record], study: str, x: Axis, y: Axis, number: str) -> str:
    """Curves of a study, one per data set and method.

    Args:
        records: saved cells.
        study: its name.
        x: what it varies.
        y: what is drawn.
        number: "mae_deg" or another metric, or "seconds".
    """
    curves: dict[str, list[tuple[float, float]]] = {}
    methods = {record["method"] for record in records if record.get("study") == study}
    for record in records:
        if record.get("study") != study or record.get("value") is None:
            continue
        value = record.get("seconds") if number == "seconds" else error_of(record, number)
        if value is None:
            continue
        name = record["scene"].replace("_", " & ")
        if len(methods) > 1:
            name += f", {label_of(record['method'])}"
        curves.setdefault(name, []).append((float(record["value"]), float(value)))
    return _drawn({name: sorted(points) for name, points in curves.items()}, x, y)


def _drawn(curves: dict[str, list[tuple[float, float]]], x: Axis, y: Axis) -> str:
    points = [point for curve in curves.values() for point in curve]
    if not points:
        return ""
    place_x, ticks_x = _scale([p[0] for p in points], x, _MARGIN, _WIDTH - 14)
    place_y, ticks_y = _scale([p[1] for p in points] + [0.0] * (not y.is_log), y,
                              _HEIGHT - _MARGIN, 14)  # fmt: skip
    legend = 16 * len(curves)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT + legend}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT + legend}" fill="white"/>',
    ]
    for tick in ticks_x:
        at = place_x(tick)
        parts.append(
            f'<line x1="{at:.1f}" y1="14" x2="{at:.1f}" y2="{_HEIGHT - _MARGIN}" stroke="#ddd"/>'
        )
        parts.append(
            f'<text x="{at:.1f}" y="{_HEIGHT - _MARGIN + 16}" text-anchor="middle">{tick:g}</text>'
        )
    for tick in ticks_y:
        at = place_y(tick)
        parts.append(
            f'<line x1="{_MARGIN}" y1="{at:.1f}" x2="{_WIDTH - 14}" y2="{at:.1f}" stroke="#ddd"/>'
        )
        parts.append(f'<text x="{_MARGIN - 6}" y="{at + 4:.1f}" text-anchor="end">{tick:g}</text>')
    parts.append(
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 16}" text-anchor="middle">{escape(x.title)}</text>'
    )
    parts.append(
        f'<text x="14" y="{_HEIGHT / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {_HEIGHT / 2})">{escape(y.title)}</text>'
    )
    for index, (name, curve) in enumerate(curves.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        path = " ".join(f"{place_x(a):.1f},{place_y(b):.1f}" for a, b in curve)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{place_x(a):.1f}" cy="{place_y(b):.1f}" r="3" fill="{colour}"/>'
            for a, b in curve
        ]
        row = _HEIGHT + 16 * index + 4
        parts.append(f'<rect x="{_MARGIN}" y="{row - 8}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{_MARGIN + 20}" y="{row - 2}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _scale(values, axis: Axis, low: float, high: float):  # type: ignore[no-untyped-def]
    """A function from values to places, and where to put ticks."""
    shown = [log10(max(v, 1e-12)) for v in values] if axis.is_log else list(values)
    least, most = min(shown), max(shown)
    span = (most - least) or 1.0

    def place(value: float) -> float:
        at = log10(max(value, 1e-12)) if axis.is_log else value
        return low + (at - least) / span * (high - low)

    if axis.is_log:
        return place, sorted(set(values))
    step = 10 ** int(log10(span / 2)) if span > 2 else 0.1
    while span / step > 8:
        step *= 2 if str(step)[0] != "2" else 2.5
    first = int(least / step)
    return place, [k * step for k in range(first, int(most / step) + 1)]

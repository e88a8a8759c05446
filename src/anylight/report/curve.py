"""The energy of every step as a curve, logarithmic, stage by stage."""

import math
from collections.abc import Callable
from itertools import groupby

from .embedding import words

_WIDTH, _HEIGHT = 960, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 14, 30, 34
_NARROWEST_LABEL = 16

Place = Callable[[int, float], tuple[float, float]]
"""Where a step and the logarithm of its energy are drawn."""


def energy_curve(energies: tuple[tuple[str, float], ...]) -> str:
    """Draw an SVG and list its stages; empty where there is nothing to draw."""
    steps = [(label, energy) for label, energy in energies if math.isfinite(energy) and energy > 0]
    if not steps:
        return ""
    logs = [math.log10(energy) for _, energy in steps]
    low, high = min(logs), max(logs)
    margin = max(0.05 * (high - low), 0.02)
    low, high = low - margin, high + margin
    across = (_WIDTH - _LEFT - _RIGHT) / max(len(steps), 1)

    def place(step: int, log: float) -> tuple[float, float]:
        share = (high - log) / (high - low)
        return _LEFT + (step + 0.5) * across, _TOP + share * (_HEIGHT - _TOP - _BOTTOM)

    bands, lines, rows = [], [], []
    stages = groupby(range(len(steps)), key=lambda step: steps[step][0])
    for number, (label, members) in enumerate(stages, start=1):
        own = list(members)
        band = _LEFT + own[0] * across, len(own) * across
        last = steps[own[-1]][1]
        bands.append(_stage(number, label, band))
        points = [place(step, logs[step]) for step in own]
        lines.append(
            f'<polyline class="line" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
        )
        if len(steps) <= 200:
            lines += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in points]
        rows.append(
            f"<tr><td>{number}</td><td>{words(label)}</td><td>{len(own)}</td>"
            f"<td>{steps[own[0]][1]:.4g}</td><td>{last:.4g}</td></tr>"
        )
    drawn = [*bands, *_grid(low, high, place), *_axis(len(steps)), *lines]
    return (
        f'<svg class="curve" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="Energy per pixel over {len(steps)} steps, from {steps[0][1]:.4g} to '
        f'{steps[-1][1]:.4g}">{"".join(drawn)}</svg>'
        '<details><summary>Stages</summary><div class="wide"><table><thead><tr><th>no.</th>'
        "<th>stage</th><th>steps</th><th>first energy</th><th>last energy</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def _stage(number: int, label: str, band: tuple[float, float]) -> str:
    left, width = band
    shade = "even" if number % 2 == 0 else "odd"
    text = ""
    if width >= _NARROWEST_LABEL:
        text = (
            f'<text class="number" x="{left + width / 2:.1f}" y="{_TOP - 10}" '
            f'text-anchor="middle">{number}</text>'
        )
    return (
        f'<g><title>{number}. {words(label)}</title><rect class="{shade}" x="{left:.1f}" '
        f'y="{_TOP}" width="{width:.1f}" height="{_HEIGHT - _TOP - _BOTTOM}"/>{text}</g>'
    )


def _grid(low: float, high: float, place: Place) -> list[str]:
    """Horizontal lines at round numbers, four to nine of them."""
    decades = high - low
    if decades > 3:
        every = math.ceil(decades / 8)
        values = [10.0**power for power in range(math.ceil(low), math.floor(high) + 1, every)]
    else:
        span = 10**high - 10**low
        unit = 10 ** math.floor(math.log10(span))
        mantissas = (1, 2, 5) if decades > 0.8 else ()
        values = [
            mantissa * 10.0**power
            for power in range(math.floor(low), math.ceil(high) + 1)
            for mantissa in mantissas
        ] or [unit / 2 * count for count in range(math.ceil(2 * 10**high / unit) + 1)]
    lines = []
    for value in values:
        if value <= 0 or not low <= math.log10(value) <= high:
            continue
        _, y = place(0, math.log10(value))
        lines.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>'
        )
    return lines


def _axis(count: int) -> list[str]:
    y = _HEIGHT - _BOTTOM + 22
    return [
        f'<text x="{_LEFT}" y="{y}">first step</text>',
        f'<text x="{_WIDTH - _RIGHT}" y="{y}" text-anchor="end">step {count}</text>',
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{y}" text-anchor="middle">'
        "energy per pixel (logarithmic), numbered by stage</text>",
    ]

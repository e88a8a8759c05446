"""docs/constants.md from docs/results/constants.json: what halving and doubling a number does."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from studies.constants import (
    BASE,
    BY_SIZE,
    LARGE,
    SCENES,
    SHADOW_SCENES,
    scenes_for,
    tuned,
)
from studies.declared import KINDS, Declared, declared

Row = dict[str, Any]
OWN = {
    "joint.paint.faintest": ("lighting_error", "light", 3),
    "joint.paint": ("albedo_rmse", "albedo", 3),
    "joint.explanation._SPANS": ("albedo_rmse", "albedo", 3),
    "integration.jumps": ("mae_fd_deg", "normals of the depth", 2),
}
"""Rooms that do not touch the normals are judged by what they are there for."""
MUCH_DEG, NOTHING_DEG = 0.1, 0.005
"""Change of the mean error from which a number matters much, and below which it does nothing."""
MUCH_WITH_FICKLE_DEG = 0.5
"""The same with the scene that any change moves."""
FICKLE = "vase, long lens"
"""A scene whose tilt and relief the photos hardly decide: any change moves it."""
MUCH_SHARE = 0.05
"""The same for the rooms' own measures, relative to them."""


def _mean(rows: Iterable[Row], metric: str) -> float:
    """Mean over the scenes that have this number: light is compared in colour only."""
    return float(np.mean([row[metric] for row in rows if row[metric] is not None]))


def round_of(row: Row) -> int:
    """Which version of the solver was measured."""
    return int(row.get("round", 1))


class Effects:
    """Measured changes of the mean over all scenes."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self.base = {
            metric: _mean(self._of(BASE, BASE), metric)
            for metric in ("mae_deg", "mae_fd_deg", "albedo_rmse", "lighting_error")
        }

    def _of(self, key: str, change: str) -> list[Row]:
        found = [row for row in self._rows if row["key"] == key and row["change"] == change]
        found = [row for row in found if row["scene"] in scenes_for(key)]
        return [row for row in found if round_of(row) == max(map(round_of, found))]

    def change(
        self, key: str, metric: str, scenes: Iterable[str] | None = None
    ) -> tuple[float, float]:
        """Change of the mean over scenes when the number is halved, and when it is doubled."""
        chosen = tuple(scenes_for(key) if scenes is None else scenes)
        known = [row for row in self._rows if row["scene"] in chosen]
        own = [row for row in known if row["key"] == key]
        version = max((round_of(row) for row in own), default=1)
        as_is = [row for row in known if row["key"] == BASE and round_of(row) == version]
        base = _mean(as_is, metric)
        halved, doubled = (
            _mean([row for row in own if row["change"] == change], metric) - base
            for change in ("halved", "doubled")
        )
        return halved, doubled

    def tried(self, key: str) -> tuple[Any, Any]:
        """Values that were tried."""
        halved, doubled = (self._of(key, change)[0]["value"] for change in ("halved", "doubled"))
        return halved, doubled

    def matters_much(self, key: str) -> bool:
        """Whether a number is worth a warning."""
        own = _own(key)
        steady = self.change(key, "mae_deg", set(scenes_for(key)) - {FICKLE})
        much = max(map(abs, steady)) >= MUCH_DEG
        much |= max(map(abs, self.change(key, "mae_deg"))) >= MUCH_WITH_FICKLE_DEG
        if own is None:
            return much
        share = max(map(abs, self.change(key, own[0]))) / self.base[own[0]]
        return much or share >= MUCH_SHARE


def _own(key: str) -> tuple[str, str, int] | None:
    return next((found for room, found in OWN.items() if f"{key}.".startswith(f"{room}.")), None)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _line(constant: Declared, effects: Effects) -> str:
    halved, doubled = effects.change(constant.key, "mae_deg")
    steady = effects.change(constant.key, "mae_deg", set(scenes_for(constant.key)) - {FICKLE})
    own, extra = _own(constant.key), ""
    if constant.key in BY_SIZE:
        low, high = effects.change(constant.key, "mae_deg", (LARGE,))
        extra = f"{LARGE}: {low:+.2f} / {high:+.2f}"
    if own is not None:
        metric, words, digits = own
        low, high = effects.change(constant.key, metric)
        extra = f"{words} {low:+.{digits}f} / {high:+.{digits}f}"
    low, high = effects.tried(constant.key)
    name = f"**`{constant.name}`**" if effects.matters_much(constant.key) else f"`{constant.name}`"
    unit = "" if constant.unit == "option" else constant.unit
    return (
        f"| {name} | {constant.value} | {unit} | {constant.text} | "
        f"{_shown(low)}: {halved:+.2f} ({steady[0]:+.2f}) | "
        f"{_shown(high)}: {doubled:+.2f} ({steady[1]:+.2f}) | {extra} |"
    )


def scenes_table(rows: list[Row]) -> str:
    """What was measured on, as it is."""
    lines = ["| scene | normals | normals of the depth | albedo |", "|---|---|---|---|"]
    latest = {row["scene"]: row for row in sorted(rows, key=round_of) if row["key"] == BASE}
    lines += [
        f"| {row['scene']} | {row['mae_deg']:.2f}° | {row['mae_fd_deg']:.2f}° | "
        f"{row['albedo_rmse']:.3f} |"
        for row in latest.values()
    ]
    return "\n".join(lines)


def constants_table(rows: list[Row]) -> str:
    """Room by room."""
    effects = Effects(rows)
    lines = []
    modules = dict.fromkeys(constant.module for constant in tuned())
    for module in modules:
        place = module.removeprefix("anylight.").replace(".", "/")
        lines += ["", f"### `{place}.py`", ""]
        lines.append("| name | value | unit | what it means | halved | doubled | its own measure |")
        lines.append("|---|---|---|---|---|---|---|")
        lines += [_line(c, effects) for c in tuned() if c.module == module]
    return "\n".join(lines).strip()


def summary(rows: list[Row]) -> str:
    """Which numbers matter, which do not."""
    effects = Effects(rows)
    every = tuned()
    much = [c for c in every if effects.matters_much(c.key)]
    size = {c.key: max(map(abs, effects.change(c.key, "mae_deg"))) for c in every}
    much.sort(key=lambda c: -size[c.key])
    nothing = [c for c in every if size[c.key] < NOTHING_DEG and _own(c.key) is None]
    base = effects.base
    return "\n".join(
        [
            f"As it is, the mean error over the {len(SCENES)} scenes is {base['mae_deg']:.2f}° "
            f"(normals), {base['mae_fd_deg']:.2f}° (normals of the depth) and "
            f"{base['albedo_rmse']:.3f} (albedo). The rooms that know about cast shadows are "
            f"measured on {len(SHADOW_SCENES)} scene that has them; all others run without that "
            "phase.",
            "",
            f"**{len(much)} of {len(every)} numbers matter much** (by {MUCH_DEG:g}° or more "
            f"without the long lens's scene, {MUCH_WITH_FICKLE_DEG:g}° with it, or "
            f"{100 * MUCH_SHARE:g} % of the room's own measure): "
            + ", ".join(f"`{c.key}` ({size[c.key]:.2f}°)" for c in much)
            + ".",
            "",
            f"{len(nothing)} change the mean error by less than {NOTHING_DEG:g}° either way; they "
            "bound work (steps, samples, tolerances) or belong to conditions that these scenes "
            "hardly have: " + ", ".join(f"`{c.key}`" for c in nothing) + ".",
        ]
    )


def untuned_table() -> str:
    """Numbers that are not tuned, by the reason why."""
    lines = ["| why | numbers |", "|---|---|"]
    for kind in KINDS:
        own = [f"`{c.key}` = {c.value}" for c in declared() if c.kind == kind]
        lines.append(f"| {kind} | {', '.join(own)} |")
    return "\n".join(lines)

"""Tables about cast shadows for docs/method.md."""

from itertools import pairwise

import numpy as np
from studies.rows import Row, select

_GAUGE = ("tilt_u_deg", "tilt_v_deg", "relief_deg")


def shadow_table(rows: list[Row]) -> str:
    """Scenes with cast shadows: with and without the phase that explains them."""
    lines = [
        "| shape | paint | without | with | darkest quarter | most open quarter | "
        "confidence against error |",
        "|---|---|---|---|---|---|---|",
    ]
    before, after = [], []
    for row in (r for name in ("shadows", "further") for r in select(rows, set=name, mode="auto")):
        off = select(rows, set=row["set"], shape=row["shape"], albedo=row["albedo"], mode="off")
        old = f"{off[0]['mae_deg']:.1f}" if off else "–"
        parts = row["by_openness"]
        dark, bright = (f"{parts[k][1]:.1f}" for k in (0, -1)) if parts else ("–", "–")
        name = row["shape"].replace("_", " ") + (" *" if row["set"] == "further" else "")
        lines.append(
            f"| {name} | {row['albedo']} | {old} | {row['mae_deg']:.1f} | {dark} | {bright} | "
            f"{row['rank']:.2f} |"
        )
        if row["set"] == "shadows":
            after.append(row["mae_deg"])
            before += [cell["mae_deg"] for cell in off]
    mean = f"{np.mean(before):.1f}" if len(before) == len(after) else "–"
    lines.append(f"| mean of the six | | {mean} | {np.mean(after):.1f} | | | |")
    return "\n".join(lines)


def shadow_classes(rows: list[Row]) -> str:
    """What confidence was stated, and what error it had."""
    cells = select(rows, set="shadows", mode="auto") + select(rows, set="none", mode="auto")
    pairs = np.array([pair for row in cells for pair in row["classes"]])
    edges = np.linspace(0, 1, 6)
    lines = ["| stated confidence | classes of pixels | mean error |", "|---|---|---|"]
    for low, high in pairwise(edges):
        own = pairs[(pairs[:, 0] >= low) & (pairs[:, 0] < high + (high == 1))]
        if len(own):
            lines.append(f"| {low:.1f} to {high:.1f} | {len(own)} | {own[:, 1].mean():.1f}° |")
    sure = pairs[pairs[:, 0] > 0.7]
    worst = f"{sure[:, 1].max():.1f}" if len(sure) else "–"
    lines += ["", f"The worst class with a confidence above 0.7 is off by {worst} degrees."]
    return "\n".join(lines)


def shadow_others(rows: list[Row]) -> str:
    """Scenes without cast shadows, and photographs."""
    lines = ["| | without | with | verdict |", "|---|---|---|---|"]
    for row in [*select(rows, set="none", mode="auto"), *select(rows, set="real", mode="auto")]:
        off = select(rows, set=row["set"], shape=row["shape"], mode="off")
        explained = (row["shadows"] or {}).get("explained")
        old = off[0]["mae_deg"] if off else row["mae_deg"]
        words = "photograph" if row["set"] == "real" else "rendered without cast shadows"
        lines.append(
            f"| {row['shape']}, {words} | {old:.2f} | {row['mae_deg']:.2f} | "
            f"{'cast shadows' if explained else 'none'} |"
        )
    return "\n".join(lines)


def traced_table(rows: list[Row]) -> str:
    """Path-traced scenes: with light from one part of the object to another, and with gloss."""
    lines = [
        "| shape | paint | without | with | fell into a hole of the light, without | with |",
        "|---|---|---|---|---|---|",
    ]
    for name, words in (("traced", ""), ("gloss", ", clear coat")):
        before, after = [], []
        for row in select(rows, set=name, mode="auto"):
            key = {"set": name, "shape": row["shape"], "albedo": row["albedo"]}
            (off,) = select(rows, **key, mode="off")
            lines.append(
                f"| {row['shape']}{words} | {row['albedo']} | {off['mae_deg']:.1f} | "
                f"{row['mae_deg']:.1f} | {100 * off['collapsed']:.2f} % | "
                f"{100 * row['collapsed']:.2f} % |"
            )
            before.append(off["mae_deg"])
            after.append(row["mae_deg"])
        if after:
            lines.append(f"| mean{words} | | {np.mean(before):.1f} | {np.mean(after):.1f} | | |")
    return "\n".join(lines)


def play_line(rows: list[Row]) -> str:
    """Stated against true play of tilt and relief."""
    cells = [row for row in rows if row["mode"] == "auto" and row.get("true_gauge")]
    ratios = np.array(
        [abs(row["true_gauge"][name]) / row["gauge"][name] for row in cells for name in _GAUGE]
    )
    return (
        f"Stated play of tilt (two axes) and relief against their true error, {len(cells)} scenes "
        f"and photographs: {100 * (ratios < 1).mean():.0f} % lie within one stated standard "
        f"deviation, {100 * (ratios < 2).mean():.0f} % within two."
    )

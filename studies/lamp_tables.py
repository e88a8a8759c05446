"""Tables about near and hard lamps for docs/method.md."""

import numpy as np
from studies.rows import Row


def near_table(rows: list[Row]) -> str:
    """Lamps at two object sizes."""
    lines = [
        "| shape | lamps far away | near, taken for far | near | found at |",
        "|---|---|---|---|---|",
    ]
    own = [row for row in rows if row["set"] == "near"]
    for row in own:
        distance = row["lamp_distance"]
        found = "not found" if distance is None else f"{distance:g} sizes"
        lines.append(
            f"| {row['shape']} | {row['far_deg']:.1f} | {row['ignored_deg']:.1f} | "
            f"{row['mae_deg']:.1f} | {found} |"
        )
    means = [np.mean([row[name] for row in own]) for name in ("far_deg", "ignored_deg", "mae_deg")]
    lines.append("| mean | " + " | ".join(f"{mean:.1f}" for mean in means) + " | |")
    return "\n".join(lines)


def hard_table(rows: list[Row]) -> str:
    """Photographs with one lamp each."""
    lines = [
        "| photographs with one lamp each | without the phase | with it |",
        "|---|---|---|",
    ]
    own = [row for row in rows if row["set"] == "one lamp"]
    lines += [
        f"| {row['shape']}, {row['photos']} photos | {row['off_deg']:.1f} | {row['mae_deg']:.1f} |"
        for row in own
    ]
    off, on = (np.mean([row[name] for row in own]) for name in ("off_deg", "mae_deg"))
    lines.append(f"| mean | {off:.1f} | {on:.1f} |")
    return "\n".join(lines)

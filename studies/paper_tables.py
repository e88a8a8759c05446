"""Tables and figures about the published method for docs/paper.md."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from studies.rows import Row, select, values

mpl.use("Agg")
import matplotlib.pyplot as plt

ALBEDOS = ("white", "voronoi", "bars", "natural")


def volume_table(rows: list[Row], metric: str) -> str:
    """Error of every shape and albedo at every volume, the best volume per shape in bold."""
    table = select(rows, study="volume")
    volumes = sorted(values(table, "volume"))
    lines = ["| shape | albedo | " + " | ".join(f"{v:g}" for v in volumes) + " |"]
    lines.append("|---|---|" + "---|" * len(volumes))
    best_errors = []
    for shape in values(table, "shape"):
        albedos = [a for a in values(select(table, shape=shape), "albedo") if a in ALBEDOS]
        grid = np.array(
            [
                [select(table, shape=shape, albedo=a, volume=v)[0][metric] for v in volumes]
                for a in albedos
            ]
        )
        best = int(grid.mean(axis=0).argmin())
        best_errors += list(grid[:, best])
        for albedo, errors in zip([*albedos, "mean"], [*grid, grid.mean(axis=0)], strict=True):
            cells = [f"**{e:.1f}**" if i == best else f"{e:.1f}" for i, e in enumerate(errors)]
            lines.append(f"| {shape} | {albedo} | " + " | ".join(cells) + " |")
    lines.append("")
    lines.append(
        f"Best volume per shape: mean **{np.mean(best_errors):.2f}°**, median "
        f"{np.median(best_errors):.2f}°, largest {np.max(best_errors):.2f}° over "
        f"{len(best_errors)} sets."
    )
    return "\n".join(lines)


def study_figure(rows: list[Row], study: str, axis: str, label: str, path: Path) -> None:
    """Error of the four pairs against one parameter."""
    fig, plot = plt.subplots(figsize=(5.2, 3.4))
    pairs = dict.fromkeys((r["shape"], r["albedo"]) for r in select(rows, study="constant"))
    for shape, albedo in pairs:
        cells = sorted(select(rows, study=study, shape=shape, albedo=albedo), key=lambda r: r[axis])
        plot.plot(
            [c[axis] for c in cells],
            [c["mae_fd_deg"] for c in cells],
            marker="o",
            label=f"{shape} & {albedo}",
        )
    if axis != "photos":
        ticks = sorted({row[axis] for row in select(rows, study=study)})
        plot.set_xscale("log")
        plot.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        plot.minorticks_off()
    plot.set_xlabel(label)
    plot.set_ylabel("mean angular error (degrees)")
    plot.set_ylim(bottom=0)
    plot.grid(alpha=0.3)
    plot.legend(fontsize=8)
    fig.tight_layout()
    fig.savefig(path, dpi=90, metadata={"Software": None})
    plt.close(fig)


def constant_table(rows: list[Row]) -> str:
    """The negative example: a constant start against the best balloon."""
    lines = ["| set | constant start | best balloon |", "|---|---|---|"]
    for row in select(rows, study="constant"):
        same = select(rows, study="volume", shape=row["shape"], albedo=row["albedo"])
        best = min(cell["mae_fd_deg"] for cell in same)
        lines.append(f"| {row['shape']} & {row['albedo']} | {row['mae_fd_deg']:.1f} | {best:.1f} |")
    return "\n".join(lines)


def variant_table(rows: list[Row]) -> str:
    """One number changed at a time."""
    table = select(rows, study="variant")
    shapes = values(table, "shape")
    lines = ["| change | " + " | ".join(f"{s} & white" for s in shapes) + " |"]
    lines.append("|---|" + "---|" * len(shapes))
    for name in values(table, "variant"):
        cells = [select(table, shape=s, variant=name)[0]["mae_fd_deg"] for s in shapes]
        lines.append(f"| {name} | " + " | ".join(f"{c:.1f}" for c in cells) + " |")
    return "\n".join(lines)

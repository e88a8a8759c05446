"""Tables about accuracy, parts, size and lenses for docs/method.md."""

import numpy as np
from studies.paper_tables import ALBEDOS
from studies.rows import Row, select, values


def best_paper(rows: list[Row], name: str) -> dict[str, list[Row]]:
    """Cells of the published method at the volume that suits each shape best."""
    table = select(rows, set=name, method="paper")
    best = {}
    for shape in values(table, "shape"):
        cells = select(table, shape=shape)
        means = {
            volume: np.mean([row["mae_deg"] for row in select(cells, volume=volume)])
            for volume in values(cells, "volume")
        }
        best[shape] = select(cells, volume=min(means, key=lambda volume: means[volume]))
    return best


def summary_table(rows: list[Row]) -> str:
    """Every set: number of scenes, mean, median and largest error, seconds."""
    lines = ["| set | method | scenes | mae mean | median | largest | fd mean | seconds |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for name in values(rows, "set"):
        groups = {"default": select(rows, set=name, method="default")}
        if name == "real":
            groups["paper, volume 0.15"] = select(rows, set=name, method="paper")
        else:
            best = best_paper(rows, name).values()
            groups["paper, best volume per shape"] = [row for cells in best for row in cells]
        for method, cells in groups.items():
            if not cells:
                continue
            errors = [row["mae_deg"] for row in cells]
            known = [row["mae_fd_deg"] for row in cells if row["mae_fd_deg"] is not None]
            depth = np.mean(known) if known else np.nan
            seconds = np.median([row["seconds"] for row in cells])
            lines.append(
                f"| {name} | {method} | {len(cells)} | {np.mean(errors):.2f} | "
                f"{np.median(errors):.2f} | {np.max(errors):.2f} | {depth:.2f} | {seconds:.0f} |"
            )
    return "\n".join(lines)


def scene_table(rows: list[Row]) -> str:
    """Set A, shape by albedo, beside the published method at its best volume."""
    table = select(rows, set="A", method="default")
    lines = ["| shape | " + " | ".join(ALBEDOS) + " | mean | paper |"]
    lines.append("|---|" + "---|" * (len(ALBEDOS) + 2))
    paper = best_paper(rows, "A")
    for shape in values(table, "shape"):
        errors = {row["albedo"]: row["mae_deg"] for row in select(table, shape=shape)}
        cells = [f"{errors[a]:.2f}" if a in errors else "–" for a in ALBEDOS]
        mean = f"{np.mean(list(errors.values())):.2f}"
        old = paper.get(shape)
        other = f"{np.mean([row['mae_deg'] for row in old]):.1f}" if old else "–"
        lines.append(f"| {shape} | " + " | ".join([*cells, mean, other]) + " |")
    return "\n".join(lines)


def real_table(rows: list[Row]) -> str:
    """Real photographs: the default, the published method, and how sure the default is."""
    table = select(rows, set="real")
    lines = ["| object | default | paper, volume 0.15 | play in tilt and relief, as measured |"]
    lines.append("|---|---|---|---|")
    for shape in values(table, "shape"):
        ours = select(table, shape=shape, method="default")[0]
        paper = select(table, shape=shape, method="paper")
        old = f"{paper[0]['mae_deg']:.1f}" if paper else "–"
        gauge = ours["gauge"]
        play = max(gauge[key] for key in ("tilt_u_deg", "tilt_v_deg", "relief_deg"))
        lines.append(f"| {shape} | {ours['mae_deg']:.1f} | {old} | {play:.0f}° |")
    return "\n".join(lines)


def ablation_table(rows: list[Row]) -> str:
    """Part after part: error and seconds on every scene."""
    scenes = [(name, shape) for name in values(rows, "set") for shape in values(rows, "shape")]
    lines = ["| | " + " | ".join(f"{name}: {shape}" for name, shape in scenes) + " |"]
    lines.append("|---|" + "---|" * len(scenes))
    for plan in values(rows, "plan"):
        cells = [select(rows, plan=plan, set=name, shape=shape)[0] for name, shape in scenes]
        shown = [f"{cell['mae_deg']:.2f} ({cell['seconds']:.0f})" for cell in cells]
        lines.append(f"| {plan} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def scaling_table(rows: list[Row]) -> str:
    """Pixels, seconds and bytes per pixel."""
    lines = ["| pixels | CPU seconds | per million pixels | peak, bytes per pixel | mae |"]
    lines.append("|---|---|---|---|---|")
    for row in sorted(rows, key=lambda row: row["pixels"]):
        pixels, seconds = row["pixels"], row["cpu_seconds"]
        lines.append(
            f"| {pixels} | {seconds:.0f} | {1e6 * seconds / pixels:.0f} | "
            f"{(row['peak'] - row['before']) / pixels:.0f} | {row['mae_deg']:.2f} |"
        )
    (small, *_, large) = sorted(rows, key=lambda row: row["pixels"])
    grown = (large["peak"] - large["before"]) - (small["peak"] - small["before"])
    lines.append("")
    lines.append(
        f"From the smallest to the largest the peak grows by "
        f"{grown / (large['pixels'] - small['pixels']):.0f} bytes per pixel."
    )
    return "\n".join(lines)


def lens_table(rows: list[Row]) -> str:
    """What an unknown lens costs, and whether the stated play tells it."""
    lines = [
        "| | shape | true lens | chosen | possible | lens known | unknown | apart | stated play |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        short, long = row["possible_35mm"]
        lines.append(
            f"| {row['set']} | {row['shape'].replace('_', ' ')} | {row['true_35mm']:.0f} mm | "
            f"{row['chosen_35mm']:.0f} mm | {short:g} to {long:g} | {row['known_deg']:.1f} | "
            f"{row['unknown_deg']:.1f} | {row['apart_deg']:.1f} | {row['stated_deg']:.0f} |"
        )
    held = sum(row["apart_deg"] <= row["stated_deg"] for row in rows)
    lines += ["", f"In {held} of {len(rows)} the stated play holds."]
    return "\n".join(lines)

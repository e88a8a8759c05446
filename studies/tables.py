"""Make docs/paper.md, docs/method.md and their figures from docs/results: `make tables`."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from studies.bench_data import data_table
from studies.constant_tables import constants_table, scenes_table, untuned_table
from studies.constant_tables import summary as constants_summary
from studies.lamp_tables import hard_table, near_table
from studies.trust_tables import filled

from anylight.benchmark.catalogue import SUPPLEMENT, columns
from anylight.benchmark.figures import Axis
from anylight.benchmark.figures import study_figure as benchmark_figure
from anylight.benchmark.tables import detailed_table as benchmark_details
from anylight.benchmark.tables import summary_table as benchmark_summary

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1] / "docs"
Row = dict[str, Any]


def select(rows: list[Row], **key: object) -> list[Row]:
    """Rows that agree with a key."""
    return [row for row in rows if all(row.get(k) == v for k, v in key.items())]


def values(rows: list[Row], name: str) -> list[Any]:
    """Different values of a column, in order of appearance."""
    return list(dict.fromkeys(row[name] for row in rows))


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


ALBEDOS = ("white", "voronoi", "bars", "natural")


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


_GAUGE = ("tilt_u_deg", "tilt_v_deg", "relief_deg")


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


def write_method() -> None:
    """Write the page of the default method."""
    rows = json.loads((DOCS / "results" / "accuracy.json").read_text())
    ablation = json.loads((DOCS / "results" / "ablation.json").read_text())
    scaling = json.loads((DOCS / "results" / "scaling.json").read_text())
    shadows = json.loads((DOCS / "results" / "shadows.json").read_text())
    lenses = json.loads((DOCS / "results" / "lenses.json").read_text())
    lamps = json.loads((DOCS / "results" / "lamps.json").read_text())
    text = (DOCS / "method.template.md").read_text()
    for name, value in {
        "SUMMARY_TABLE": summary_table(rows),
        "SCENE_TABLE": scene_table(rows),
        "REAL_TABLE": real_table(rows),
        "SHADOW_TABLE": shadow_table(shadows),
        "SHADOW_CLASSES": shadow_classes(shadows),
        "SHADOW_OTHERS": shadow_others(shadows),
        "TRACED_TABLE": traced_table(shadows),
        "PLAY_LINE": play_line(shadows),
        "LENS_TABLE": lens_table(lenses),
        "NEAR_TABLE": near_table(lamps),
        "HARD_TABLE": hard_table(lamps),
        "ABLATION_TABLE": ablation_table(ablation),
        "SCALING_TABLE": scaling_table(scaling),
    }.items():
        text = text.replace("{{" + name + "}}", value)
    (DOCS / "method.md").write_text(text)


def write_benchmark() -> None:
    """Write the page of the comparison."""
    rows = json.loads((DOCS / "results" / "benchmark.json").read_text())
    main, real = (select(rows, study=study) for study in ("main", "real"))
    known = [row for row in real if row["metrics"]]
    photographs = [row for row in real if row["scene"] in {r["scene"] for r in known}]
    methods = dict.fromkeys((*SUPPLEMENT, *columns()))
    shown = [method for method in methods if select(main, method=method)]
    shown_real = [method for method in methods if select(photographs, method=method)]
    text = (DOCS / "benchmark.template.md").read_text()
    for name, value in {
        "BENCH_SUMMARY": benchmark_summary(main, shown),
        "BENCH_DETAILS": benchmark_details(main, shown),
        "BENCH_REAL": benchmark_details(photographs, shown_real),
        "HEIGHT": "320",
        "BENCH_DATA": data_table(),
    }.items():
        text = text.replace("{{" + name + "}}", value)
    degrees = Axis("mean angular error (degrees)")
    for study, x, y, number, name in (
        (
            "volume",
            Axis("relative volume of the balloon", is_log=True),
            degrees,
            "mae_deg",
            "volume",
        ),
        ("smoothness", Axis("μ per photo", is_log=True), degrees, "mae_deg", "smoothness"),
        ("photos", Axis("photos"), degrees, "mae_deg", "photos"),
        ("photos", Axis("photos"), Axis("seconds"), "seconds", "seconds"),
    ):
        svg = benchmark_figure(rows, study, x, y, number)
        (DOCS / "images" / f"bench_{name}.svg").write_text(svg, encoding="utf-8")
    made = "<!-- Made by `make tables` from docs/results/benchmark.json and its template. -->\n"
    (DOCS / "benchmark.md").write_text(made + text)


def write_constants() -> None:
    """docs/constants.md."""
    rows = json.loads((DOCS / "results" / "constants.json").read_text())
    text = (DOCS / "constants.template.md").read_text()
    for name, value in {
        "CONSTANTS_SCENES": scenes_table(rows),
        "CONSTANTS_SUMMARY": constants_summary(rows),
        "CONSTANTS_TABLE": constants_table(rows),
        "CONSTANTS_UNTUNED": untuned_table(),
    }.items():
        text = text.replace("{{" + name + "}}", value)
    made = "<!-- Made by `make tables` from docs/results/constants.json and its template. -->\n"
    (DOCS / "constants.md").write_text(made + text)


def write_reliability() -> None:
    """docs/reliability.md."""
    made = "<!-- Made by `make tables` from docs/results/trust.json and its template. -->\n"
    template = (DOCS / "reliability.template.md").read_text()
    page = filled(template, (DOCS / "results" / "trust.json").read_text())
    (DOCS / "reliability.md").write_text(made + page)


def main() -> None:
    """Write the pages."""
    write_reliability()
    write_method()
    write_benchmark()
    write_constants()
    rows = json.loads((DOCS / "results" / "paper.json").read_text())
    images = DOCS / "images"
    study_figure(rows, "volume", "volume", "balloon volume", images / "paper_volume.png")
    study_figure(
        rows, "smoothness", "smoothness", "albedo smoothness per photo", images / "paper_mu.png"
    )
    study_figure(rows, "photos", "photos", "number of photos", images / "paper_photos.png")
    rises = sum(row["energy_rises"] for row in rows)
    text = (DOCS / "paper.template.md").read_text()
    for name, value in {
        "VOLUME_TABLE": volume_table(rows, "mae_fd_deg"),
        "CONSTANT_TABLE": constant_table(rows),
        "VARIANT_TABLE": variant_table(rows),
        "RUNS": str(len(rows)),
        "RISES": str(rises),
    }.items():
        text = text.replace("{{" + name + "}}", value)
    (DOCS / "paper.md").write_text(text)


if __name__ == "__main__":
    main()

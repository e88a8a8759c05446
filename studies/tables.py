"""Make docs/paper.md, docs/method.md and their figures from docs/results: `make tables`."""

import json
from pathlib import Path

from studies.bench_data import data_table
from studies.constant_tables import constants_table, scenes_table, untuned_table
from studies.constant_tables import summary as constants_summary
from studies.lamp_tables import hard_table, near_table
from studies.method_tables import (
    ablation_table,
    lens_table,
    real_table,
    scaling_table,
    scene_table,
    summary_table,
)
from studies.paper_tables import constant_table, study_figure, variant_table, volume_table
from studies.rows import select
from studies.shadow_tables import (
    play_line,
    shadow_classes,
    shadow_others,
    shadow_table,
    traced_table,
)
from studies.trust_tables import filled

from anylight.benchmark.catalogue import SUPPLEMENT, columns
from anylight.benchmark.figures import Axis
from anylight.benchmark.figures import study_figure as benchmark_figure
from anylight.benchmark.tables import detailed_table as benchmark_details
from anylight.benchmark.tables import summary_table as benchmark_summary

DOCS = Path(__file__).parents[1] / "docs"


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

"""Tables from saved cells: nothing is computed here but means and medians."""

import csv
import io
from collections.abc import Iterable, Sequence
from statistics import mean, median

from .catalogue import label_of
from .store import Record

CANNOT = "–"
"""What a table shows where a method could not run."""


def error_of(record: Record | None, metric: str = "mae_deg") -> float | None:
    """A cell's number, if it has one."""
    if record is None or record.get("status") != "done" or not record.get("metrics"):
        return None
    value = record["metrics"].get(metric)
    return None if value is None else float(value)


def by_scene(records: Iterable[Record]) -> dict[str, dict[str, Record]]:
    """Records by data set and method, in the order of their first appearance."""
    found: dict[str, dict[str, Record]] = {}
    for record in records:
        if "scene" in record:
            found.setdefault(record["scene"], {})[record["method"]] = record
    return found


def summary_table(records: Sequence[Record], methods: Sequence[str]) -> str:
    """Median and mean over all data sets, per method (Markdown)."""
    scenes = by_scene(records)
    lines = [
        "| method | sets | median | mean | largest | mean, flip forgiven | seconds (mean) |",
        "|---|---|---|---|---|---|---|",
    ]
    for method in methods:
        own = [scenes[name].get(method) for name in scenes]
        values = [e for e in map(error_of, own) if e is not None]
        if not values:
            continue
        flips = [e for e in (error_of(r, "mae_flip_deg") for r in own) if e is not None]
        seconds = [r["seconds"] for r in own if r and r.get("seconds") is not None]
        cannot = sum(1 for r in own if r and r.get("status") == "cannot")
        count = f"{len(values)}" + (f" ({cannot} cannot run)" if cannot else "")
        lines.append(
            f"| {label_of(method)} | {count} | {median(values):.2f} | {mean(values):.2f} | "
            f"{max(values):.2f} | {mean(flips):.2f} | {_mean_seconds(seconds)} |"
        )
    return "\n".join(lines) + "\n"


def duration(record: Record) -> str:
    """How long a cell took, in words."""
    seconds = record.get("seconds")
    return "made elsewhere" if seconds is None else f"{seconds:.1f} s"


def _mean_seconds(seconds: Sequence[float]) -> str:
    return f"{mean(seconds):.1f}" if seconds else CANNOT


def detailed_table(
    records: Sequence[Record], methods: Sequence[str], metric: str = "mae_deg"
) -> str:
    """Every data set and method, with the mean of every shape and of all (Markdown)."""
    scenes = by_scene(records)
    head = " | ".join(label_of(method) for method in methods)
    lines = [f"| data set | {head} |", "|---" * (len(methods) + 1) + "|"]
    shapes: dict[str, list[str]] = {}
    for name in scenes:
        shapes.setdefault(name.rsplit("_", 1)[0], []).append(name)
    for shape, names in shapes.items():
        lines += [_row(name, [scenes[name].get(m) for m in methods], metric) for name in names]
        if len(names) > 1:
            lines.append(_mean_row(f"**{shape}: mean**", scenes, names, methods, metric))
    if len(scenes) > 1:
        lines.append(_mean_row("**all: mean**", scenes, list(scenes), methods, metric))
    return "\n".join(lines) + "\n"


def _row(name: str, records: Sequence[Record | None], metric: str) -> str:
    errors = [error_of(record, metric) for record in records]
    known = [error for error in errors if error is not None]
    cells = []
    for record, error in zip(records, errors, strict=True):
        if error is None:
            cells.append(CANNOT if record is not None else "")
        else:
            cells.append(f"**{error:.2f}**" if error == min(known) else f"{error:.2f}")
    return f"| {name.replace('_', ' & ')} | {' | '.join(cells)} |"


def _mean_row(
    title: str,
    scenes: dict[str, dict[str, Record]],
    names: list[str],
    methods: Sequence[str],
    metric: str,
) -> str:
    cells = []
    for method in methods:
        values = [error_of(scenes[name].get(method), metric) for name in names]
        known = [value for value in values if value is not None]
        cells.append(f"{mean(known):.2f}" if known else CANNOT)
    return f"| {title} | {' | '.join(cells)} |"


def as_csv(records: Sequence[Record]) -> str:
    """All cells, one per row."""
    names = ("study", "scene", "method", "value", "status", "seconds", "peak_memory_mb", "photos",
             "pixels", "retries", "message")  # fmt: skip
    metrics = ("mae_deg", "median_deg", "mae_flip_deg", "mae_fd_deg", "depth_rmse", "albedo_rmse",
               "lighting_error", "coverage")  # fmt: skip
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, *metrics])
    for record in records:
        numbers = record.get("metrics") or {}
        writer.writerow(
            [*(record.get(n, "") for n in names), *(numbers.get(m, "") for m in metrics)]
        )
    return text.getvalue()

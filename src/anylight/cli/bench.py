"""`anylight bench`: compare methods on data sets."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import rich.console
import tyro

from anylight.benchmark.catalogue import ALBEDOS, MAIN, SHAPES, SUPPLEMENT, USED, Protocol, columns
from anylight.benchmark.cell import Cell, run_cell, scene_of
from anylight.benchmark.engine import Done, run_here, run_locally, run_on_cluster
from anylight.benchmark.figures import Axis, study_figure
from anylight.benchmark.page import benchmark_page
from anylight.benchmark.selection import Selection, has_truth
from anylight.benchmark.store import Record, Store
from anylight.benchmark.tables import as_csv, detailed_table, duration, summary_table
from anylight.errors import InvalidInputError
from anylight.io.capture import save_capture
from anylight.io.folder import check_output, staged_folder
from anylight.io.stage import clear_leftovers, write_whole
from anylight.pipeline import choose_photos

from .progress import say, shown_progress
from .synth import OWNED as SYNTHESISED

SCENE = replace(SYNTHESISED, marker="capture.toml")
"""A data set without its answer."""
_DEGREES = Axis("mean angular error (degrees)")


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Compare methods on 4 shapes × 9 albedos, and on photographs.

    Resumable: cells that are there already are not run again. Writes one JSON file per cell,
    tables (Markdown, CSV), curves of the studies (SVG, CSV) and index.html.
    Try: anylight bench --out bench --shapes tennyson --albedos white --protocol mesh --height 160
    """

    out: Path
    """Folder of the benchmark; it may hold cells of earlier runs."""
    meshes: Path | None = None
    """Folder with armadillo.ply, tennyson.ply, lucy.ply, gargoyle.ply; embedded shapes stand in if
    not given."""
    lights: Path | None = None
    """Folder of environment maps; embedded ones if not given."""
    methods: Annotated[tuple[str, ...], tyro.conf.arg(help=f"Columns: {', '.join(columns())}.")] = (
        MAIN
    )
    supplement: bool = False
    """All columns of the paper's supplement."""
    shapes: tuple[str, ...] = tuple(shape.name for shape in SHAPES)
    albedos: tuple[str, ...] = ALBEDOS
    protocol: Protocol = "depth"
    """Which normals are shaded: finite differences of the depth (forward, as in the paper), the
    true ones (mesh), or the true ones with shadows and light from one part to another (traced, by
    path tracing, extra 'pathtrace')."""
    height: int = 320
    """Of the photos, in pixels."""
    studies: bool = False
    """Also the parameter studies: error against volume, smoothness, number of photos."""
    real: tuple[Path, ...] = ()
    """Folders of photographs. Those with gt.npz or Normal_gt.mat join the tables; one-light sets
    (DiLiGenT) are mixed into general light; the others are shown side by side."""
    results: Path | None = None
    """Results made elsewhere on the rendered data sets: a folder with METHOD/SCENE.npz, .exr or
    .png (normal maps in the OpenGL look, or depths); each METHOD is a column."""
    write_scenes: Path | None = None
    """Write the rendered data sets there as captures, for other programs, and stop."""
    jobs: int = 1
    """Local processes."""
    memory_mb: int | None = None
    """Memory that a local process may use."""
    cluster: str | None = None
    """Address of a Dask scheduler to send the cells to (extra 'cluster')."""

    def run(self, console: rich.console.Console) -> None:
        """Run what is missing, then write tables and pages."""
        methods = SUPPLEMENT if self.supplement else self.methods
        plan = Selection(
            methods, self.shapes, self.albedos, self.protocol, self.height, self.meshes,
            self.lights, self.real,
        )  # fmt: skip
        store = Store(self.out)
        cells = [*plan.main(), *plan.real_cells(), *(plan.studies() if self.studies else ())]
        if self.write_scenes is not None:
            _write_scenes(console, plan, self.write_scenes)
            return
        if self.results is not None:
            if not self.results.is_dir():
                raise InvalidInputError(f"{self.results}: no such folder; check --results.")
            made = plan.elsewhere(self.results)
            cells += made
            methods = tuple(dict.fromkeys((*methods, *(cell.method for cell in made))))
        if not cells:
            raise InvalidInputError("there is nothing to compare: woodham needs --real.")
        if self.lights is not None and not _has_maps(self.lights):
            raise InvalidInputError(f"{self.lights}: holds no .hdr or .exr environment map.")
        for place in (self.out, *self.out.glob("*/")):
            clear_leftovers(place)
        missing = store.missing(cells)
        say(console, f"{len(cells)} cells, {len(missing)} to run: {self.out}")
        try:
            with shown_progress(console) as report:
                for count, done in enumerate(self._run(missing), start=1):
                    record = store.keep(done.key, done.value, done.error, done.starts)
                    if not console.is_terminal:
                        say(console, f"{count}/{len(missing)} {_line(record)}")
                    report("cells", count / len(missing))
        except KeyboardInterrupt:
            say(console, "stopped; cells that were finished are kept, the others run next time.")
            raise SystemExit(130) from None
        write_tables(store, plan, cells, methods)
        sys.stdout.write(f"{plan.described()}\n\n")
        sys.stdout.write(summary_table(_main(store.records(cells)), methods))
        say(console, f"look at {self.out / 'index.html'}")
        records = store.records(cells)
        if records and all(r.get("status") == "cannot" for r in records):
            raise InvalidInputError(f"no cell could run: {records[0].get('message')}")
        failed = [r for r in records if r.get("status") == "failed"]
        if failed:
            raise InvalidInputError(
                f"{len(failed)} of {len(cells)} cells failed, the first with: "
                f"{failed[0].get('message')}"
            )

    def _run(self, cells: Mapping[str, Cell]) -> Iterator[Done]:
        return run_tasks(run_cell, cells, self.jobs, self.memory_mb, self.cluster, self.out)


def run_tasks(
    function: Any,
    arguments: Mapping[str, Any],
    jobs: int,
    memory_mb: int | None,
    cluster: str | None,
    place: Path,
) -> Iterator[Done]:
    """Run tasks where the user wants them; notes about local ones are kept in a place."""
    if jobs < 1:
        raise InvalidInputError("--jobs must be 1 or more.")
    if not arguments:
        return iter(())
    if cluster is not None:
        if not re.fullmatch(r"(\w+://)?[\w.\-\[\]:]+:\d+", cluster):
            raise InvalidInputError(
                f"--cluster {cluster}: is not an address; write tcp://host:8786."
            )
        return run_on_cluster(function, arguments, cluster)
    if jobs == 1 and memory_mb is None:
        return run_here(function, arguments)
    return run_locally(partial(function, sharing=jobs), arguments, jobs, memory_mb, place)


def _has_maps(folder: Path) -> bool:
    return folder.is_dir() and any(p.suffix.lower() in (".hdr", ".exr") for p in folder.iterdir())


def _write_scenes(console: rich.console.Console, plan: Selection, folder: Path) -> None:
    """Write every rendered data set as a capture, without its answer."""
    scenes = plan.scenes()
    with shown_progress(console) as report:
        for count, scene in enumerate(scenes, start=1):
            out = folder / scene.name
            check_output(out, SCENE)
            with staged_folder(out, SCENE) as stage:
                capture = scene_of(scene)[0]
                save_capture(stage, capture.some(choose_photos(capture, USED)))
            report("scenes", count / len(scenes))
    say(console, f"{len(scenes)} data sets: {folder}")


def _main(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record.get("study") == "main"]


def _line(record: Record) -> str:
    if record.get("status") != "done":
        return f"{record['key']}: {record.get('status')}: {record.get('message', '')}"
    error = (record.get("metrics") or {}).get("mae_deg")
    words = "" if error is None else f" {error:.2f} degrees,"
    return f"{record['scene']} {record['method']}:{words} {duration(record)}"


def write_tables(
    store: Store, plan: Selection, cells: Iterable[Cell], methods: tuple[str, ...]
) -> None:
    """Write all tables, curves and the page from the saved cells."""
    cells = list(cells)
    records = store.records(cells)
    main = _main(records)
    known = {folder.name for folder in plan.real if has_truth(folder)}
    real = [r for r in records if r.get("study") == "real" and r.get("scene") in known]
    tables = {
        "Summary (mean angle to the true normals, degrees)": summary_table(main, methods),
        "All data sets (degrees)": detailed_table(main, methods),
    }
    if real:
        tables["Photographs with known normals (degrees)"] = detailed_table(real, methods)
    figures = {
        "Error against the balloon's volume": study_figure(
            records, "volume", Axis("relative volume", is_log=True), _DEGREES, "mae_deg"
        ),
        "Error against the albedo's smoothness": study_figure(
            records, "smoothness", Axis("μ per photo", is_log=True), _DEGREES, "mae_deg"
        ),
        "Error against the number of photos": study_figure(
            records, "photos", Axis("photos"), _DEGREES, "mae_deg"
        ),
        "Time against the number of photos": study_figure(
            records, "photos", Axis("photos"), Axis("seconds"), "seconds"
        ),
    }
    folder = store.folder
    text = "".join(f"## {title}\n\n{table}\n" for title, table in tables.items())
    write_whole(folder / "tables.md", f"{plan.described()}\n\n{text}".encode())
    write_whole(folder / "cells.csv", as_csv(records).encode())
    keys = msgspec.json.encode([record["key"] for record in records])
    write_whole(folder / "cells.json", msgspec.json.format(keys, indent=1) + b"\n")
    for title, svg in figures.items():
        if svg:
            name = title.lower().replace("'", "").replace(" ", "_")
            write_whole(folder / f"{name}.svg", svg.encode())
    page = benchmark_page(store, records, tables, figures, methods, plan.described())
    write_whole(folder / "index.html", page.encode())

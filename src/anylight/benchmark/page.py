"""One HTML page with the tables, the studies and pictures of every cell; opens from disk."""

import base64
from collections.abc import Mapping, Sequence
from html import escape

from .catalogue import label_of
from .store import Record, Store
from .tables import by_scene, duration, error_of

_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:1640px;padding:0 1rem;
background:#17181a;color:#e8e6e1}h1,h2,h3{font-weight:600}
table{border-collapse:collapse;margin:1rem 0}
td,th{padding:.25rem .7rem;border-bottom:1px solid #34363a;text-align:right}
td:first-child,th:first-child{text-align:left}.set{overflow-x:auto;
padding:.4rem 0 1.2rem}.set th{font-size:13px;vertical-align:top;text-align:left}
.set th span{color:#aaa;font-weight:400;font-size:12px}.set td{padding:.2rem;vertical-align:top}
.set td img{width:150px;display:block;background:#1a1a1a}
img.figure,svg{max-width:620px;background:white}
figure{display:inline-block;margin:.5rem}.none{color:#c99}
"""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'"
_ROWS = {
    "normals": "normals", "error": "error (white: 40°)", "albedo": "albedo", "light": "light",
}  # fmt: skip


def benchmark_page(
    store: Store,
    records: Sequence[Record],
    tables: Mapping[str, str],
    figures: Mapping[str, str],
    methods: Sequence[str],
    note: str = "",
) -> str:
    """Everything about a benchmark.

    Args:
        store: where the pictures are.
        records: saved cells.
        tables: Markdown tables by their titles.
        figures: SVG by their titles.
        methods: columns, in order.
        note: a sentence under the title.
    """
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        "<meta name='viewport' content='width=device-width'><title>anylight benchmark</title>",
        f"<style>{_STYLE}</style><h1>anylight benchmark</h1><p>{escape(note)}</p>",
    ]
    for title, table in tables.items():
        parts.append(f"<h2>{escape(title)}</h2>{_table(table)}")
    for title, svg in figures.items():
        if svg:
            data = base64.b64encode(svg.encode()).decode()
            parts.append(
                f"<figure><img class='figure' alt='{escape(title)}' "
                f"src='data:image/svg+xml;base64,{data}'><figcaption>{escape(title)}"
                "</figcaption></figure>"
            )
    for study, title in (("main", "Data sets"), ("real", "Photographs")):
        own = [record for record in records if record.get("study") == study]
        if own:
            parts.append(f"<h2>{title}</h2>")
        for scene, cells in by_scene(own).items():
            parts.append(f"<h3>{escape(scene.replace('_', ' & '))}</h3>")
            parts.append(_scene(store, cells, methods))
    return "".join(parts) + "</html>\n"


def _scene(store: Store, cells: Mapping[str, Record], methods: Sequence[str]) -> str:
    """Input, truth and all methods in columns; normals, errors, albedo and light in rows."""
    done = [cells[m] for m in methods if m in cells and cells[m].get("status") == "done"]
    if not done:
        return "".join(
            f"<p class='none'>{escape(str(c.get('message')))}</p>" for c in cells.values()
        )
    known = done[0]["key"]
    columns = [("input", "", {"normals": (known, "input")})]
    if store.picture(known, "truth"):
        true = {"normals": "truth", "albedo": "true_albedo", "light": "true_light"}
        columns.append(("truth", "", {row: (known, name) for row, name in true.items()}))
    for method in methods:
        record = cells.get(method)
        if record is None:
            continue
        words, pictures = str(record.get("message", "")), {}
        if record.get("status") == "done":
            error = error_of(record)
            words = "" if error is None else f"{error:.2f}°, "
            words += duration(record)
            pictures = {row: (record["key"], row) for row in _ROWS}
        columns.append((label_of(method), words, pictures))
    head = "".join(
        f"<th>{escape(title)}<br><span>{escape(w)}</span></th>" for title, w, _ in columns
    )
    rows = [f"<tr><th></th>{head}</tr>"]
    for row, caption in _ROWS.items():
        images = [_image(store, *own[row]) if row in own else "" for _, _, own in columns]
        if any(images):
            cells_shown = "".join(f"<td>{image}</td>" for image in images)
            rows.append(f"<tr><th>{escape(caption)}</th>{cells_shown}</tr>")
    return f"<div class='set'><table>{''.join(rows)}</table></div>"


def _image(store: Store, key: str, name: str) -> str:
    path = store.picture(key, name)
    if path is None:
        return ""
    data = base64.b64encode(path.read_bytes()).decode()
    return f"<img alt='{escape(name)}' src='data:image/png;base64,{data}'>"


def _table(markdown: str) -> str:
    rows = [line.strip().strip("|").split("|") for line in markdown.strip().splitlines()]
    out = []
    for index, row in enumerate(rows):
        if index == 1:
            continue
        tag = "th" if index == 0 else "td"
        cells = "".join(f"<{tag}>{_emphasised(cell.strip())}</{tag}>" for cell in row)
        out.append(f"<tr>{cells}</tr>")
    return f"<table>{''.join(out)}</table>"


def _emphasised(text: str) -> str:
    if text.startswith("**") and text.endswith("**"):
        return f"<b>{escape(text[2:-2])}</b>"
    return escape(text)

"""One HTML page with the tables, the studies and pictures of every cell; opens from disk."""

import base64
from collections.abc import Mapping, Sequence
from html import escape

from .catalogue import METHODS
from .store import Record, Store
from .tables import by_scene, error_of

_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:1640px;padding:0 1rem;
background:#17181a;color:#e8e6e1}h1,h2,h3{font-weight:600}
table{border-collapse:collapse;margin:1rem 0}
td,th{padding:.25rem .7rem;border-bottom:1px solid #34363a;text-align:right}
td:first-child,th:first-child{text-align:left}.set{display:flex;gap:.8rem;overflow-x:auto;
padding:.4rem 0 1.2rem}.cell{flex:0 0 auto;width:150px}.cell img{width:150px;display:block;
margin-bottom:.25rem;background:#1a1a1a}.cell b{display:block;font-size:13px;min-height:2.6em}
.cell span{color:#aaa;font-size:12px}img.figure,svg{max-width:620px;background:white}
figure{display:inline-block;margin:.5rem}.none{color:#c99}
"""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'"
_CAPTIONS = {
    "normals": "normals", "error": "error (white: 40°)", "albedo": "albedo", "light": "light",
}  # fmt: skip


def benchmark_page(
    store: Store,
    records: Sequence[Record],
    tables: Mapping[str, str],
    figures: Mapping[str, str],
    methods: Sequence[str],
) -> str:
    """Everything about a benchmark.

    Args:
        store: where the pictures are.
        records: saved cells.
        tables: Markdown tables by their titles.
        figures: SVG by their titles.
        methods: columns, in order.
    """
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        "<meta name='viewport' content='width=device-width'><title>anylight benchmark</title>",
        f"<style>{_STYLE}</style><h1>anylight benchmark</h1>",
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
    """Input, truth, and every method's normals and errors side by side."""
    first = next((c for c in cells.values() if c.get("status") == "done"), None)
    shown = []
    if first is not None:
        shown.append(_column(store, first["key"], "input", ("input",), ""))
        if store.picture(first["key"], "truth"):
            names = ("truth", "true_albedo", "true_light")
            shown.append(_column(store, first["key"], "truth", names, ""))
    for method in methods:
        record = cells.get(method)
        if record is None:
            continue
        label = METHODS[method].label
        if record.get("status") != "done":
            why = escape(str(record.get("message", "")))
            shown.append(
                f"<div class='cell'><b>{escape(label)}</b><span class='none'>{why}</span></div>"
            )
            continue
        error = error_of(record)
        words = "" if error is None else f"{error:.2f}°, "
        words += f"{record['seconds']:.1f} s"
        shown.append(_column(store, record["key"], label, tuple(_CAPTIONS), words))
    return f"<div class='set'>{''.join(shown)}</div>"


def _column(store: Store, key: str, title: str, names: Sequence[str], words: str) -> str:
    images = []
    for name in names:
        path = store.picture(key, name)
        if path is not None:
            data = base64.b64encode(path.read_bytes()).decode()
            caption = _CAPTIONS.get(name, name.replace("_", " "))
            images.append(
                f"<img alt='{escape(caption)}' title='{escape(caption)}' "
                f"src='data:image/png;base64,{data}'>"
            )
    shown = f"{''.join(images)}<span>{escape(words)}</span>"
    return f"<div class='cell'><b>{escape(title)}</b>{shown}</div>"


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

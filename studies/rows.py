"""Rows of measured numbers, as docs/results holds them."""

from typing import Any

Row = dict[str, Any]


def select(rows: list[Row], **key: object) -> list[Row]:
    """Rows that agree with a key."""
    return [row for row in rows if all(row.get(k) == v for k, v in key.items())]


def values(rows: list[Row], name: str) -> list[Any]:
    """Different values of a column, in order of appearance."""
    return list(dict.fromkeys(row[name] for row in rows))

"""Progress as one JSON document, out and in."""

from __future__ import annotations

import json
from typing import Any

from drills import clock
from drills.errors import USAGE, DrillError
from drills.store.schema import COLUMNS
from drills.store.store import Store

FORMAT = 1


def export_text(store: Store) -> str:
    """Every fact, in order of time; the same facts give the same text but for `exported`."""
    facts = store.facts()
    for row in facts["attempts"]:
        row["report"] = json.loads(row["report"])
    for row in facts["events"]:
        row["detail"] = json.loads(row["detail"])
    head = {"format": FORMAT, "program": "drill", "exported": clock.to_text(clock.now())}
    return json.dumps({**head, **facts}, indent=1)


def read_export(data: bytes, name: str) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of an export by table, checked whole before any is used.

    Raises DrillError (exit 2) for what is no export, or one of a newer format.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DrillError(f"{name} is not JSON, so not an export of drill.", USAGE) from error
    if not isinstance(document, dict) or document.get("program") != "drill":
        raise DrillError(f"{name} is not an export of drill.", USAGE)
    form = document.get("format")
    if not isinstance(form, int) or form < 1:
        raise DrillError(f"{name} does not say which format it has.", USAGE)
    if form > FORMAT:
        raise DrillError(
            f"{name} was written by a newer drill (format {form}; this one reads up to {FORMAT}): "
            "upgrade drill, then import it.",
            USAGE,
        )
    return {table: _rows(document, table, name) for table in COLUMNS}


def _rows(document: dict[str, Any], table: str, name: str) -> list[tuple[Any, ...]]:
    rows = document.get(table)
    if not isinstance(rows, list):
        raise DrillError(f"{name} is damaged: it has no list of {table}.", USAGE)
    return [_row(row, table, number, name) for number, row in enumerate(rows, 1)]


def _row(row: object, table: str, number: int, name: str) -> tuple[Any, ...]:
    damaged = DrillError(f"{name} is damaged: entry {number} of {table} is not as written.", USAGE)
    if not isinstance(row, dict):
        raise damaged
    values = dict(row)
    for key in ("report", "detail"):
        if key in values:
            if not isinstance(values[key], dict):
                raise damaged
            values[key] = json.dumps(values[key], sort_keys=True, ensure_ascii=False)
    if set(values) != set(COLUMNS[table]):
        raise damaged
    for column, types in COLUMNS[table].items():
        value = values[column]
        if not isinstance(value, types) or isinstance(value, bool):
            raise damaged
        if isinstance(value, int) and abs(value) >= 2**63:
            raise damaged
        if isinstance(value, str) and not _is_text(value):
            raise damaged
    if table == "reviews" and values["rating"] not in (1, 2, 3, 4):
        raise damaged
    try:
        clock.from_text(values["at"])
    except ValueError:
        raise damaged from None
    return tuple(values[column] for column in COLUMNS[table])


def _is_text(value: str) -> bool:
    """False for half a character, which JSON can spell and a database cannot hold."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True

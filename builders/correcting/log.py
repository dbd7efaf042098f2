"""What was corrected, why and by whom, as lines that travel with the snapshot."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from builders.correcting.changes import Changes
from builders.correcting.checks import Groups
from builders.correcting.corrections import Correction
from builders.correcting.fields import FIELDS
from builders.correcting.state import key_of
from freshstack_datasets.records import Judgment


def log_lines(groups: Groups, changes: Changes, snapshot: str) -> Iterator[str]:
    """Yield what was done as JSON lines, in the order of the file.

    Each has the snapshot that it made, the row's own cells with ``old`` and ``new`` as values, and, where something
    would else be forgotten, ``was``: the records that are gone, or the judgment that a model had made.

    Args:
        groups: The corrections.
        changes: What they make of the records.
        snapshot: The name of the snapshot that has them.
    """
    rows = sorted((row for rows in groups.values() for row in rows), key=lambda row: row.line)
    for row in rows:
        ids = dict(zip(("query_id", "nugget_id", "doc_id"), row.ids, strict=False))
        kind = FIELDS[row.kind][row.field]
        told: dict[str, Any] = {"snapshot": snapshot, "kind": row.kind, "action": row.action, **ids, "field": row.field}
        told |= {"old": None if row.action == "add" else getattr(changes.state.records[row.key], row.field)}
        told |= {"new": None if row.action == "remove" else kind.read(row.new)}
        told |= {"reason": row.reason, "by": row.by, "date": row.date}
        was = _was(row, changes)
        yield json.dumps(told | ({"was": was} if was else {}), ensure_ascii=False) + "\n"


def _was(row: Correction, changes: Changes) -> list[Mapping[str, Any]]:
    before = changes.state.records.get(row.key)
    if row.action == "remove":
        return [{"kind": key_of(record)[0], **asdict(record)} for record in changes.lost(row.key)]
    if isinstance(before, Judgment) and before.call_id is not None:
        return [{"kind": "judgment", **asdict(before)}]
    return []

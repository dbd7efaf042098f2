"""Whether corrections fit the snapshot that they are for, and each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from builders.correcting.corrections import IDS, Correction, Problem
from builders.correcting.fields import FIELDS, cell_of, is_meant
from builders.correcting.state import Key, State, parents
from freshstack_datasets.errors import shown
from freshstack_datasets.records import Query

Groups = Mapping[Key, Sequence[Correction]]
"""The rows about each record, in the order of the file."""

_CONTEXT = 20
"""Characters that are shown before the place where two long texts part."""

_OLDER = "look at it again: it was corrected since, or the snapshot is another one"


def grouped(corrections: Sequence[Correction]) -> Groups:
    """Return the rows by the record that they are about."""
    groups: dict[Key, list[Correction]] = {}
    for correction in corrections:
        groups.setdefault(correction.key, []).append(correction)
    return groups


def misfits(groups: Groups, state: State) -> Iterator[Problem]:
    """Yield what of the corrections does not fit the snapshot, or another of them.

    Args:
        groups: The corrections.
        state: What the snapshot holds.
    """
    others = _Others(groups)
    for key, rows in groups.items():
        yield from _contradictions(rows)
        problem = _above(key, rows[0], state, others) or _itself(key, rows[0], state, others)
        if problem is not None:
            yield problem
        elif rows[0].action != "add":
            yield from _outdated(key, rows, state)


@dataclass
class _Others:
    """What the rows of a file add and remove.

    Args:
        groups: The rows.
        added: From each record that they add to the line.
        removed: The same of what they remove.
        ids: The first line that adds a nugget of an id.
    """

    groups: Groups
    added: dict[Key, int] = field(default_factory=dict)
    removed: dict[Key, int] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, rows in self.groups.items():
            if rows[0].action == "remove":
                self.removed[key] = rows[0].line
            elif rows[0].action == "add":
                self.added[key] = rows[0].line
                if rows[0].kind == "nugget":
                    self.ids.setdefault(rows[0].nugget_id, rows[0].line)


def _contradictions(rows: Sequence[Correction]) -> Iterator[Problem]:
    """Yield rows that say of one record what an earlier row denies or has said."""
    first = rows[0]
    lines = {first.field: first.line}
    for row in rows[1:]:
        if row.action != first.action:
            yield Problem(row.line, "action", f"{first.action}, as line {first.line} says of it", row.action)
        elif row.action == "remove":
            yield Problem(row.line, "", "one row that removes it", f"another one in line {first.line}")
        elif row.field in lines:
            yield Problem(
                row.line, "field", "one row for each value", f"{row.field} again, after line {lines[row.field]}"
            )
        lines.setdefault(row.field, row.line)


def _above(key: Key, row: Correction, state: State, others: _Others) -> Problem | None:
    """Return what is wrong with the question or the nugget that a record hangs on."""
    for above in parents(key):
        if above in others.removed:
            column = IDS[above[0]][-1]
            got = f"one that line {others.removed[above]} removes, with all that hangs on it"
            return Problem(row.line, column, f"a {above[0]} that stays", got)
        if above not in state.records and above not in others.added:
            return _unknown(above, row, state)
    return None


def _unknown(key: Key, row: Correction, state: State) -> Problem:
    """Return that there is no such record."""
    kind, ids = key
    if kind == "nugget" and ids[1] in state.owner:
        expected = f"{shown(state.owner[ids[1]])}, whose nugget {shown(ids[1])} is"
        return Problem(row.line, "query_id", expected, shown(ids[0]))
    expected = "a document that was judged for the nugget" if kind == "judgment" else f"a {kind} of the snapshot"
    return Problem(row.line, IDS[kind][-1], expected, shown(ids[-1]))


def _itself(key: Key, row: Correction, state: State, others: _Others) -> Problem | None:
    """Return what is wrong with the ids of the record itself."""
    kind, ids = key
    if row.action != "add":
        return None if key in state.records else _unknown(key, row, state)
    column = IDS[kind][-1]
    if key in state.records or (kind == "nugget" and ids[1] in state.owner):
        return Problem(row.line, column, f"the id of a new {kind}", f"{shown(ids[-1])}, which is there")
    if kind == "nugget" and others.ids[ids[1]] < row.line:
        return Problem(row.line, column, "the id of a new nugget", f"that of line {others.ids[ids[1]]}")
    if kind == "judgment" and ids[2] not in state.documents:
        return Problem(row.line, column, "a document of the corpus", shown(ids[2]))
    return None


def _outdated(key: Key, rows: Sequence[Correction], state: State) -> Iterator[Problem]:
    """Yield rows whose old value is not that of the snapshot, or that cannot be changed alone."""
    record = state.records[key]
    for row in rows:
        value = getattr(record, row.field)
        if not is_meant(FIELDS[row.kind][row.field], row.old, value):
            expected, got = _apart(cell_of(value), row.old)
            yield Problem(row.line, "old", f"{expected}, which the snapshot has", got, _OLDER)
        elif row.action == "change" and row.field == "text" and isinstance(record, Query) and text_follows(record):
            yield Problem(row.line, "field", "title or body, of which the text is made", "text")


def _apart(there: str, given: str) -> tuple[str, str]:
    """Return two texts for a message, long ones from shortly before the place where they part."""
    same = next((i for i, (a, b) in enumerate(zip(there, given, strict=False)) if a != b), min(len(there), len(given)))
    start = max(0, same - _CONTEXT)
    mark = f" from character {start + 1:,} on" if start else ""
    return shown(there[start:]) + mark, shown(given[start:]) + mark


def joined(title: str | None, body: str | None) -> str:
    """Return the text of a question that has a title and a body, or one of them."""
    return " ".join(part for part in (title, body) if part is not None)


def text_follows(query: Query) -> bool:
    """Tell whether the text of a question is its title and its body."""
    return query.text in (joined(query.title, query.body), joined(query.title, query.body).strip())

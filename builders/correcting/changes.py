"""What corrections that fit a snapshot make of its records."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from builders.correcting.checks import Groups, joined, text_follows
from builders.correcting.corrections import Correction, Problem
from builders.correcting.fields import FIELDS, Record
from builders.correcting.state import Key, State, key_of, parents
from freshstack_datasets.errors import shown
from freshstack_datasets.records import Judgment, Nugget, Query

R = TypeVar("R", Judgment, Nugget, Query)

PLURALS = {"judgment": "judgments", "nugget": "nuggets", "question": "questions"}


@dataclass
class Changes:
    """New records, and those that are no more.

    Args:
        state: What the snapshot held of them.
        changed: From the key of a record to what it becomes.
        added: The new records, by their keys.
        removed: The keys of those that are removed; what hangs on them goes too.
        lines: From what was added, and from what lost something, to the last line that says so.
    """

    state: State
    changed: dict[Key, Record] = field(default_factory=dict)
    added: dict[Key, Record] = field(default_factory=dict)
    removed: set[Key] = field(default_factory=set)
    lines: dict[Key, int] = field(default_factory=dict)

    def applied(self, records: Iterable[R], kind: type[R]) -> Iterator[R]:
        """Yield records as they become, then the new ones.

        Args:
            records: The records of a kind.
            kind: Their class.
        """
        for record in records:
            key = key_of(record)
            if not self.gone(key):
                new = self.changed.get(key, record)
                assert isinstance(new, kind)
                yield new
        yield from (record for record in self.added.values() if isinstance(record, kind))

    def gone(self, key: Key) -> bool:
        """Tell whether a record is removed, or something that it hangs on."""
        return key in self.removed or any(above in self.removed for above in parents(key))

    def lost(self, key: Key) -> list[Record]:
        """Return a record that is removed and all that goes with it: question, nuggets, judgments."""
        return [self.state.records[k] for k in (key, *self._below.get(key, ()))]

    @cached_property
    def _below(self) -> dict[Key, list[Key]]:
        """What hangs on each record that is removed: its nuggets, then its judgments, by their ids."""
        below: dict[Key, list[Key]] = {}
        for key in sorted(self.state.records, key=lambda key: (len(key[1]), key[1])):
            for above in parents(key):
                if above in self.removed:
                    below.setdefault(above, []).append(key)
        return below

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many records of each kind are changed, added and removed, what goes with others included."""
        gone = [key for key in self.state.records if self.gone(key)]
        fates = {"changed": self.changed, "added": self.added, "removed": gone}
        return {
            plural: {fate: sum(key[0] == kind for key in keys) for fate, keys in fates.items()}
            for kind, plural in PLURALS.items()
        }


def changes_of(groups: Groups, state: State) -> tuple[Changes, list[Problem]]:
    """Return what corrections make of a snapshot, and what would be missing from it.

    Args:
        groups: The corrections, each of which fits.
        state: What the snapshot holds.
    """
    changes, last = Changes(state), dict(state.last)
    problems: list[Problem] = []
    for key, rows in groups.items():
        action = rows[0].action
        if action == "remove":
            changes.removed.add(key)
        else:
            record = _new(key, rows, last) if action == "add" else _changed(state.records[key], rows)
            if isinstance(record, Problem):
                problems.append(record)
                continue
            (changes.added if action == "add" else changes.changed)[key] = record
        for touched in (key, *parents(key)) if action != "change" else ():
            changes.lines[touched] = max(rows[-1].line, changes.lines.get(touched, 0))
    return changes, problems or list(_lacks(changes, state))


def _values(rows: Sequence[Correction]) -> dict[str, Any]:
    return {row.field: FIELDS[row.kind][row.field].read(row.new) for row in rows}


def _changed(record: Record, rows: Sequence[Correction]) -> Record | Problem:
    """Return what becomes of a record."""
    values = _values(rows)
    if isinstance(record, Judgment):
        return replace(record, **values, call_id=None)  # no longer what the model said
    if isinstance(record, Nugget):
        return replace(record, **values)
    new = replace(record, **values)
    if text_follows(record):
        text = joined(new.title, new.body)
        exact = record.text == joined(record.title, record.body)
        new = replace(new, text=text if exact else text.strip())
    return new if new.text else _without_text(rows)


def _new(key: Key, rows: Sequence[Correction], last: dict[str, int]) -> Record | Problem:
    """Return a record that is added; ``last`` has the largest position of the nuggets of each question."""
    kind, (query_id, *others) = key
    values = _values(rows)
    if kind == "judgment":
        return Judgment(query_id, others[0], others[1], **values)
    if kind == "nugget":
        if "position" not in values:
            last[query_id] = values["position"] = last.get(query_id, -1) + 1
        return Nugget(others[0], query_id, **values) if "text" in values else _without_text(rows)
    text = values.pop("text", None) or joined(values.get("title"), values.get("body"))
    return Query(query_id, text, **values) if text else _without_text(rows)


def _without_text(rows: Sequence[Correction]) -> Problem:
    return Problem(rows[-1].line, "", f"a text of the {rows[-1].kind}", "none")


def _lacks(changes: Changes, state: State) -> Iterator[Problem]:
    """Yield the questions that would have no nugget, and the nuggets that would have no judgment."""
    nuggets, judgments = Counter(state.nuggets), Counter(state.judgments)
    gone = [key for key in state.records if changes.gone(key)]
    for change, keys in ((-1, gone), (1, list(changes.added))):
        for kind, ids in keys:
            if kind == "nugget":
                nuggets[ids[0]] += change
            elif kind == "judgment":
                judgments[ids[1]] += change
    questions = len(state.nuggets) - sum(key[0] == "question" for key in gone)
    if not questions + sum(key[0] == "question" for key in changes.added):
        yield Problem(max(changes.lines.values()), "", "at least one question", "none is left")
    for key, line in changes.lines.items():
        kind, ids = key
        if changes.gone(key):
            continue
        if kind == "question" and not nuggets[ids[0]]:
            yield Problem(line, "", f"at least one nugget of question {shown(ids[0])}", "none is left")
        elif kind == "nugget" and not judgments[ids[1]]:
            yield Problem(line, "", f"at least one judgment of nugget {shown(ids[1])}", "none is left")

"""The corrections that sheets call for, as the table that ``python -m builders correct`` takes.

Where more than half of the people who looked at it say so,

- a hallucinated nugget is removed; where all nuggets of a question are, the question is;
- a minor or redundant nugget gets the importance "okay": which of those it is, the sheet does not say;
- a document that is not relevant supports no nugget any more.

What is missing, and what is partially relevant, needs a person's own words, and is left alone.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from builders.auditing.annotations import Annotation
from builders.auditing.cells import HALLUCINATED, MINOR, NOT, RELEVANCE, Unit, Value
from builders.auditing.csv_sheet import is_formula
from builders.auditing.sampling import Item
from builders.correcting.corrections import COLUMNS
from builders.correcting.fields import cell_of
from freshstack_datasets.loading import Dataset
from freshstack_datasets.records import Judgment, Nugget, Query

OKAY = "okay"

Row = Mapping[str, str]


def corrections(dataset: Dataset, annotations: Sequence[Annotation], day: date) -> list[Row]:
    """Return the rows of the table, none where nothing is to be corrected.

    Args:
        dataset: The snapshot.
        annotations: The sheets.
        day: The day of the corrections.
    """
    said = _Said(annotations, day)
    items = {item.query.query_id: item for annotation in annotations for item in annotation.sample.items}
    hallucinated = {(u.query_id, u.about) for u in said.units(HALLUCINATED) if said.most(u, True)}
    gone = {
        query_id
        for query_id, item in items.items()
        if item.nuggets and all((query_id, nugget.nugget_id) in hallucinated for nugget in item.nuggets)
    }
    rows: list[Row] = []
    for query_id in sorted(items):
        if query_id in gone:
            rows.append(said.removed_question(items[query_id]))
            continue
        for nugget in items[query_id].nuggets:
            if (query_id, nugget.nugget_id) in hallucinated:
                rows.append(said.removed_nugget(nugget))
            elif nugget.importance != OKAY and said.most(Unit(MINOR, query_id, nugget.nugget_id), True):
                rows.append(said.only_okay(nugget))
    irrelevant = {
        (u.query_id, u.about): u for u in said.units(RELEVANCE) if said.most(u, NOT) and u.query_id not in gone
    }
    for judgment in _supporting(dataset, irrelevant):
        if (judgment.query_id, judgment.nugget_id) not in hallucinated:
            rows.append(said.unsupported(judgment))
    return rows


def csv_text(rows: Sequence[Row]) -> str:
    """Return the table as a file holds it.

    Ids and old values stand there as they are in the snapshot, or they would not be found; a value that a spreadsheet
    could take for a formula is only there where a record has no other.
    """
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, restval="", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()


def _supporting(dataset: Dataset, irrelevant: Mapping[tuple[str, str], Unit]) -> Iterator[Judgment]:
    """Yield the judgments that say that a document supports a nugget of a question, by their ids."""
    if not irrelevant:
        return
    found = [
        Judgment(query_id, nugget_id, doc_id, score)
        for query_id, nugget_id, doc_id, score in zip(
            *dataset.judgments.columns("query_id", "nugget_id", "doc_id", "score"), strict=True
        )
        if score and (query_id, doc_id) in irrelevant
    ]
    yield from sorted(found, key=lambda judgment: (judgment.query_id, judgment.nugget_id, judgment.doc_id))


class _Said:
    """What was said of each unit, and by whom.

    Args:
        annotations: The sheets.
        day: The day of the corrections.
    """

    def __init__(self, annotations: Sequence[Annotation], day: date) -> None:
        self._annotations, self._day = annotations, day

    def units(self, column: str) -> list[Unit]:
        """Return all that is asked in a column."""
        units = (unit for annotation in self._annotations for unit in annotation.values if unit.column == column)
        return list(dict.fromkeys(units))

    def most(self, unit: Unit, value: Value) -> bool:
        """Tell whether more than half of those who looked at something say so."""
        given = [annotation.values[unit] for annotation in self._annotations if unit in annotation.values]
        return 2 * sum(one == value for one in given) > len(given)

    def removed_nugget(self, nugget: Nugget) -> Row:
        """Return the row that removes a nugget."""
        ids = {"query_id": nugget.query_id, "nugget_id": nugget.nugget_id}
        why = self._why("hallucinated", [Unit(HALLUCINATED, nugget.query_id, nugget.nugget_id)], True)
        return {"kind": "nugget", "action": "remove", **ids, **_named_by(nugget, "position"), **why}

    def removed_question(self, item: Item) -> Row:
        """Return the row that removes a question, and its nuggets with it."""
        query = item.query
        units = [Unit(HALLUCINATED, query.query_id, nugget.nugget_id) for nugget in item.nuggets]
        why = self._why("all nuggets hallucinated", units, True)
        ids = {"query_id": query.query_id}
        return {"kind": "question", "action": "remove", **ids, **_named_by(query, "date", "url"), **why}

    def only_okay(self, nugget: Nugget) -> Row:
        """Return the row that makes a nugget less important."""
        ids = {"query_id": nugget.query_id, "nugget_id": nugget.nugget_id}
        values = {"field": "importance", "old": cell_of(nugget.importance), "new": OKAY}
        why = self._why("minor or redundant", [Unit(MINOR, nugget.query_id, nugget.nugget_id)], True)
        return {"kind": "nugget", "action": "change", **ids, **values, **why}

    def unsupported(self, judgment: Judgment) -> Row:
        """Return the row that says that a document does not support a nugget."""
        ids = {"query_id": judgment.query_id, "nugget_id": judgment.nugget_id, "doc_id": judgment.doc_id}
        values = {"field": "score", "old": "1", "new": "0"}
        why = self._why("document not relevant", [Unit(RELEVANCE, judgment.query_id, judgment.doc_id)], NOT)
        return {"kind": "judgment", "action": "change", **ids, **values, **why}

    def _why(self, what: str, units: Sequence[Unit], value: Value) -> Row:
        """Return the cells that say why, who says so, and when."""
        saying = [a for a in self._annotations if any(a.values.get(unit) == value for unit in units)]
        remarks = {
            a.annotator: "; ".join(r for unit in units if (r := a.remarks.get((unit.query_id, unit.about))))
            for a in saying
        }
        told = "".join(f"; {name}: {remark}" for name, remark in remarks.items() if remark)
        by = ", ".join(annotation.annotator for annotation in saying)
        return {"reason": f"audit: {what}{told}", "by": _harmless(by), "date": self._day.isoformat()}


def _named_by(record: Nugget | Query, *others: str) -> Row:
    """Return the cells that show of which record is spoken: its text, or another value where that looks as a formula."""
    values = [(name, cell_of(getattr(record, name))) for name in ("text", *others)]
    field, old = next(((name, cell) for name, cell in values if cell and not is_formula(cell)), values[0])
    return {"field": field, "old": old}


def _harmless(name: str) -> str:
    return f"'{name}" if is_formula(name) else name

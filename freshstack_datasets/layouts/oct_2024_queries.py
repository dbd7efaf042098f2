"""The queries of October 2024, each with its nuggets and judgments in one row, as records."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from freshstack_datasets.errors import RecordError, shown
from freshstack_datasets.layouts.source_files import HINT, SourceFile
from freshstack_datasets.records import Judgment, Nugget, Query, check_id
from freshstack_datasets.verification.problems import Problem, Report

_NUGGET = pa.struct(
    [
        pa.field("_id", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("relevant_corpus_ids", pa.list_(pa.string()), nullable=False),
        pa.field("non_relevant_corpus_ids", pa.list_(pa.string()), nullable=False),
    ]
)
COLUMNS = pa.schema(
    [
        pa.field("query_id", pa.string(), nullable=False),
        pa.field("query_title", pa.string(), nullable=False),
        pa.field("query_text", pa.string(), nullable=False),
        pa.field("nuggets", pa.list_(_NUGGET), nullable=False),
        pa.field("answer_id", pa.string()),
        pa.field("answer_text", pa.string()),
        pa.field("metadata", pa.struct([("date", pa.string()), ("tags", pa.list_(pa.string()))])),
    ]
)

BOTH_LISTS = "both-lists"
LISTED_TWICE = "listed-twice"
WITHOUT_JUDGMENT = "nugget-without-judgment"
WITHOUT_NUGGET = "query-without-nugget"

DROPPED = {
    BOTH_LISTS: "a document that is also listed as relevant for the nugget is relevant",
    LISTED_TWICE: "a document counts once for a nugget",
    WITHOUT_JUDGMENT: "no document was judged for the nugget, and a snapshot's nuggets have a judgment each",
    WITHOUT_NUGGET: "the query has no nugget, or none with a judgment, and a snapshot's queries have one each",
}
"""Why something of the files is not in the snapshot, by the code of the problem."""


class Found:
    """What is remarkable about the files.

    The problems are listed as ``verify`` lists them: 20 of a kind in a file, the others counted.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._report = Report()

    def add(self, code: str, file: str, which: str, message: str) -> None:
        """Take one problem."""
        self.counts[code] += 1
        self._report.add(code, file, which, message)

    def problems(self) -> tuple[Problem, ...]:
        """Return what was found."""
        return tuple(self._report.problems())

    def text(self, value: str | None, column: str, file: str, which: str, place: str) -> str:
        """Return a text, "" for null, which is a problem.

        Args:
            value: The text.
            column: The column that it stands in.
            file: The file.
            which: The id of what it is the text of.
            place: The place in the file.
        """
        if value is None:
            self.add("null-text", file, which, f"{place}: {column} is null; taken as empty")
            return ""
        return value


def known_id(value: object, kind: str, where: str) -> str:
    """Return an id unchanged.

    Raises:
        RecordError: It cannot be one.
    """
    try:
        return check_id(value, kind)
    except RecordError as error:
        raise RecordError(f"{where}: {error.what}", expected=error.expected, got=error.got, hint=HINT) from None


@dataclass
class Asked:
    """The records that the rows hold, and what was left out.

    Args:
        found: Takes what is remarkable.
        queries: The queries with a nugget.
        nuggets: The nuggets with a judgment.
        judgments: One of a nugget and a document.
        dropped: What was left out and why.
        judged: From the id of each judged document to the file that names it first.
        read: How many rows, nuggets and listed documents there are in the files.
    """

    found: Found
    queries: list[Query] = field(default_factory=list)
    nuggets: list[Nugget] = field(default_factory=list)
    judgments: list[Judgment] = field(default_factory=list)
    dropped: list[dict[str, str]] = field(default_factory=list)
    judged: dict[str, str] = field(default_factory=dict)
    read: Counter[str] = field(default_factory=Counter)
    _query_rows: dict[str, str] = field(default_factory=dict)
    _nugget_rows: dict[str, str] = field(default_factory=dict)

    def take(self, file: SourceFile) -> None:
        """Read a file.

        Raises:
            InputError: The file cannot be read.
            RecordError: An id is not allowed, or is that of an earlier row; file and row are named.
        """
        for number, row in file.rows():
            self._take_row(row, file.name, f"row {number}")

    def _take_row(self, row: dict[str, Any], file: str, place: str) -> None:
        query_id = self._new_id(row["query_id"], "query", f"{file}, {place}", self._query_rows)
        nuggets = row["nuggets"] or ()
        self.read.update(queries=1, nuggets=len(nuggets))
        kept = len(self.nuggets)
        for position, nugget in enumerate(nuggets):
            self._take_nugget(nugget, query_id, position, file, f"{place}, nugget {position + 1}")
        if len(self.nuggets) == kept:
            message = "has nuggets, but none with a judgment; left out" if nuggets else "has no nugget; left out"
            self.found.add(WITHOUT_NUGGET, file, query_id, f"{place}: {message}")
            self._drop(WITHOUT_NUGGET, query_id)
            return
        title, body = (
            self.found.text(row[column], column, file, query_id, place) for column in ("query_title", "query_text")
        )
        about = row.get("metadata") or {}
        tags = about.get("tags")
        if tags is not None and None in tags:
            raise RecordError(f"{file}, {place}: metadata.tags", expected="strings", got="a null among them", hint=HINT)
        self.queries.append(
            Query(
                query_id,
                f"{title} {body}",
                title=title,
                body=body,
                answer_id=row.get("answer_id"),
                answer_text=row.get("answer_text"),
                date=about.get("date"),
                tags=None if tags is None else tuple(tags),
            )
        )

    def _take_nugget(self, nugget: dict[str, Any] | None, query_id: str, position: int, file: str, place: str) -> None:
        if nugget is None:
            raise RecordError(f"{file}, {place}", expected="a nugget", got="null", hint=HINT)
        nugget_id = self._new_id(nugget["_id"], "nugget", f"{file}, {place}", self._nugget_rows)
        relevant, other = (
            self._documents(nugget[column] or (), column, query_id, nugget_id, file, place)
            for column in ("relevant_corpus_ids", "non_relevant_corpus_ids")
        )
        if not (relevant or other):
            self.found.add(WITHOUT_JUDGMENT, file, nugget_id, f"{place}: no document was judged for it; left out")
            self._drop(WITHOUT_JUDGMENT, query_id, nugget_id)
            return
        text = self.found.text(nugget["text"], "text", file, nugget_id, place)
        self.nuggets.append(Nugget(nugget_id, query_id, position, text))
        for doc_id in relevant:
            self.judgments.append(Judgment(query_id, nugget_id, doc_id, 1))
        for doc_id in other:
            if doc_id in relevant:
                message = f"{place}: listed as relevant and as not relevant; counts as relevant"
                self.found.add(BOTH_LISTS, file, f"{query_id} {nugget_id} {doc_id}", message)
                self._drop(BOTH_LISTS, query_id, nugget_id, doc_id)
            else:
                self.judgments.append(Judgment(query_id, nugget_id, doc_id, 0))

    def _documents(
        self, listed: Iterable[object], column: str, query_id: str, nugget_id: str, file: str, place: str
    ) -> Counter[str]:
        """Return the documents of one of a nugget's lists, and how often each stands there."""
        times = Counter(known_id(doc_id, "document", f"{file}, {place}") for doc_id in listed)
        self.read["judgments"] += times.total()
        for doc_id, count in times.items():
            self.judged.setdefault(doc_id, file)
            if count > 1:
                message = f"{place}: {count} times in {column}; counts once"
                self.found.add(LISTED_TWICE, file, f"{query_id} {nugget_id} {doc_id}", message)
                self._drop(LISTED_TWICE, query_id, nugget_id, doc_id)
        return times

    def _new_id(self, value: object, kind: str, where: str, rows: dict[str, str]) -> str:
        """Return an id that no earlier row has."""
        new = known_id(value, kind, where)
        before = rows.setdefault(new, where)
        if before is not where:
            what = f"{where}: {kind} {shown(new)}"
            hint = "remove one of them, or give each file once"
            raise RecordError(what, expected=f"each {kind} once", got=f"it also in {before}", hint=hint)
        return new

    def _drop(self, code: str, *ids: str) -> None:
        names: Sequence[str] = ("query_id", "nugget_id", "doc_id")
        self.dropped.append(dict(zip(names, ids, strict=False)) | {"reason": DROPPED[code]})

"""What is shown of each query of a topic: its nuggets, and how each system ranked the documents that support them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from freshstack_datasets.loading import Dataset
from freshstack_datasets.records import Document, Nugget, Query
from freshstack_datasets.report import Ranked
from freshstack_datasets.runs import read_top
from leaderboard.boards.records import Board, Entry, Topic

DEPTH = 20
"""Places of a ranking that are shown."""

TOP = 10
"""Places of a ranking whose documents are listed even where they support nothing."""

DOCUMENTS = 60
"""Documents of a query that are listed, the supporting ones first."""

_AT_ONCE = 5_000
"""Documents that are read together."""


@dataclass(frozen=True)
class Ranking:
    """How one system answered the query.

    Args:
        entry: The system.
        values: Its values for this query, by measure.
        places: The top of its ranking.
    """

    entry: Entry
    values: Mapping[str, float]
    places: tuple[Ranked, ...]

    def first(self, nugget: int) -> int | None:
        """Return the first rank, from 1, of a document that supports a nugget; None when no place shown has one.

        Args:
            nugget: The nugget, counted from 0.
        """
        return self._firsts.get(nugget)

    @cached_property
    def _firsts(self) -> Mapping[int, int]:
        found: dict[int, int] = {}
        for rank, place in enumerate(self.places, 1):
            for nugget in place.supports:
                found.setdefault(nugget, rank)
        return found


@dataclass(frozen=True, slots=True)
class Shown:
    """A document of the query.

    Args:
        place: The document, and what is known of it.
        ranks: The systems that have it in what is shown, each with its rank, the best first.
        document: What the corpus holds; None when it has none of that id. Without text, unless that is shown.
    """

    place: Ranked
    ranks: tuple[tuple[Entry, int], ...]
    document: Document | None = field(default=None, repr=False)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The nuggets that it supports, counted from 1."""
        return tuple(nugget + 1 for nugget in sorted(self.place.supports))


@dataclass(frozen=True, slots=True)
class QueryView:
    """One query and what became of it.

    Args:
        query: The query.
        nuggets: Its nuggets, in their order.
        supporting: How many documents were judged to support each.
        rankings: The systems whose runs are at hand, in the board's order.
        documents: What they ranked high, and what supports a nugget.
        left_out: How many documents more there are.
        previous: The query before it in the dataset.
        following: The query after it.
    """

    query: Query
    nuggets: tuple[Nugget, ...]
    supporting: tuple[int, ...]
    rankings: tuple[Ranking, ...]
    documents: tuple[Shown, ...]
    left_out: int
    previous: str | None
    following: str | None

    def finders(self, nugget: int) -> int:
        """Return how many systems have a document that supports a nugget within what is shown of their rankings.

        Args:
            nugget: The nugget, counted from 0.
        """
        return sum(1 for ranking in self.rankings if ranking.first(nugget))


@dataclass(frozen=True, slots=True)
class QueryLine:
    """A line of the list of queries.

    Args:
        query: The query.
        nuggets: How many nuggets it has.
        supporting: How many documents support one.
        mean: The mean of the ranked systems, by the board's first measure; None where none was scored.
        best: The best of them.
        leaders: Who has that.
        nothing: How many of them have 0.
    """

    query: Query
    nuggets: int
    supporting: int
    mean: float | None
    best: float | None
    leaders: tuple[Entry, ...]
    nothing: int


@dataclass(frozen=True, eq=False)
class TopicQueries:
    """The queries of a topic whose dataset is at hand.

    Args:
        board: The board.
        topic: The topic.
        dataset: Its dataset.
        with_text: Whether texts of documents are shown.
    """

    board: Board
    topic: Topic
    dataset: Dataset = field(repr=False)
    with_text: bool = False

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The systems with values for each query, in the board's order."""
        return tuple(entry for entry in self.board.entries if self.topic.name in entry.per_query)

    @cached_property
    def values(self) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
        """The values by system, query and measure."""
        return {entry.entry_id: _values(entry, self.topic.name) for entry in self.entries}

    @cached_property
    def support(self) -> Mapping[str, Mapping[str, frozenset[int]]]:
        """By query and judged document, the nuggets that it supports, counted from 0."""
        query_ids = self.dataset.queries.columns("query_id")[0]
        found: dict[str, dict[str, frozenset[int]]] = {query_id: {} for query_id in query_ids}
        number = {
            (query_id, nugget.nugget_id): i
            for query_id in query_ids
            for i, nugget in enumerate(self.dataset.nuggets_of(query_id))
        }
        columns = self.dataset.judgments.columns("query_id", "nugget_id", "doc_id", "score")
        for query_id, nugget_id, doc_id, score in zip(*columns, strict=True):
            known = found[query_id].get(doc_id, frozenset())
            found[query_id][doc_id] = known | {number[query_id, nugget_id]} if score else known
        return found

    def lines(self) -> Iterator[QueryLine]:
        """Yield a line for each query, in the order of the dataset."""
        measure = str(self.board.measures[0])
        ranked = [entry for entry in self.entries if entry.ranked]
        for query in self.dataset.queries:
            support = self.support[query.query_id]
            scored = [(self.values[entry.entry_id][query.query_id][measure], entry) for entry in ranked]
            best = max((value for value, _ in scored), default=None)
            yield QueryLine(
                query,
                len(self.dataset.nuggets_of(query.query_id)),
                sum(1 for nuggets in support.values() if nuggets),
                sum(value for value, _ in scored) / len(scored) if scored else None,
                best,
                tuple(entry for value, entry in scored if value == best and best > 0),
                sum(1 for value, _ in scored if value == 0),
            )

    def views(self) -> Iterator[QueryView]:
        """Yield each query, in the order of the dataset."""
        queries = list(self.dataset.queries)
        documents = self._documents
        for i, query in enumerate(queries):
            support = self.support[query.query_id]
            nuggets = self.dataset.nuggets_of(query.query_id)
            listed, left_out = self._listed[query.query_id]
            yield QueryView(
                query,
                nuggets,
                tuple(sum(1 for found in support.values() if n in found) for n in range(len(nuggets))),
                self._rankings[query.query_id],
                tuple(replace(one, document=documents.get(one.place.doc_id)) for one in listed),
                left_out,
                queries[i - 1].query_id if i else None,
                queries[i + 1].query_id if i + 1 < len(queries) else None,
            )

    @cached_property
    def _rankings(self) -> Mapping[str, tuple[Ranking, ...]]:
        runs = [(entry, entry.runs[self.topic.name]) for entry in self.entries if self.topic.name in entry.runs]
        tops = [(entry, read_top(path, DEPTH)) for entry, path in runs]
        found: dict[str, tuple[Ranking, ...]] = {}
        for query_id, support in self.support.items():
            docs = {doc_id for _, top in tops for doc_id in top.get(query_id, ())}
            places = {doc_id: _ranked(doc_id, support) for doc_id in docs}  # once for all systems that found it
            found[query_id] = tuple(
                Ranking(
                    entry,
                    self.values[entry.entry_id].get(query_id, {}),
                    tuple(places[doc_id] for doc_id in top.get(query_id, ())),
                )
                for entry, top in tops
            )
        return found

    @cached_property
    def _listed(self) -> Mapping[str, tuple[list[Shown], int]]:
        """By query, the documents that are listed and how many more there are."""
        return {query_id: _shown(self._rankings[query_id], support) for query_id, support in self.support.items()}

    @cached_property
    def _documents(self) -> Mapping[str, Document]:
        """What the corpus says of all documents that are listed; a row group is read once, not once a query."""
        corpus = self.dataset.corpus
        asked = sorted({one.place.doc_id for listed, _ in self._listed.values() for one in listed})
        known = [doc_id for doc_id in asked if corpus.__contains__(doc_id)]
        found: dict[str, Document] = {}
        for start in range(0, len(known), _AT_ONCE):
            for document in corpus.get_many(known[start : start + _AT_ONCE]):
                found[document.doc_id] = document if self.with_text else replace(document, text="")
        return found


def _ranked(doc_id: str, support: Mapping[str, frozenset[int]]) -> Ranked:
    return Ranked(doc_id, doc_id in support, support.get(doc_id, frozenset()))


def _shown(rankings: Sequence[Ranking], support: Mapping[str, frozenset[int]]) -> tuple[list[Shown], int]:
    """Return what supports a nugget or is among the first of a system: supporting documents first, then by rank.

    It is cut after ``DOCUMENTS``; the number is how many more there are.
    """
    ranks: dict[str, list[tuple[int, int]]] = {doc_id: [] for doc_id, nuggets in support.items() if nuggets}
    for number, ranking in enumerate(rankings):
        for rank, place in enumerate(ranking.places, 1):
            if rank <= TOP or place.doc_id in ranks:
                ranks.setdefault(place.doc_id, []).append((rank, number))
    order = sorted(
        (not support.get(doc_id), min((rank for rank, _ in found), default=DEPTH + 1), doc_id)
        for doc_id, found in ranks.items()
    )
    shown = [
        Shown(_ranked(doc_id, support), tuple((rankings[number].entry, rank) for rank, number in sorted(ranks[doc_id])))
        for _, _, doc_id in order[:DOCUMENTS]
    ]
    return shown, max(0, len(order) - DOCUMENTS)


def _values(entry: Entry, topic: str) -> dict[str, dict[str, float]]:
    held = entry.per_query[topic]
    return {
        query_id: dict(zip(held.measures, row, strict=True))
        for query_id, row in zip(held.query_ids, held.values.T.tolist(), strict=True)
    }

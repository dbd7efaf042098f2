"""Judgments with nuggets by number, as the formats of TREC's diversity tracks have them."""

from collections.abc import Iterator

from freshstack_datasets.adapters.given import check_dataset, check_for_c
from freshstack_datasets.errors import SnapshotError, shown
from freshstack_datasets.loading import Dataset
from freshstack_datasets.tables.parquet import VERIFY

Row = tuple[str, int, str, int]
"""Query id, the nugget's number, document id, and 1 or 0."""


def numbered(dataset: Dataset) -> Iterator[Row]:
    """Yield the judgments in the dataset's order, each nugget as its number among those of its query.

    Numbers begin at 1, in the order of the nuggets' positions. Programs for such judgments need memory for the largest
    number there is, once for every document, so it must not run through the whole dataset.

    Args:
        dataset: The dataset.

    Raises:
        InputError: It is no dataset.
        SnapshotError: A judgment is of no nugget that its query has.
    """
    check_dataset(dataset)
    number: dict[tuple[str, str], int] = {}
    for query_id in dataset.queries.columns("query_id")[0]:
        for place, nugget in enumerate(dataset.nuggets_of(query_id), 1):
            number[query_id, nugget.nugget_id] = place
    rows = zip(*dataset.judgments.columns("query_id", "nugget_id", "doc_id", "score"), strict=True)
    for query_id, nugget_id, doc_id, score in rows:
        found = number.get((query_id, nugget_id))
        if found is None:
            what = f"a judgment of nugget {shown(nugget_id)} of query {shown(query_id)}"
            raise SnapshotError(what, expected="a nugget of that query", got="none of that id", hint=VERIFY)
        yield query_id, found, doc_id, score


def zeros_first(dataset: Dataset) -> list[Row]:
    """Return the judgments query by query, those of 0 before those of 1.

    Libraries make one value for a query and a document of such rows by letting the last one win; in this order what
    supports one nugget is relevant, whatever was said of it and another.

    Args:
        dataset: The dataset.

    Raises:
        InputError: It is no dataset.
        RecordError: An id has a NUL, where trec_eval in those libraries ends it.
        SnapshotError: A judgment is of no nugget that its query has.
    """
    check_dataset(dataset)
    check_for_c(*(set(ids) for ids in dataset.judgments.columns("query_id", "doc_id")))
    place = {query_id: i for i, query_id in enumerate(dataset.queries.columns("query_id")[0])}
    return sorted(numbered(dataset), key=lambda row: (place[row[0]], row[3]))

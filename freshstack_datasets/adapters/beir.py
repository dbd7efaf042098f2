"""BEIR: a dataset as its dictionaries and as its folder, and what one of its searchers finds as a run.

What BEIR retrieves, query id to document id to score, is a run already: ``evaluate(results, data)`` takes it as it is.
Its own ``EvaluateRetrieval.evaluate`` does more than look: unless it is told ``ignore_identical_ids=False``, it takes
documents that have the id of their query out of the results it was given. And its means run over the queries that have
results, not over all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from freshstack_datasets.adapters.given import check_dataset, check_for_c
from freshstack_datasets.adapters.libraries import Library
from freshstack_datasets.adapters.lines import write_json_lines, write_tab_lines
from freshstack_datasets.adapters.note import JsonTable, write_note
from freshstack_datasets.errors import InputError, UnknownNameError, shown
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Query
from freshstack_datasets.retrieval.cut import check_k
from freshstack_datasets.tables.schema import CORPUS, QUERIES

_BEIR = Library("beir", "beir")

_QUERY_METADATA = [field.name for field in fields(Query) if field.name not in ("query_id", "text")]
_METADATA = pa.struct([QUERIES.schema.field(name) for name in _QUERY_METADATA])
_TABLES = [
    JsonTable("corpus", "corpus", CORPUS.schema),
    JsonTable("queries", "queries", pa.schema([*map(QUERIES.schema.field, ("_id", "text")), ("metadata", _METADATA)])),
]

Texts = dict[str, dict[str, str]]
"""Document id to its ``title`` and ``text``."""


def dictionaries(dataset: Dataset) -> tuple[Texts, dict[str, str], dict[str, dict[str, int]]]:
    """Return the corpus, the queries and the judgments as ``GenericDataLoader`` gives them.

    The score of a judgment is the number of the query's nuggets that the document supports. Documents judged to support
    none are there with 0: not relevant to BEIR's measures, but known to its ``hole``. A query without a relevant
    document scores 0 there as here, except that ``recall_cap`` divides by zero.

    Args:
        dataset: The dataset.

    Returns:
        Document id to ``title`` and ``text``, query id to text, and query id to document id to score.

    Raises:
        InputError: It is no dataset, or has an id with a NUL, where trec_eval ends it.
        SnapshotError: The dataset has no corpus, or its files cannot be read.
    """
    check_dataset(dataset)
    corpus = {document.doc_id: {"title": document.title, "text": document.text} for document in dataset.corpus}
    check_for_c(corpus, dataset.qrels, *dataset.qrels.values())
    return corpus, _texts(dataset), {query_id: dict(documents) for query_id, documents in dataset.qrels.items()}


def retrieve(
    searcher: Any, dataset: Dataset, k: int = 100, *, score_function: str = "cos_sim", name: str = "beir"
) -> Run:
    """Search a dataset with one of BEIR's searchers, by its ``EvaluateRetrieval(…).retrieve``.

    Three things are seen to that BEIR leaves to the user. Its exact search looks at the scores of the second query to
    count documents, so that a lone query needs company. Searchers leave out a document that has the id of the query.
    And some keep the results of earlier searches, or the index of another corpus.

    Which of several documents with one score are found, where not all fit into ``k``, is up to the searcher.

    Args:
        searcher: One that takes dictionaries, such as ``DenseRetrievalExactSearch(SentenceBERT("…"))``.
        dataset: The dataset.
        k: The number of documents to find for a query, at least 1.
        score_function: ``cos_sim`` or ``dot``, whichever the model was trained for.
        name: The name of the run.

    Raises:
        InputError: The searcher is none, has no such score function, returns results of other queries alone, or finds
            what the corpus does not have; or the installed BEIR lacks what this stands on.
        RunError: What it finds is no run; NaN is the usual reason.
        SnapshotError: The dataset has no corpus, or its files cannot be read.
        MissingExtraError: BEIR is not installed.
    """
    evaluation = _BEIR.attribute("beir.retrieval.evaluation", "EvaluateRetrieval")
    _BEIR.attribute(evaluation, "retrieve")
    k = check_k(k)
    _check_searcher(searcher, score_function)
    corpus, queries, _ = dictionaries(dataset)
    sent = {_TAB + query_id if query_id in corpus else query_id: query_id for query_id in queries}
    texts = {alias: queries[query_id] for alias, query_id in sent.items()}
    if len(texts) == 1:
        texts[_TAB] = next(iter(texts.values()))
    depth = min(k, len(corpus))  # not every searcher stands being asked for more than there is
    results = evaluation(searcher, k_values=[depth], score_function=score_function).retrieve(corpus, texts)
    if isinstance(results, Mapping):
        _check_asked(results, sent)
        results = {query_id: results.get(alias, {}) for alias, query_id in sent.items()}
    run = Run.from_dict(results, name)
    _check_found(run, corpus)
    return run


_TAB = "\t"
"""No id has one, so an id with one in front is nobody's."""


def _check_searcher(searcher: Any, score_function: str) -> None:
    if not callable(getattr(searcher, "search", None)):
        hint = "give what EvaluateRetrieval is made of, such as DenseRetrievalExactSearch(model)"
        raise InputError("a searcher of BEIR", expected="an object with search", got=type(searcher).__name__, hint=hint)
    known = getattr(searcher, "score_functions", None)
    if known is not None and score_function not in known:
        raise UnknownNameError("score function", score_function, known)


def _check_asked(results: Mapping[Any, Any], sent: Mapping[str, str]) -> None:
    """Refuse results of nothing but other queries, which would all score 0; those beside the right ones are left out."""
    if results and not any(alias in results for alias in sent):
        got = f"nothing but others, such as {shown(next(iter(results)))}"
        raise InputError("what the searcher returned", expected="results of the queries it was given", got=got)


def _check_found(run: Run, corpus: Texts) -> None:
    foreign = [doc_id for doc_id in run.doc_ids if doc_id not in corpus]
    if foreign:
        raise InputError(
            f"the searcher found {shown(foreign[0])}",
            expected="a document of the corpus",
            got="none of that id",
            hint="if it has the index of another corpus, make a new one",
        )


def export(dataset: Dataset, folder: Path | str) -> None:
    """Write the folder that BEIR's ``GenericDataLoader`` and those who follow it read.

    The score of a row in ``qrels/test.tsv`` is the number of the query's nuggets that the document supports; judged
    documents that support none are there with 0. Nuggets themselves have no place in this layout.

    That file is read by a csv reader, for which a quotation mark at the beginning of a field opens a quoted field.
    So an id that begins with one is quoted, and no other, which those who split on tabs alone read as it is.

    ``README.md`` says whose the texts are, and lets ``datasets.load_dataset`` read ``corpus`` and ``queries`` from the
    folder, in splits of the same names as in BEIR's own repositories.

    Args:
        dataset: The dataset.
        folder: Where the files go; it must not exist, or be empty.

    Raises:
        InputError: It is no dataset, or the folder is taken.
        SnapshotError: The dataset has no corpus, or its files cannot be read.
    """
    check_dataset(dataset)
    with atomic_folder(folder) as work:
        write_json_lines(work / "corpus.jsonl", _documents(dataset))
        write_json_lines(work / "queries.jsonl", map(_query, dataset.queries))
        write_tab_lines(work / "qrels" / "test.tsv", _qrels(dataset))
        texts = "Author, address and licence of a text, where known, stand in `metadata` of its line."
        write_note(work, dataset, "as a BEIR folder", texts, _TABLES)


def _texts(dataset: Dataset) -> dict[str, str]:
    return dict(zip(*dataset.queries.columns("query_id", "text"), strict=True))


def _documents(dataset: Dataset) -> Iterator[dict[str, Any]]:
    for document in dataset.corpus:
        row = {"_id": document.doc_id, "title": document.title, "text": document.text}
        yield {**row, "metadata": dict(document.metadata)}


def _query(query: Query) -> dict[str, Any]:
    metadata = {name: getattr(query, name) for name in _QUERY_METADATA}
    known = {name: value for name, value in metadata.items() if value is not None}
    return {"_id": query.query_id, "text": query.text, "metadata": known}


def _qrels(dataset: Dataset) -> Iterator[tuple[str | int, ...]]:
    yield "query-id", "corpus-id", "score"
    for query_id, documents in dataset.qrels.items():
        for doc_id, score in documents.items():
            yield _quoted(query_id), _quoted(doc_id), score


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if value.startswith('"') else value

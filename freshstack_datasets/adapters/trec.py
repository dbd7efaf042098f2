"""A dataset as the files of a TREC track: topics, two kinds of relevance judgments, and the documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from freshstack_datasets.adapters.given import check_dataset
from freshstack_datasets.adapters.lines import write_json_lines, write_tab_lines
from freshstack_datasets.adapters.note import write_note
from freshstack_datasets.adapters.nuggets import numbered
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.loading import Dataset


def export(dataset: Dataset, folder: Path | str) -> None:
    """Write ``qrels.txt``, ``diversity.qrels``, ``topics.tsv``, ``corpus.jsonl`` and a note for people.

    ``qrels.txt`` has trec_eval's fields: query id, 0, document id, and the number of the query's nuggets that the
    document supports. ``diversity.qrels`` has ndeval's: query id, nugget, document id, and 1 or 0. A nugget is its
    number among those of its query, from 1 in the order of their positions: ndeval needs memory for the largest
    number there is, once for every document. ``topics.tsv`` has query id and text, each white space in the text a
    single space. ``corpus.jsonl`` has ``id`` and ``contents`` (title and text), as Anserini's JsonCollection reads
    them, and ``title`` and ``metadata``. ``README.md`` says whose the texts are.

    Fields are separated by tabs. An id may hold spaces, and then a reader that splits on tabs reads the file, while
    those that split on any white space (trec_eval, pytrec_eval, ir_measures, ir_datasets) find too many fields in
    that line and stop. Give such datasets to them in memory, or score with this package.

    Args:
        dataset: The dataset.
        folder: Where the files go; it must not exist, or be empty.

    Raises:
        InputError: It is no dataset, or the folder is taken.
        SnapshotError: The dataset has no corpus, its files cannot be read, or a judgment is of no nugget that it has.
    """
    check_dataset(dataset)
    with atomic_folder(folder) as work:
        write_tab_lines(work / "qrels.txt", _qrels(dataset))
        write_tab_lines(work / "diversity.qrels", numbered(dataset))
        write_tab_lines(work / "topics.tsv", ((q.query_id, " ".join(q.text.split())) for q in dataset.queries))
        write_json_lines(work / "corpus.jsonl", _documents(dataset))
        texts = (
            "Author, address and licence of a document, where known, stand in `metadata` of its line in `corpus.jsonl`. "
            "`topics.tsv` has no place for those of the questions: whoever shows one finds them in the snapshot."
        )
        write_note(work, dataset, "as TREC files", texts)


def _qrels(dataset: Dataset) -> Iterator[tuple[str | int, ...]]:
    for query_id, documents in dataset.qrels.items():
        for doc_id, score in documents.items():
            yield query_id, 0, doc_id, score


def _documents(dataset: Dataset) -> Iterator[dict[str, Any]]:
    for document in dataset.corpus:
        row = {"id": document.doc_id, "title": document.title, "contents": document.default_text()}
        yield {**row, "metadata": dict(document.metadata)}

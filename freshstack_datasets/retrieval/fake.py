"""A retriever that finds what it is told to, for the tests of code that takes retrievers."""

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Self

import numpy as np

from freshstack_datasets.errors import RunError
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.ranking import Run, as_run
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval.cut import check_k
from freshstack_datasets.retrieval.given import queries_given
from freshstack_datasets.retrieval.index_folder import damaged, read_note, write_note

FILE = "run.json"


class FakeRetriever:
    """A retriever that keeps to the protocol and answers from a run, whatever documents it is given.

    Queries that the run lacks find nothing.

    Args:
        run: The run to answer from, or a mapping from query id to document id to score.

    Raises:
        RunError: No ranking can be made of the run.
    """

    def __init__(self, run: Run | Mapping[str, Mapping[str, float]]) -> None:
        self.run = as_run(run)

    def index(self, documents: Collection[Document]) -> Self:
        """Return the retriever; the documents make no difference."""
        del documents
        return self

    def search(self, queries: Iterable[Query], k: int = 100) -> Run:
        """Return what the run has for the queries, cut at ``k``.

        Args:
            queries: The queries; only their ids matter.
            k: The most documents a query may have, at least 1.

        Raises:
            InputError: ``k`` is no whole number or below 1, or something is no query.
            RunError: A query comes twice.
        """
        k, run = check_k(k), self.run
        place = {query_id: i for i, query_id in enumerate(run.query_ids)}
        query_ids = [query.query_id for query in queries_given(queries)]
        found = []
        for query_id in query_ids:
            i = place.get(query_id)
            entries = np.arange(run.offsets[i], run.offsets[i + 1]) if i is not None else np.arange(0)
            found.append(entries[run.scores[entries] != 0][:k])
        offsets = np.cumsum([0, *map(len, found)])
        taken = np.concatenate([np.arange(0), *found])
        return Run.from_codes(query_ids, offsets, run.doc_ids, run.codes[taken], run.scores[taken], run.name)

    def save(self, folder: Path) -> None:
        """Write the run into a new folder.

        Args:
            folder: Where it goes; it must not exist, or be an empty folder.

        Raises:
            InputError: Something is there already.
        """
        with atomic_folder(folder) as work:
            (work / FILE).write_text(json.dumps(self.run.to_dict()), encoding="utf-8")
            write_note(work, "FakeRetriever", {"name": self.run.name})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the retriever that was saved into a folder.

        Args:
            folder: A folder that ``save`` wrote.

        Raises:
            InputError: The folder is something else, or damaged.
        """
        folder = Path(folder)
        parameters = read_note(folder, "FakeRetriever")
        try:
            run = json.loads((folder / FILE).read_text(encoding="utf-8"))
            return cls(as_run(run).named(str(parameters.get("name"))))
        except (OSError, ValueError, RecursionError, RunError):
            raise damaged(folder / FILE, "a run", "something else") from None

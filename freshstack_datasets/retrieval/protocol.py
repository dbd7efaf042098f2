"""What a retriever does."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Query


@runtime_checkable
class Retriever(Protocol):
    """Something that indexes documents and ranks them for queries.

    Whoever writes one keeps to this:

    - ``index`` reads the documents once, one at a time, and returns the retriever itself. Indexing again replaces
      what was there.
    - ``search`` searches for ``query.text`` and gives at most ``k`` documents a query, none of them with the score
      zero. Every query it was given is in the run, in the order given, even one that finds nothing.
    - Ties follow the one ranking (score descending, then document id descending), also at the cut: of equal scores
      the larger ids are within the first ``k``. A search for fewer documents is thus the beginning of one for more.
    - ``save`` writes a folder, all or nothing; ``load`` makes a retriever of it that finds exactly the same.
      Nothing in such a folder is ever unpickled.
    """

    def index(self, documents: Collection[Document]) -> Self:
        """Index documents, in place of any indexed before.

        Args:
            documents: The corpus; each id once.
        """
        ...

    def search(self, queries: Iterable[Query], k: int = 100) -> Run:
        """Return the best documents of each query.

        Args:
            queries: The queries; each id once. Their ``text`` is searched for.
            k: The most documents a query may have, at least 1.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write the index into a new folder.

        Args:
            folder: Where it goes; it must not exist, or be an empty folder.
        """
        ...

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the retriever that was saved into a folder.

        Args:
            folder: A folder that ``save`` of the same class wrote.
        """
        ...

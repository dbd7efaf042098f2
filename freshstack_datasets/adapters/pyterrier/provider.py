"""Datasets as PyTerrier asks for them: ``freshstack:langchain``, ``freshstack:langchain/2024-10``, ``freshstack:nimbus``.

Documents, topics and judgments need no Java.
"""

from typing import Any

import pandas as pd
import pyterrier as pt

from freshstack_datasets import catalog
from freshstack_datasets.adapters import ir_datasets
from freshstack_datasets.errors import UnknownNameError

_SEARCHABLE = ("text", "title", "body", "answer")
"""The fields of a query that can be searched for; the first is what retrievers of this package search for."""


class Provider(pt.datasets.DatasetProvider):
    """Finds the datasets that ``adapters.ir_datasets`` registers, by their names without ``freshstack/``."""

    def get_dataset(self, name: str) -> "FreshStackDataset":
        """Return a dataset.

        Raises:
            KeyError: There is none of that name, which PyTerrier tells.
        """
        ir_datasets.register()
        return FreshStackDataset(f"{catalog.OWNER}/{name}")

    def list_dataset_names(self) -> list[str]:
        """Return the names of all datasets, and of their snapshots."""
        return [name.removeprefix(f"{catalog.OWNER}/") for name in ir_datasets.names()]


class FreshStackDataset(pt.datasets.Dataset):
    """PyTerrier's view of a dataset of ``ir_datasets``, with topics that can be searched for as they are.

    A snapshot in a folder gets a name by ``fsd.adapters.ir_datasets.register(folder, "mine")``, and then is
    ``pt.get_dataset("irds:mine")``, with ``get_topics("text")``.

    Args:
        name: Its name in ``ir_datasets``.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._dataset: Any = pt.get_dataset(f"irds:{name}")

    def get_topics(self, variant: str | None = None) -> pd.DataFrame:
        """Return the queries, ``qid`` and ``query``.

        Args:
            variant: The field that is the query: ``text``, ``title``, ``body`` or ``answer``; ``text`` when not given.

        Raises:
            UnknownNameError: It is none of these.
        """
        field = _chosen(variant, _SEARCHABLE)
        rows = ((query.query_id, getattr(query, field)) for query in self.irds_ref().queries_iter())
        return pd.DataFrame(rows, columns=["qid", "query"])

    def get_qrels(self, variant: str | None = None) -> pd.DataFrame:
        """Return the judgments, ``qid``, ``docno``, ``label`` and ``iteration``, which is the nugget's number.

        Args:
            variant: ``relevance``, the only one there is, or None.

        Raises:
            UnknownNameError: It is another one.
        """
        _chosen(variant, ("relevance",))
        return pd.DataFrame(self.irds_ref().qrels_iter(), columns=["qid", "docno", "label", "iteration"])

    def get_corpus_iter(self, verbose: bool = True, start: int = 0, count: int | None = None) -> Any:
        """Return the documents as dictionaries: ``docno``, ``title``, ``text`` and ``url``.

        Args:
            verbose: Whether to show a progress bar.
            start: How many to leave out.
            count: How many to take; all when not given.
        """
        return self._dataset.get_corpus_iter(verbose, start, count)

    def text_loader(self, fields: Any = "*", *, verbose: bool = False) -> Any:
        """Return a transformer that adds fields of the documents, for ``pt.text.get_text``."""
        return self._dataset.text_loader(fields, verbose=verbose)

    def irds_ref(self) -> Any:
        """Return the dataset of ``ir_datasets``."""
        return self._dataset.irds_ref()

    def get_corpus_lang(self) -> Any:
        """Return the language of the documents, None when there are several."""
        return self._dataset.get_corpus_lang()

    def get_topics_lang(self) -> Any:
        """Return the language of the queries, None when there are several."""
        return self._dataset.get_topics_lang()

    def _describe_component(self, component: str) -> Any:
        return list(_SEARCHABLE) if component == "topics" else self._dataset._describe_component(component)

    def __repr__(self) -> str:
        return f"FreshStackDataset({self._name!r})"


def _chosen(variant: str | None, known: tuple[str, ...]) -> str:
    if variant not in (None, *known):
        raise UnknownNameError("variant", variant, known)
    return variant or known[0]

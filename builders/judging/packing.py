"""Which documents go into one call, and in which order."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, Self

from builders.scratch import Scratch
from builders.statistics.tokens import count
from freshstack_datasets.records import Document

AROUND = 16
"""Tokens of the two lines around a document, with its number and a mark."""
_AT_ONCE = 1_000
"""Documents that are read from the corpus at once."""


class Documents(Protocol):
    """Where documents are found by their ids: a ``Corpus``."""

    def get_many(self, doc_ids: Iterable[str]) -> list[Document]:
        """Return some documents in the order asked."""
        ...


class Texts:
    """The texts of the documents to judge, each read from the corpus once, which is slow out of order.

    Args:
        corpus: The corpus.
        doc_ids: The documents, in any order and any number of times.
        near: A file beside which there is room for the texts.
    """

    def __init__(self, corpus: Documents, doc_ids: Iterable[str], near: Path) -> None:
        self._scratch = Scratch(near)
        self._places: dict[str, int] = {}
        self._tokens: dict[str, int] = {}
        wanted = sorted(set(doc_ids))
        for start in range(0, len(wanted), _AT_ONCE):
            for document in corpus.get_many(wanted[start : start + _AT_ONCE]):
                text = shown_text(document)
                self._places[document.doc_id] = self._scratch.add({"text": text})
                self._tokens[document.doc_id] = count(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._scratch.__exit__(*error)

    def __getitem__(self, doc_id: str) -> str:
        """Return the text of a document as a model sees it."""
        text: str = self._scratch.at(self._places[doc_id])["text"]
        return text

    def tokens(self, doc_id: str) -> int:
        """Return how many tokens a document takes in a call."""
        return self._tokens[doc_id] + AROUND


def shown_text(document: Document) -> str:
    """Return what a model sees of a document: its title, where it has one, above its text."""
    return f"{document.title}\n\n{document.text}" if document.title.strip() else document.text


def shuffled(query_id: str, doc_ids: Iterable[str], seed: int) -> list[str]:
    """Return documents in an order that the question, the seed and their ids alone decide.

    Two of them have the same order whatever other documents there are.

    Args:
        query_id: The question.
        doc_ids: The documents, in any order.
        seed: Another one gives another order.
    """
    return sorted(doc_ids, key=lambda doc_id: (drawn(seed, query_id, doc_id), doc_id))


def drawn(*parts: str | int) -> str:
    """Return what is as good as a random number, of fixed length, and depends on some texts and numbers alone."""
    return hashlib.sha256("\n".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()


def packed(
    doc_ids: Sequence[str], tokens: Callable[[str], int], around: int, most_documents: int, most_tokens: int
) -> Iterator[tuple[str, ...]]:
    """Yield the documents of one call after the other, as many in each as there is room for, in the order given.

    Args:
        doc_ids: The documents.
        tokens: Tells the tokens of a document; one that has too many by itself has a call of its own.
        around: The tokens of a call without documents.
        most_documents: The most documents of a call.
        most_tokens: The most tokens of a call.
    """
    pack: list[str] = []
    total = around
    for doc_id in doc_ids:
        if pack and (len(pack) == most_documents or total + tokens(doc_id) > most_tokens):
            yield tuple(pack)
            pack, total = [], around
        pack.append(doc_id)
        total += tokens(doc_id)
    if pack:
        yield tuple(pack)


def parts_of(doc_ids: Sequence[str], asked: int) -> list[tuple[str, ...]]:
    """Return how documents are asked again: at once if at most half of those of the call are left, else in halves.

    So a document is asked again no more often than its call can be halved, and each call has fewer documents.

    Args:
        doc_ids: The documents that are left.
        asked: How many the call had.
    """
    if len(doc_ids) <= 1 or 2 * len(doc_ids) <= asked:
        return [tuple(doc_ids)] if doc_ids else []
    half = -(-len(doc_ids) // 2)
    return [tuple(doc_ids[:half]), tuple(doc_ids[half:])]

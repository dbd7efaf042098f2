"""Indexes kept between runs, under ``home() / "indexes"``, each under a key of all that could change it."""

import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from freshstack_datasets.errors import InputError
from freshstack_datasets.home import home
from freshstack_datasets.records import Document
from freshstack_datasets.retrieval.language import languages_of
from freshstack_datasets.retrieval.protocol import Retriever

log = logging.getLogger(__name__)


@runtime_checkable
class Cacheable(Retriever, Protocol):
    """A retriever whose index may be kept and taken again."""

    def cache_key(self) -> str:
        """Return all that decides on an index beside the documents: class, parameters, versions of libraries."""
        ...


class IndexedDataset(Protocol):
    """What of a dataset decides on the index of its corpus."""

    @property
    def fingerprint(self) -> str:
        """The digest of its content, "" when there is none."""
        ...

    @property
    def path(self) -> Path | None:
        """The folder that it was read from, None when it was made in memory."""
        ...

    @property
    def corpus(self) -> Collection[Document]:
        """Its documents."""
        ...


R = TypeVar("R", bound=Retriever)


def indexed(retriever: R, dataset: IndexedDataset) -> R:
    """Return a retriever that has the corpus of a dataset indexed: the one kept from an earlier call, or a new one.

    A kept index that is damaged is made anew. Where nothing can be kept, a warning says so and the index is made in
    memory. A retriever without ``cache_key`` and a dataset without fingerprint are indexed without being kept.
    Processes that do this at once all end with a whole index.

    Args:
        retriever: What indexes; it may be changed by it.
        dataset: The dataset.

    Raises:
        InputError: The retriever cannot index the corpus, or the dataset cannot be read.
    """
    if not isinstance(retriever, Cacheable) or not dataset.fingerprint:
        return retriever.index(dataset.corpus)
    languages = languages_of(dataset.corpus)  # outside the try: a dataset that cannot be read is no matter of the cache
    try:
        folder = home() / "indexes" / _key(retriever, dataset, languages)
        kept = _kept(retriever, folder)
    except (InputError, OSError) as error:
        log.warning("the index is not kept: %s", error)
        return retriever.index(dataset.corpus)
    if kept is not None:
        return kept
    made = retriever.index(dataset.corpus)
    try:
        made.save(folder)
    except (InputError, OSError) as error:
        if not os.path.lexists(folder):  # else another process was first
            log.warning("the index is not kept: %s", error)
    return made


def _key(retriever: Cacheable, dataset: IndexedDataset, languages: tuple[str, ...]) -> str:
    """Return a file name that differs whenever the index could.

    A folder may have been changed while its manifest still tells the old fingerprint, so the files count as well.
    """
    files = []
    if dataset.path is not None:
        for path in sorted((dataset.path / "corpus").rglob("*")):
            stat = path.stat()
            files.append([path.relative_to(dataset.path).as_posix(), stat.st_size, stat.st_mtime_ns])
    parts = [type(retriever).__name__, retriever.cache_key(), languages, dataset.fingerprint, files]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _kept(retriever: R, folder: Path) -> R | None:
    """Return what a folder holds, None when there is none or a damaged one, which is then removed."""
    if not os.path.lexists(folder):
        return None
    try:
        return type(retriever).load(folder)
    except InputError as error:
        log.info("making an index anew: %s", error)
    waste = Path(tempfile.mkdtemp(prefix=".waste-", dir=folder.parent))
    try:
        folder.replace(waste / folder.name)  # one step: no other process sees half of it
    except FileNotFoundError:  # another process was first
        pass
    finally:
        shutil.rmtree(waste, ignore_errors=True)
    return None

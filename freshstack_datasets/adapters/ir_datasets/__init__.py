"""Datasets under their names in ``ir_datasets``: documents, queries with nuggets, judgments and a document store.

Nothing is registered by importing this; ``register`` does, in the process that calls it.
"""

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, overload

from freshstack_datasets.adapters.libraries import Library
from freshstack_datasets.errors import InputError

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset

__all__ = ["names", "register"]

_IR_DATASETS = Library("ir_datasets", "ir")


@overload
def register() -> None: ...


@overload
def register(source: "Dataset | Path | str", name: str) -> None: ...


def register(source: "Dataset | Path | str | None" = None, name: str | None = None) -> None:
    """Make datasets known to ``ir_datasets`` in this process.

    Without arguments, all datasets of the catalog and of the package: ``freshstack/langchain``, which is its newest
    snapshot that the catalog knows, and ``freshstack/langchain/2024-10``. A snapshot that was published since is found
    by its name as well. Nothing is read or downloaded before something of a dataset is asked for.

    Documents have ``doc_id``, ``title``, ``text`` and ``url``; queries ``query_id``, ``text`` (what is searched for),
    ``title``, ``body``, ``answer``, ``tags`` and ``nuggets``; what is not known is "" or (). A judgment is a
    ``TrecQrel`` whose ``iteration`` is the nugget's ``number`` among those of its query, from 1, as in the
    ``diversity.qrels`` that ``freshstack export --to trec`` writes. A query's judgments of 0 come before those of 1, so
    that a document counts as relevant where a dictionary keeps only the last row of a query and a document.
    ``nuggets_iter`` yields all nuggets.

    Doing the same again changes nothing.

    Args:
        source: A snapshot: its folder, a dataset's name, or a dataset that was loaded.
        name: What it is to be called.

    Raises:
        MissingExtraError: ir_datasets is not installed.
        InputError: The name is taken by another dataset, only one of both was given, or the installed ir_datasets lacks
            something that this stands on.
        FreshStackError: The snapshot cannot be opened.
    """
    registration = _registration()
    if source is None and name is None:
        registration.register_known()
    elif source is None or not isinstance(name, str) or not name.strip():
        got = "no snapshot" if source is None else "no name"
        raise InputError("registering with ir_datasets", expected="a snapshot and a name, or neither", got=got)
    else:
        registration.register_one(source, name)


def names() -> list[str]:
    """Return the names that ``register`` makes known.

    Raises:
        MissingExtraError: ir_datasets is not installed.
    """
    return sorted(_registration().known())


def _registration() -> ModuleType:
    registration = _IR_DATASETS.load(f"{__name__}.registration")
    registry = _IR_DATASETS.attribute("ir_datasets", "registry")
    for name in ("register", "register_pattern"):
        _IR_DATASETS.attribute(registry, name)
    return registration

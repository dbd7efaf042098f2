"""The names under which ``ir_datasets`` finds datasets."""

import re
import threading
from pathlib import Path

import ir_datasets

from freshstack_datasets import catalog
from freshstack_datasets.adapters.ir_datasets.handlers import FreshStackDataset
from freshstack_datasets.adapters.ir_datasets.source import Source
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.loading import Dataset, load

_registering = threading.Lock()


def register_known() -> None:
    """Register every dataset that is known by name, and each of its snapshots.

    Raises:
        InputError: One of the names is taken by another dataset.
    """
    sources = known()
    with _registering:
        if not any(name in ir_datasets.registry for name in sources):
            names = "|".join(map(re.escape, catalog.full_names()))
            ir_datasets.registry.register_pattern(rf"^({names})/(.*)$", _later)
        for name, source in sources.items():
            _register(name, source)


def register_one(given: Dataset | Path | str, name: str) -> None:
    """Register a snapshot.

    Args:
        given: The snapshot.
        name: What it is to be called.

    Raises:
        InputError: The name is taken by another dataset, or the dataset was made of judgments alone.
        FreshStackError: It cannot be opened.
    """
    source = Source.of(given if isinstance(given, Dataset) else load(given))
    with _registering:
        _register(name, source)


def known() -> dict[str, Source]:
    """Return what is known by name: a dataset in its newest snapshot, and each snapshot by its own name."""
    sources: dict[str, Source] = {}
    for entry in catalog.listed()[0]:  # the newest first
        source = Source(entry.dataset, entry.name)
        sources.setdefault(entry.dataset, source)
        sources[f"{entry.dataset}/{entry.name}"] = source
    return sources


def _later(name: str, parts: tuple[str, str]) -> FreshStackDataset:
    """Return a snapshot that the catalog does not know, since it was published later.

    Raises:
        KeyError: It is not called as a snapshot is.
    """
    dataset, snapshot = parts
    if not catalog.is_snapshot_name(snapshot):
        raise KeyError(name)  # as for every name that ir_datasets does not know
    return FreshStackDataset(name, Source(dataset, snapshot))


def _register(name: str, source: Source) -> None:
    if name not in ir_datasets.registry:
        ir_datasets.registry.register(name, FreshStackDataset(name, source))
        return
    there = ir_datasets.registry[name]
    if not isinstance(there, FreshStackDataset) or there.source != source:
        what = f"the name {shown(name)} in ir_datasets"
        raise InputError(what, expected="a name that is free", got="one of another dataset", hint="choose another name")

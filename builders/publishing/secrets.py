"""Refusing a snapshot whose texts seem to hold secrets, by its own rows and not by what is said of it."""

from collections.abc import Iterator
from pathlib import Path

from builders.secrets import Allowed, Finding, review, scan_row
from freshstack_datasets.loading import load
from freshstack_datasets.progress import track


def refuse_secrets(folder: Path, allowed: Allowed) -> None:
    """Look into every query, nugget and document.

    Args:
        folder: The snapshot's folder; what is found is listed beside it.
        allowed: Findings that are accepted; a list of those of ``corpus`` and ``questions`` holds here too.

    Raises:
        SecretsError: Something seems to be secret, and is not allowed.
        SnapshotError: It cannot be read.
        MissingExtraError: The library that looks is not installed.
    """
    review(_found(folder), allowed, folder.absolute())


def _found(folder: Path) -> Iterator[Finding]:
    data = load(folder)
    for query in data.queries:
        yield from scan_row(query)
    for nugget in data.nuggets:
        yield from scan_row(nugget)
    for document in track(data.corpus, len(data.corpus), "looking for secrets"):
        yield from scan_row(document)

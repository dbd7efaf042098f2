"""The originals of October 2024 on a test Hub, at the commits that the catalog says."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from freshstack_datasets import catalog
from tests.hub.server import TestHub


def release(hub: TestHub, corpora: Mapping[str, Path], queries: Mapping[str, Path], xet: bool = False) -> None:
    """Put corpora and queries into the two repositories that the catalog names.

    Args:
        hub: The Hub.
        corpora: The Parquet file of each topic's corpus.
        queries: That of each topic's queries.
        xet: Keep them in the xet store.
    """
    at = catalog.originals()
    for original, split, files in ((at.corpus, "train", corpora), (at.queries, "test", queries)):
        held = {f"{topic}/{split}-00000-of-00001.parquet": file.read_bytes() for topic, file in files.items()}
        hub.put(original.repository, {"README.md": _card(files, split), **held}, xet=xet)
        repository = hub.repos[original.repository]
        if original.commit is not None:
            made = repository.commits.pop(repository.head)
            repository.commits[original.commit] = replace(made, id=original.commit)
            repository.refs["refs/heads/main"] = original.commit


def _card(topics: Mapping[str, Path], split: str) -> bytes:
    configs = "".join(
        f"- config_name: {topic}\n  data_files:\n  - split: {split}\n    path: {topic}/{split}-*\n" for topic in topics
    )
    return f"---\nconfigs:\n{configs}---\n".encode()

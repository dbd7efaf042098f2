"""Whether a system helped to choose which documents were judged, which is to its advantage."""

from freshstack_datasets.loading import Dataset
from freshstack_datasets.trace.reading import Pool
from freshstack_datasets.trace.schema import POOL_FILE
from leaderboard.submission.model import Submission

_DENSE = "dense:"
_SETTINGS = ("retriever", "retrievers")


def pooled(data: Dataset) -> frozenset[str]:
    """Return who chose the documents to judge, as the snapshot tells; nobody where it does not.

    Its manifest tells it, and so does ``provenance/pool.parquet``.

    Raises:
        SnapshotError: The file is damaged.
        HubError: It is on the Hub and cannot be had.
    """
    found: set[str] = set()
    for value in map((data.manifest.recipe.pool if data.manifest else {}).get, _SETTINGS):
        found.update(one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))
    place = data.trace_in(POOL_FILE)
    if place is not None:
        found |= Pool(place.folder, place.root).retrievers
    return frozenset(found)


def in_pool(submission: Submission, retrievers: frozenset[str]) -> bool | None:
    """Tell whether a system, or a part of it, helped to choose which documents were judged.

    Its components and its models are looked for among the retrievers of the pool. Where only one of them has an
    owner, as in ``acme/model`` and ``model``, which a folder's name is, the rest is compared.

    Args:
        submission: What was submitted.
        retrievers: Who chose the documents.

    Returns:
        None where it is not known who did.
    """
    if not retrievers:
        return None
    own = {_name(one) for one in (*submission.system.components, *(model.id for model in submission.models))}
    return any(_same(mine, other) for mine in own for other in map(_name, retrievers))


def _name(retriever: str) -> str:
    """Return a model's name, or what else a retriever is called by; where it is served from does not count."""
    name, at, place = retriever.removeprefix(_DENSE).rpartition("@")
    return (name if at and place.startswith(("http://", "https://")) else retriever.removeprefix(_DENSE)).casefold()


def _same(one: str, other: str) -> bool:
    names = [one, other]
    if any("/" not in name for name in names):
        names = [name.rpartition("/")[2] for name in names]
    return names[0] == names[1]

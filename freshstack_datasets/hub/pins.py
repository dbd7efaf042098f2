"""From a name and a snapshot to the commits that hold it."""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass

from freshstack_datasets import catalog
from freshstack_datasets.catalog import UNFILTERED, Layout, is_snapshot_name, snapshot_order
from freshstack_datasets.errors import HubError, UnknownNameError
from freshstack_datasets.hub import asking, cached, ledger
from freshstack_datasets.hub.words import PRIVATE, in_words, is_missing, quiet, told, unanswered
from freshstack_datasets.manifest import made
from freshstack_datasets.recipe import Source

log = logging.getLogger(__name__)

_MAIN = "main"
_REPOSITORY = re.compile(r"(?=.{3,96}\Z)[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class At:
    """Files of a repository at a commit.

    Args:
        repository: The repository's name.
        commit: The commit.
        patterns: What the paths of the files match; all files when there is none.
    """

    repository: str
    commit: str
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pin:
    """A snapshot and the commits that hold it.

    Args:
        dataset: The dataset's full name.
        snapshot: The snapshot's name.
        layout: How its files are laid out.
        repositories: Where they are: one repository; in the originals' layout that of the corpora and that of the
            queries.
    """

    dataset: str
    snapshot: str
    layout: Layout
    repositories: tuple[At, ...]

    def __str__(self) -> str:
        return f"{self.dataset}@{self.snapshot}"


def pin(name: str, snapshot: str | None = None) -> Pin:
    """Return where a snapshot is.

    The Hub is asked, once, only for the newest snapshot, and for one whose commit neither the catalog nor the ledger
    has.

    Args:
        name: The dataset's full name.
        snapshot: The snapshot; the newest when not given. Where the Hub does not answer, that is the newest of those
            that are known or of which something is on this machine.

    Raises:
        UnknownNameError: There is no dataset or snapshot of that name.
        HubError: The Hub does not tell.
    """
    if not _REPOSITORY.fullmatch(name):
        raise catalog.unknown(name)
    known = catalog.published(name)
    if snapshot is not None and not is_snapshot_name(snapshot):
        raise UnknownNameError(f"snapshot of {name}", snapshot, {*known, *cached.snapshots(name)})
    tags: Mapping[str, str] = {}
    if snapshot is None:
        tags = _all(name, known)
        snapshot = max({*known, *tags}, key=snapshot_order)
    found = known_pin(name, snapshot)
    if found is not None:
        return found
    if snapshot in known and known[snapshot].layout == "oct-2024":
        return Pin(name, snapshot, "oct-2024", _originals(name))
    return Pin(name, snapshot, "snapshot", (At(name, tags.get(snapshot) or _asked(name, snapshot, known)),))


def known_pin(name: str, snapshot: str) -> Pin | None:
    """Return where a snapshot is as far as the catalog and the ledger tell; None where the Hub had to be asked.

    Args:
        name: The dataset's full name.
        snapshot: The snapshot's name.
    """
    entry = catalog.published(name).get(snapshot)
    if entry is not None and entry.layout == "oct-2024":
        shared = catalog.originals()
        queries = shared.unfiltered if name.endswith(UNFILTERED) else shared.queries
        known = queries.commit or ledger.commit_of(queries.repository, _MAIN)
        return Pin(name, snapshot, entry.layout, _originals(name)) if known else None
    commit = (entry.commit if entry is not None else None) or ledger.commit_of(name, snapshot)
    return Pin(name, snapshot, "snapshot", (At(name, commit),)) if commit else None


def snapshots(repository: str) -> dict[str, str]:
    """Ask the Hub for the snapshots of a repository: the tags that are called as one, with their commits.

    Raises:
        UnknownNameError: There is no such repository, or none that may be seen.
        HubError: The Hub does not tell.
    """
    with in_words(f"the snapshots of {repository} cannot be listed", repository):
        return _tags(repository)


def moved(pin: Pin) -> str | None:
    """Return where the tag of a snapshot points now, if that is another commit than was recorded for it.

    Returns:
        The commit; "" when the tag is gone; None when it has not moved, or the snapshot is not known by a tag.

    Raises:
        FreshStackError: The Hub does not tell.
    """
    if pin.layout != "snapshot":
        return None
    (at,) = pin.repositories
    now = snapshots(at.repository).get(pin.snapshot, "")
    return None if now == at.commit else now


def sources(pin: Pin) -> list[Source]:
    """Return what a snapshot that is made of the originals is made from, for its manifest."""
    return [
        made(
            Source,
            url=f"https://huggingface.co/datasets/{at.repository}",
            name=at.repository,
            commit=at.commit,
            license="CC-BY-SA-4.0",
        )
        for at in pin.repositories
    ]


def _tags(repository: str) -> dict[str, str]:
    with quiet():
        tags = asking.references(repository)["tags"]
    return {name: commit for name, commit in tags.items() if is_snapshot_name(name) and ledger.COMMIT.fullmatch(commit)}


def _all(name: str, known: Mapping[str, object]) -> dict[str, str]:
    """Return the snapshots that the Hub has of a dataset; where it does not answer, those that are here."""
    what = f"the snapshots of {name} cannot be listed"
    try:
        tags = _tags(name)
    except Exception as error:  # whatever a client raises
        here = cached.snapshots(name)
        if unanswered(error) and (known or here):
            if not cached.offline():
                log.warning("%s; using the newest that is known or here", told(error, what, name))
            return here
        if known and is_missing(error):  # so far there are only the originals, in repositories of their own
            return {}
        if cached.offline():
            raise catalog.unknown(name, "HF_HUB_OFFLINE is set, so the Hub was not asked") from error
        raise told(error, what, name) from error
    if not (tags or known):
        expected, hint = "a tag for each snapshot, such as 2026-10", "give the name of a dataset in this layout"
        raise HubError(f"the repository {name} has no snapshot", expected=expected, got="none", hint=hint)
    return tags


def _asked(name: str, snapshot: str, known: Mapping[str, object]) -> str:
    """Return the commit of a snapshot whose commit is neither in the catalog nor in the ledger."""
    try:
        tags = _tags(name)
    except Exception as error:  # whatever a client raises
        here = cached.snapshots(name)
        if unanswered(error):
            if snapshot in here:
                return here[snapshot]
            if cached.offline():
                raise not_here(f"{name}@{snapshot}", sorted(here, key=snapshot_order)) from error
        if is_missing(error) and (exist := {*here, *(e.name for e in catalog.listed()[0] if e.dataset == name)}):
            hint = f"known: {', '.join(sorted(exist, key=snapshot_order))}; the Hub shows no {name}, and {PRIVATE}"
            raise UnknownNameError(f"snapshot of {name}", snapshot, hint=hint) from error
        others = f" (only {', '.join(sorted(here, key=snapshot_order))})" if here else ""
        raise told(error, f"{name}@{snapshot} is not on this machine{others}", name) from error
    if snapshot not in tags:
        raise UnknownNameError(f"snapshot of {name}", snapshot, {*known, *tags})
    return tags[snapshot]


def not_here(what: str, others: list[str]) -> HubError:
    """Return the error for a snapshot that is not on this machine while the Hub must not be asked.

    Args:
        what: The dataset and the snapshot.
        others: Other snapshots of the dataset that are here, which are no substitute.
    """
    got = f"only {', '.join(others)} of this dataset" if others else "none of its files"
    hint = f"HF_HUB_OFFLINE is set: unset it, then freshstack download {what}"
    return HubError(f"{what} is not on this machine", got=got, hint=hint)


def _originals(name: str) -> tuple[At, At]:
    """Return where a dataset's files are in the release of October 2024."""
    shared = catalog.originals()
    topic = name.partition("/")[2].removesuffix(UNFILTERED)
    queries = shared.unfiltered if name.endswith(UNFILTERED) else shared.queries
    pattern = (f"{topic}/*.parquet",)
    corpus, asked = (At(o.repository, o.commit or _main(o.repository), pattern) for o in (shared.corpus, queries))
    return corpus, asked


def _main(repository: str) -> str:
    """Return the commit of a repository's main branch, as it was when it was first asked for."""
    commit = ledger.commit_of(repository, _MAIN)
    if commit is not None:
        return commit
    what = f"which commit of {repository} to read is not known"
    try:
        with in_words(what, repository):
            commit = asking.references(repository)["branches"][_MAIN]
    except HubError:
        here = cached.references(repository).get(_MAIN)
        if here is None:
            raise
        return here
    ledger.record_commit(repository, _MAIN, commit)
    return commit

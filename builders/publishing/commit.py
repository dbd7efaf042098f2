"""Where a snapshot goes in a repository, and the writes that put it there: one commit and one tag."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from builders.cards.facts import Sizes
from builders.publishing.look import MAIN, Repository, Seen
from builders.publishing.plan import CARD, KEPT, LocalFile, Plan, Prepared, RemoteFile
from freshstack_datasets.catalog import is_snapshot_name, snapshot_order
from freshstack_datasets.errors import HubError, SnapshotError, shown_path
from freshstack_datasets.manifest import FILE, Manifest
from freshstack_datasets.tables.schema import CORPUS, QUERIES

if TYPE_CHECKING:
    from huggingface_hub import CommitInfo, CommitOperationAdd


@dataclass(frozen=True)
class Step:
    """What is left to do until a snapshot is published.

    Args:
        plan: What the commit changes.
        branch: The branch that the commit goes onto.
        parent: The commit that it follows.
        commit: The commit that holds the snapshot already, None when there is none.
        tagged: Whether that commit has its tag.
    """

    plan: Plan
    branch: str
    parent: str
    commit: str | None = None
    tagged: bool = False


def decide(prepared: Prepared, repository: Repository, seen: Seen) -> Step:
    """Return what is left to do, going by what a repository holds.

    Raises:
        SnapshotError: The snapshot's name is taken by another one.
        HubError: The repository holds something else than snapshots of this dataset.
    """
    manifest = prepared.manifest
    if manifest.snapshot in seen.tags:
        commit = seen.tags[manifest.snapshot]
        _refuse_other(repository, manifest, commit, seen.tags)
        beside = branch_of(manifest)
        branch = beside if seen.branches.get(beside) == commit else MAIN
        return Step(prepared.plan(()).nothing(), branch, seen.head, commit, tagged=True)
    newest = _newest(repository, manifest, seen)
    prepared = prepared.among(_published(repository, manifest, seen))
    if newest is None or snapshot_order(newest) <= snapshot_order(manifest.snapshot):
        return _onto(prepared, repository, MAIN, seen.head, seen.files)
    return _beside(prepared, repository, seen)


def _beside(prepared: Prepared, repository: Repository, seen: Seen) -> Step:
    """Return what is left to do for a snapshot that is older than that of main, which stays what it is."""
    branch = branch_of(prepared.manifest)
    if (commit := _in_history(repository, prepared.manifest)) is not None:
        return Step(prepared.plan(()).nothing(), MAIN, seen.head, commit)
    if branch in seen.branches:
        head = seen.branches[branch]
        return _onto(prepared, repository, branch, head, repository.files(head))
    return Step(prepared.plan(seen.files), branch, seen.head)


def _onto(prepared: Prepared, repository: Repository, branch: str, head: str, there: tuple[RemoteFile, ...]) -> Step:
    """Return what is left to do on a branch.

    Where it holds this very snapshot, which lacks only its tag, its card stays: other snapshots may have been published
    since it was written.
    """
    plan = prepared.plan(there)
    if plan.only_card and prepared.same_text(CARD, repository.card(head)):
        plan = plan.nothing()
    return Step(plan, branch, head, None if plan.changes else head)


def branch_of(manifest: Manifest) -> str:
    """Return the branch for a snapshot that is older than that of main; not its name alone, which is the tag's."""
    return f"snapshot-{manifest.snapshot}"


def _refuse_other(repository: Repository, manifest: Manifest, commit: str, names: Iterable[str]) -> None:
    """Refuse a snapshot when another one has been published under its name."""
    published = repository.manifest(commit)
    if published is not None and published.fingerprint == manifest.fingerprint:
        return
    free = next_name(manifest.snapshot, names)
    raise SnapshotError(
        f"{manifest.snapshot} of {repository.name} is published already",
        expected="no snapshot at its tag" if published is None else f"its fingerprint {published.fingerprint[:12]}",
        got="something else" if published is None else manifest.fingerprint[:12],
        hint=f"a published snapshot never changes: publish this one as a correction, {free}",
    )


def next_name(snapshot: str, taken: Iterable[str]) -> str:
    """Return the name of the next correction of a snapshot.

    Args:
        snapshot: The snapshot's name, or that of a correction of it.
        taken: The names that are given away.
    """
    month = snapshot.partition(".")[0]
    numbers = [int(name.partition(".")[2] or 0) for name in taken if is_snapshot_name(name) and name.startswith(month)]
    return f"{month}.{max(numbers, default=0) + 1}"


def _published(repository: Repository, manifest: Manifest, seen: Seen) -> dict[str, Sizes | None]:
    """Return the sizes of the snapshots that have a tag, by name, None where it is on something else."""
    tags = {name: commit for name, commit in seen.tags.items() if is_snapshot_name(name)}
    found = {name: repository.manifest(commit) for name, commit in tags.items()}
    return {
        name: (told.tables[QUERIES.name].rows, told.tables[CORPUS.name].rows)
        if told is not None and (told.dataset, told.snapshot) == (manifest.dataset, name)
        else None
        for name, told in found.items()
    }


def _newest(repository: Repository, manifest: Manifest, seen: Seen) -> str | None:
    """Return the newest snapshot that a repository holds, None when it holds none.

    Raises:
        HubError: It holds something else than snapshots of the dataset.
    """
    published = repository.manifest(seen.head) if FILE in {file.path for file in seen.files} else None
    others = [file.path for file in seen.files if file.path not in (KEPT, CARD)]
    if published is None and others:
        raise HubError(
            f"{repository.name} holds no snapshot",
            expected="an empty repository, or one of snapshots",
            got=f"files such as {others[0]!r}, which would be deleted",
            hint="name another one: --repo ORG/NAME",
        )
    if published is not None and published.dataset != manifest.dataset:
        raise HubError(
            f"{repository.name} holds another dataset",
            expected=manifest.dataset,
            got=published.dataset,
            hint="name another one: --repo ORG/NAME",
        )
    names = [*filter(is_snapshot_name, seen.tags), *([published.snapshot] if published else [])]
    return max(names, key=snapshot_order, default=None)


def _in_history(repository: Repository, manifest: Manifest) -> str | None:
    """Return the commit of main that holds a snapshot and never got its tag, None when there is none."""
    history = repository.api.list_repo_commits(repository.name, repo_type="dataset", revision=MAIN)
    for commit in history:
        if commit.title.startswith(title_of(manifest)) and holds(repository, commit.commit_id, manifest):
            return str(commit.commit_id)
    return None


def holds(repository: Repository, commit: str, manifest: Manifest) -> bool:
    """Return whether a commit holds this very snapshot."""
    found = repository.manifest(commit)
    return found is not None and (found.snapshot, found.fingerprint) == (manifest.snapshot, manifest.fingerprint)


def title_of(manifest: Manifest) -> str:
    """Return the first line of the commit of a snapshot."""
    return f"Publish {manifest.dataset}@{manifest.snapshot}, fingerprint {manifest.fingerprint[:12]}"


def push(prepared: Prepared, repository: Repository, seen: Seen, step: Step) -> str:
    """Make the one commit of a snapshot, and return its id.

    Args:
        prepared: The snapshot.
        repository: Where it goes.
        seen: What the repository held when the step was decided.
        step: What is to be done.
    """
    if step.branch != MAIN and step.branch not in seen.branches:
        repository.api.create_branch(
            repository.name, branch=step.branch, revision=step.parent, repo_type="dataset", exist_ok=True
        )
    return str(_committed(prepared, repository, step, pull_request=False).oid)


def propose(prepared: Prepared, repository: Repository, step: Step) -> str:
    """Open a pull request with the one commit of a snapshot, and return its address."""
    return str(_committed(prepared, repository, step, pull_request=True).pr_url)


def _committed(prepared: Prepared, repository: Repository, step: Step, *, pull_request: bool) -> "CommitInfo":
    from huggingface_hub import CommitOperationDelete

    return repository.api.create_commit(
        repository.name,
        [
            *(_added(prepared.folder, file) for file in step.plan.files),
            *(CommitOperationDelete(file.path, is_folder=False) for file in step.plan.deletes),
        ],
        commit_message=title_of(prepared.manifest),
        commit_description=f"Fingerprint: {prepared.manifest.fingerprint}",
        repo_type="dataset",
        revision=step.branch,
        parent_commit=step.parent,
        create_pr=pull_request,
    )


def _added(folder: Path, file: LocalFile) -> "CommitOperationAdd":
    """Return the operation that adds a file, whose bytes the client reads anew.

    Raises:
        SnapshotError: They are no longer those that were looked into.
    """
    from huggingface_hub import CommitOperationAdd

    try:
        operation = CommitOperationAdd(file.path, file.source)
        if operation.upload_info.sha256.hex() == file.sha256:
            return operation
        got = "others"
    except (OSError, ValueError):  # ValueError: the client's word for no file
        got = "none that can be read"
    hint = "nothing was sent: run it again when nothing changes the folder"
    raise SnapshotError(shown_path(folder / file.path), expected="the bytes as before", got=got, hint=hint)


def tag(prepared: Prepared, repository: Repository, commit: str) -> None:
    """Give the commit of a snapshot the snapshot's name."""
    repository.api.create_tag(
        repository.name,
        tag=prepared.manifest.snapshot,
        tag_message=f"Fingerprint: {prepared.manifest.fingerprint}",
        revision=commit,
        repo_type="dataset",
    )

"""What tests of publishing hold the Hub against."""

import json
import re
from functools import cache
from pathlib import Path

from builders.cards.render import render
from tests.hub.server import TestHub


@cache
def files_of(folder: Path, repo: str, before: tuple[Path, ...] = ()) -> dict[str, bytes]:
    """Return the files that a snapshot has in a repository: contents by path.

    Those of its folder, with the card and the pictures that tell people there of it.

    Args:
        folder: The snapshot.
        repo: The repository.
        before: Those that are there when it is published.
    """
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    card, pictures = render(folder, repository=repo, snapshots={other.name: sizes(other) for other in before})
    return {**files, "README.md": card.encode(), **pictures}


def sizes(folder: Path) -> tuple[int, int]:
    """Return the questions and the documents of a snapshot."""
    tables = json.loads((folder / "snapshot.json").read_bytes())["tables"]
    return tables["queries"]["rows"], tables["corpus"]["rows"]


def history(hub: TestHub, repo: str, revision: str = "main") -> list[list[str]]:
    """Return the rows of the list of snapshots in the card of a revision: name, questions, documents, a mark."""
    text = hub.read(repo, "README.md", revision).decode()
    rows = re.findall(r"^\| (.*) \|$", text.partition("\n## Snapshots\n")[2].partition("\n## ")[0], re.MULTILINE)
    return [[cell.strip(" `") for cell in row.split("|")] for row in rows if row.startswith("`")]


def files_at(hub: TestHub, repo: str, revision: str = "main") -> dict[str, bytes]:
    """Return the files of a revision, without the one that every repository has."""
    paths = hub.repos[repo].at(revision).files.keys() - {".gitattributes"}
    return {path: hub.read(repo, path, revision) for path in paths}


def check(hub: TestHub, repo: str, *folders: Path, commits: int | None = None) -> None:
    """Check that a repository holds snapshots, each whole at its tag, the last one on main.

    Which others the card of each lists depends on when it was published; that each has their right sizes is checked.

    Args:
        hub: The Hub.
        repo: The repository.
        folders: The snapshots, each in a folder of its name, in the order of their publication.
        commits: How many commits were made; one a snapshot when not given.
    """
    kept = hub.repos[repo]
    assert sorted(kept.tags) == sorted(folder.name for folder in folders)
    for folder in folders:
        listed = {name for name, *_ in history(hub, repo, folder.name)}
        before = tuple(other for other in folders if other.name in listed and other is not folder)
        assert files_at(hub, repo, folder.name) == files_of(folder, repo, before)
    assert len(kept.commits) - 1 == (len(folders) if commits is None else commits)  # the first is the Hub's own
    assert ".gitattributes" in kept.at("main").files
    if folders:
        assert kept.head == kept.tags[folders[-1].name]

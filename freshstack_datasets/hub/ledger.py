"""What was seen at the first download, under ``home() / "hub"``: commits of snapshots, and digests of files.

A snapshot never changes. So the commit that a tag points at is recorded once and used from then on without asking; and
a file whose digest was compared once is not read again for it. Whatever cannot be read there counts as not recorded.
"""

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import InputError
from freshstack_datasets.files import atomic_file, matching
from freshstack_datasets.home import home

log = logging.getLogger(__name__)

COMMIT = re.compile("[0-9a-f]{40}")
_SHA256 = re.compile("[0-9a-f]{64}")


def commit_of(repository: str, revision: str) -> str | None:
    """Return the commit that was recorded for a tag or a branch, None when none was."""
    commit = _read(_file(repository, revision)).get("commit")
    return commit if isinstance(commit, str) and COMMIT.fullmatch(commit) else None


def record_commit(repository: str, revision: str, commit: str) -> None:
    """Record which commit a tag or a branch points at, unless that was recorded before."""
    if commit_of(repository, revision) is None:
        _write(_file(repository, revision), {"repository": repository, "revision": revision, "commit": commit})


def replace_commit(repository: str, revision: str, commit: str) -> None:
    """Record that a tag points at another commit than it did, because somebody said that this is right.

    Raises:
        InputError: It cannot be recorded.
    """
    _write(_file(repository, revision), {"repository": repository, "revision": revision, "commit": commit})
    if commit_of(repository, revision) != commit:
        what = f"the commit of {repository}@{revision} cannot be recorded"
        raise InputError(what, hint=f"see who may write below {home()}")


def recorded(repository: str) -> dict[str, str]:
    """Return what was recorded of a repository: from a tag or a branch to its commit."""
    names = [path.stem for path in matching(_folder(repository), "*.json") if not COMMIT.fullmatch(path.stem)]
    found = {name: commit_of(repository, name) for name in names}
    return {revision: commit for revision, commit in found.items() if commit is not None}


def repositories() -> list[str]:
    """Return the names of the repositories of which something was recorded."""
    return sorted(path.name.replace("--", "/", 1) for path in matching(home() / "hub", "*--*") if path.is_dir())


def digests(repository: str, commit: str) -> dict[str, str]:
    """Return the sha256 of those files of a commit that were compared once, by path."""
    files = _read(_file(repository, commit)).get("files")
    if not isinstance(files, dict):
        return {}
    return {path: said for path, said in files.items() if isinstance(said, str) and _SHA256.fullmatch(said)}


def record_digests(repository: str, commit: str, found: Mapping[str, str]) -> None:
    """Record the sha256 of files of a commit, beside those that were recorded before."""
    before = digests(repository, commit)
    if not found.items() <= before.items():
        _write(_file(repository, commit), {"repository": repository, "commit": commit, "files": {**before, **found}})


def _folder(repository: str) -> Path:
    return home() / "hub" / repository.replace("/", "--")


def _file(repository: str, revision: str) -> Path:
    return _folder(repository) / f"{revision}.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _write(path: Path, told: Mapping[str, Any]) -> None:
    try:
        with atomic_file(path) as work:
            work.write_text(json.dumps(told, indent=2, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
    except (InputError, OSError) as error:
        log.warning("not recorded, and so looked at again the next time: %s", error)

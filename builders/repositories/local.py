"""From a repository on this machine to one of ours that reads its objects, and nothing else of it.

Its settings, hooks and attributes are out of reach: ours borrows the folder with the objects. Only what a name stands
for is asked of the repository itself, by commands that start no program, whatever its settings say.
"""

import os
from pathlib import Path

from builders.repositories.git import Git, GitError, new_repository
from builders.repositories.remote import Brought, pinned
from builders.topics import Repository
from freshstack_datasets.errors import InputError, shown_path


def repository_at(path: Path) -> Git | None:
    """Return the repository at a path, with files beside it or bare, None when there is none."""
    for folder in (path / ".git", path):
        if folder == path and not (path / "HEAD").is_file():
            continue  # not even asked
        if os.path.lexists(folder):
            git = Git(folder.absolute())
            try:
                git.run("rev-parse", "--git-dir")
            except GitError as error:
                if folder != path:
                    hint = "mend it, or remove .git to read the folder as it is"
                    raise InputError(f"cannot read {shown_path(folder)}", got=error.got, hint=hint) from None
                continue
            return git
    return None


def borrow(repository: Repository, theirs: Git, work: Path) -> Brought:
    """Make a repository that reads the objects of one on this machine.

    Args:
        repository: The repository and its pin.
        theirs: Where it is.
        work: A folder for ours.

    Raises:
        InputError: It does not have what is pinned.
    """
    commit = pinned(theirs, repository, "HEAD")
    ours = new_repository(work / "borrowed", theirs.run("rev-parse", "--show-object-format").decode().strip())
    objects = theirs.run("rev-parse", "--path-format=absolute", "--git-path", "objects").removesuffix(b"\n")
    quoted = b'"' + objects.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"\n'
    (ours.folder / "objects" / "info" / "alternates").write_bytes(quoted)
    return Brought(ours, commit, "local")

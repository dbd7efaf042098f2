"""The proof that a snapshot is on the Hub: what comes back, asked for by its commit, is what was sent."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from builders.publishing.look import Repository
from builders.publishing.patience import Patience
from builders.publishing.plan import Prepared
from freshstack_datasets.errors import SnapshotError
from freshstack_datasets.manifest import FILE, read_manifest
from freshstack_datasets.verification import Problem, verify


def prove(
    prepared: Prepared, repository: Repository, commit: str, patience: Patience
) -> tuple[list[Problem], list[str]]:
    """Download a commit into an empty cache and look into every row of it.

    Args:
        prepared: The snapshot that should be there.
        repository: Where it is.
        commit: The commit that holds it.
        patience: Waits where the Hub asks to.

    Returns:
        What is wrong with what came back; and the paths of files that are whole, but not those that are here: the
        card, unless it only lists other snapshots, and what else no fingerprint is of.
    """
    with _downloaded(repository, commit, patience.run) as (folder, cache):
        try:
            problems = verify(folder, root=cache)
            found = read_manifest(folder, cache).fingerprint
        except SnapshotError as error:
            return [Problem("unreadable", FILE, "", str(error))], []
        if found != prepared.manifest.fingerprint:
            message = f"expected {prepared.manifest.fingerprint}, got {found}"
            problems.append(Problem("fingerprint", FILE, "", message))
        texts = [file.path for file in prepared.files if isinstance(file.source, bytes)]
        return problems, [path for path in texts if not prepared.same_text(path, _read(folder / path))]


@contextmanager
def _downloaded(
    repository: Repository, commit: str, run: Callable[[Callable[[], str]], str]
) -> Iterator[tuple[Path, Path]]:
    """Yield the folder of a commit's files, and the cache that it is in, which nothing was in before."""
    with tempfile.TemporaryDirectory(prefix="proof-") as cache:
        root = Path(cache).resolve()
        folder = run(
            lambda: repository.api.snapshot_download(
                repository.name, repo_type="dataset", revision=commit, cache_dir=root
            )
        )
        yield Path(folder), root


def _read(path: Path) -> bytes:
    """Return the bytes of a file, none when it is not there; every text of ours has some."""
    return path.read_bytes() if path.is_file() else b""

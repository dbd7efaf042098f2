"""What of the Hub is on this machine already, found without asking it and without its client's heavier parts."""

from pathlib import Path

from freshstack_datasets.catalog import is_snapshot_name
from freshstack_datasets.files import is_file_below, matching
from freshstack_datasets.hub import ledger
from freshstack_datasets.manifest import FILE


def cache() -> Path:
    """Return the folder of the Hub's own cache. Files of a commit are links into it."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE).expanduser().resolve()


def offline() -> bool:
    """Tell whether the Hub's client was told not to ask it: ``HF_HUB_OFFLINE``."""
    from huggingface_hub import constants

    return bool(constants.is_offline_mode())


def folder_of(repository: str, commit: str) -> Path:
    """Return the folder in the Hub's cache where the files of a commit are, or would be."""
    return _repository(repository) / "snapshots" / commit


def has(folder: Path, path: str) -> bool:
    """Tell whether a folder of the Hub's cache has a file, and not a link to nothing."""
    return is_file_below(folder / path, cache())


def references(repository: str) -> dict[str, str]:
    """Return the commits of tags and branches as any client saw them when it last asked for them."""
    found = {}
    for path in matching(_repository(repository) / "refs", "*"):
        try:
            commit = path.read_text(encoding="ascii").strip()
        except (OSError, ValueError):  # a folder, such as that of pull requests
            continue
        if ledger.COMMIT.fullmatch(commit):
            found[path.name] = commit
    return found


def snapshots(repository: str) -> dict[str, str]:
    """Return the snapshots of a repository of which something is here, with their commits."""
    known = references(repository) | ledger.recorded(repository)
    return {
        name: commit
        for name, commit in known.items()
        if is_snapshot_name(name) and has(folder_of(repository, commit), FILE)
    }


def _repository(name: str) -> Path:
    return cache() / f"datasets--{name.replace('/', '--')}"

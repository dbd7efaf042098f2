"""Files of a commit, brought into the Hub's own cache and compared with what they should be."""

import hashlib
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from freshstack_datasets.catalog import snapshot_order
from freshstack_datasets.errors import HubError, SnapshotError, shown
from freshstack_datasets.files import matching
from freshstack_datasets.hub import cached, ledger
from freshstack_datasets.hub.asking import await_answer
from freshstack_datasets.hub.pins import At, Pin, not_here
from freshstack_datasets.hub.words import in_words
from freshstack_datasets.manifest import FILE, Manifest, read_manifest

_CARD = "README.md"
_DIGEST = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_SHARD = re.compile(r"(.*-)\d{5}(-of-(\d{5})\.parquet)")


def folder(pin: Pin, tables: Collection[str] | None = None, *, anew: bool = False) -> Path:
    """Return the folder of a snapshot in this package's layout, in the Hub's cache, with its files in it.

    What is there is not asked for again: when all is there, no request is made. A file that is used for the first time
    is compared with ``snapshot.json``, and that with what it was when it was first read.

    Args:
        pin: The snapshot.
        tables: The tables that are needed, or paths of files of the build's trace; every file when not given.
        anew: Compare every file, and not only those that are used for the first time; for ``renew`` was called.

    Raises:
        UnknownNameError: There is no such repository, or none that may be seen.
        HubError: The files are not here and cannot be had, or they are damaged.
        SnapshotError: The repository holds no snapshot of this layout.
    """
    (at,) = pin.repositories
    here = cached.folder_of(at.repository, at.commit)
    manifest = _manifest(pin, at, here, anew)
    wanted = [f for f in manifest.files() if tables is None or {f.path, f.path.partition("/")[0]} & {*tables}]
    _bring(pin, at, [file.path for file in wanted], [_CARD] if tables is None else [])
    for file in wanted:
        size = (here / file.path).stat().st_size
        if size != file.size:
            raise _damaged(pin, file.path, f"{file.size} bytes", f"{size}", anew)
    _compare(pin, at, here, {file.path: file.sha256 for file in wanted}, anew=anew, fetched=anew)
    ledger.record_commit(at.repository, pin.snapshot, at.commit)
    return here


def parts(pin: Pin) -> Path:
    """Return the folder of a snapshot in this package's layout with all files that can be had, whatever they hold.

    Args:
        pin: The snapshot.

    Raises:
        UnknownNameError: There is no such repository, or none that may be seen.
        HubError: Files are not here, and the Hub does not answer.
        SnapshotError: The repository holds no snapshot of this layout.
    """
    (at,) = pin.repositories
    here = cached.folder_of(at.repository, at.commit)
    _bring(pin, at, [FILE])
    manifest = _described(pin, here)
    _bring(pin, at, [], [*(file.path for file in manifest.files()), _CARD])
    ledger.record_commit(at.repository, pin.snapshot, at.commit)
    return here


def originals(pin: Pin) -> tuple[list[Path], list[Path]]:
    """Return the Parquet files of the corpus and of the queries of a snapshot in the originals' layout.

    Each is compared with what it was when it was first downloaded.

    Args:
        pin: The snapshot.

    Raises:
        HubError: The files are not here and cannot be had, or they are damaged.
    """
    corpus, queries = (_original_files(pin, at) for at in pin.repositories)
    return corpus, queries


def changed(pin: Pin) -> list[tuple[At, str]]:
    """Return those files of a snapshot, of all that are here, whose content is not what it was.

    That is what the Hub's cache calls it, what ``snapshot.json`` says, and what was recorded at the first download.

    Args:
        pin: The snapshot.
    """
    found = []
    for at in pin.repositories:
        here = cached.folder_of(at.repository, at.commit)
        recorded = _said(here) | ledger.digests(at.repository, at.commit)
        for file in (file for file in matching(here, "**/*") if file.is_file()):
            path = file.relative_to(here).as_posix()
            if _is_other(file, _name_in_cache(file)) or _is_other(file, recorded.get(path)):
                found.append((at, path))
    return found


def _said(here: Path) -> dict[str, str]:
    """Return the digests that a description holds; none where it cannot be read."""
    try:
        return {file.path: file.sha256 for file in read_manifest(here, cached.cache()).files()}
    except SnapshotError:
        return {}


def renew(pin: Pin) -> list[str]:
    """Fetch the files of a snapshot again whose content is not what it was, and return their paths.

    Args:
        pin: The snapshot.

    Raises:
        HubError: One cannot be had.
    """
    damaged = changed(pin)
    for at, path in damaged:
        with in_words(f"{path} of {pin} is damaged and cannot be downloaded again", at.repository), bars_on_terminals():
            from huggingface_hub import hf_hub_download

            await_answer(at.repository)
            hf_hub_download(at.repository, path, repo_type="dataset", revision=at.commit, force_download=True)
    return [path for _, path in damaged]


def _manifest(pin: Pin, at: At, here: Path, fetched: bool) -> Manifest:
    """Return the manifest of a commit, which is brought when it is not here."""
    _bring(pin, at, [FILE])
    _compare(pin, at, here, {FILE: None}, anew=True, fetched=fetched)
    return _described(pin, here)


def _described(pin: Pin, here: Path) -> Manifest:
    """Return the manifest of a commit; it is refused before the commit is recorded, if it is of another snapshot."""
    manifest = read_manifest(here, cached.cache())
    if manifest.snapshot != pin.snapshot:
        raise SnapshotError(f"{pin}: snapshot", expected=shown(pin.snapshot), got=manifest.snapshot)
    return manifest


def _bring(pin: Pin, at: At, needed: Sequence[str], more: Sequence[str] = ()) -> None:
    """See to it that files of a commit are here.

    Args:
        pin: The snapshot.
        at: The commit.
        needed: The paths of files that must be there.
        more: Those of files that it may lack.

    Raises:
        FreshStackError: Files that are needed cannot be had.
    """
    here = cached.folder_of(at.repository, at.commit)
    lacking = [path for path in needed if not cached.has(here, path)]
    if not lacking and (cached.offline() or all(cached.has(here, path) for path in more)):
        return
    if cached.offline():
        raise _not_whole(pin, at, f"{len(needed) - len(lacking)} of {len(needed)} files", lacking[0])
    part = (
        f", of which {len(needed) - len(lacking)} of {len(needed)} files are here,"
        if len(lacking) < len(needed)
        else ""
    )
    _fetch(at, f"{pin}{part} cannot be downloaded", [*needed, *more])
    gone = [path for path in lacking if not cached.has(here, path)]
    if gone == [FILE]:
        what = f"{at.repository} is no snapshot at commit {at.commit[:12]}"
        raise SnapshotError(what, expected=f"a {FILE}", got="none", hint="give the name of a dataset in this layout")
    if gone:
        what = f"{pin} is not whole: commit {at.commit[:12]} of {at.repository}"
        raise HubError(what, expected=f"the file {gone[0]}", got="none there", hint="tell whoever published it")


def _fetch(at: At, what: str, patterns: Sequence[str]) -> None:
    with in_words(what, at.repository), bars_on_terminals():
        from huggingface_hub import snapshot_download

        await_answer(at.repository)
        snapshot_download(at.repository, repo_type="dataset", revision=at.commit, allow_patterns=list(patterns))


@contextmanager
def bars_on_terminals() -> Iterator[None]:
    """Let the client draw its progress bars only on a terminal, or where it was told to."""
    from huggingface_hub import constants
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if constants.HF_HUB_DISABLE_PROGRESS_BARS is not None or (sys.stderr is not None and sys.stderr.isatty()):
        yield
    else:
        with disable_progress_bars():
            yield


def _not_whole(pin: Pin, at: At, here: str, lacking: str) -> HubError:
    """Return the error for files that lack while the Hub must not be asked."""
    if not matching(cached.folder_of(at.repository, at.commit), "*"):
        others = [name for name in cached.snapshots(pin.dataset) if name != pin.snapshot]
        return not_here(str(pin), sorted(others, key=snapshot_order))
    hint = f"HF_HUB_OFFLINE is set: unset it, then freshstack download {pin}"
    return HubError(f"{pin} is not whole on this machine", expected=lacking, got=f"{here} that are needed", hint=hint)


def _original_files(pin: Pin, at: At) -> list[Path]:
    """Return the files of a topic in one repository of originals."""
    here = cached.folder_of(at.repository, at.commit)
    if not _whole(here, at):
        if cached.offline():
            found = len(_found(here, at))
            raise _not_whole(pin, at, f"{found or 'none'} of the files", at.patterns[0])
        _fetch(at, f"{pin} cannot be downloaded", at.patterns)
    files = _found(here, at)
    if not _whole(here, at):
        what = f"{pin}: commit {at.commit[:12]} of {at.repository}"
        got = "some of them" if files else "none"
        raise HubError(what, expected=f"the files {at.patterns[0]}", got=got, hint="tell whoever published it")
    names = {file.relative_to(here).as_posix(): file for file in files}
    _compare(pin, at, here, {path: _name_in_cache(file) for path, file in names.items()}, anew=True)
    return files


def _found(here: Path, at: At) -> list[Path]:
    return sorted(file for pattern in at.patterns for file in matching(here, pattern) if file.is_file())


def _whole(here: Path, at: At) -> bool:
    """Tell whether all files that match are here, as far as their names say: ``train-00000-of-00002.parquet``."""
    names = [file.name for file in _found(here, at)]
    for shard in filter(None, map(_SHARD.fullmatch, names)):
        if any(f"{shard[1]}{number:05}{shard[2]}" not in names for number in range(int(shard[3]))):
            return False
    return bool(names)


def _compare(
    pin: Pin, at: At, here: Path, expected: Mapping[str, str | None], *, anew: bool = False, fetched: bool = False
) -> None:
    """Compare files with what they should be and with what they were before, and record what they are.

    Args:
        pin: The snapshot.
        at: The commit.
        here: Its folder.
        expected: From a file's path to its sha256, None where nothing says it.
        anew: Also read those that were compared before.
        fetched: Whether those that were damaged have been fetched again already.

    Raises:
        HubError: One is another.
    """
    before = ledger.digests(at.repository, at.commit)
    found = {path: _sha256(here / path) for path in expected if anew or path not in before}
    for path, got in found.items():
        for wanted in (expected[path], before.get(path)):
            if wanted is not None and wanted != got and len(wanted) == len(got):
                raise _damaged(pin, path, f"sha256 {wanted}", got, fetched)
    ledger.record_digests(at.repository, at.commit, found)


def _damaged(pin: Pin, path: str, expected: str, got: str, fetched: bool) -> HubError:
    """Return the error for a file that is not what it should be, be it fetched again already or not."""
    hint = (
        "so it is on the Hub: tell whoever published it" if fetched else f"freshstack download {pin} fetches it again"
    )
    return HubError(f"{path} of {pin} is damaged", expected=expected, got=got, hint=hint)


def _name_in_cache(file: Path) -> str | None:
    """Return what the Hub's cache calls a file's content: its sha256, or git's id of it; None where it is no link."""
    try:
        return file.readlink().name
    except OSError:
        return None


def _is_other(file: Path, name: str | None) -> bool:
    """Tell whether a file's content is not what a name says: a sha256, or git's id of it; no other name says any."""
    if name is None or not _DIGEST.fullmatch(name):
        return False
    if len(name) == 64:
        return name != _sha256(file)
    data = file.read_bytes()  # git keeps small files only
    return name != hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

"""Writing that is all or nothing: a temporary sibling first, then one rename."""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from freshstack_datasets.errors import InputError, shown_path


@contextmanager
def atomic_folder(target: Path | str) -> Iterator[Path]:
    """Yield a new folder that becomes ``target`` when the block ends well.

    Whatever ends the block early, a full disk included, leaves neither ``target`` nor the temporary folder behind.

    Args:
        target: Where the folder goes; it must not exist, or be an empty folder. Folders above it that are missing are
            made, and stay.

    Raises:
        InputError: Something is there already, or nothing can be put there.
    """
    target = Path(target)
    if target.name in ("", ".."):  # the folder one is in, which no temporary folder may be put into
        target = target.resolve()
    refuse_taken(target)
    with _placing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        work = _sibling(target)
        work.mkdir()
    try:
        yield work
        try:
            work.replace(target)
        except OSError:
            refuse_taken(target)  # somebody else was quicker
            raise
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


@contextmanager
def atomic_file(target: Path | str) -> Iterator[Path]:
    """Yield the path of a new file that replaces ``target`` when the block ends well.

    Args:
        target: Where the file goes; a file that is there is replaced, and stays as it was if the block fails. Folders
            above it that are missing are made, and stay.

    Raises:
        InputError: The path is a folder, or a device or pipe, which must not be replaced by a file, or nothing can be
            put there.
    """
    target = Path(target)
    with _placing(target):
        if target.exists() and not target.is_file():
            got = "a folder" if target.is_dir() else "a device or a pipe"
            raise InputError(f"cannot write {shown_path(target)}", expected="a file's path", got=got)
        target.parent.mkdir(parents=True, exist_ok=True)
        work = _sibling(target, target.suffix)
        work.touch(exist_ok=False)
    try:
        yield work
        work.replace(target)
    except BaseException:
        work.unlink(missing_ok=True)
        raise


@contextmanager
def _placing(target: Path) -> Iterator[None]:
    """Name the place that was asked for, not the temporary one beside it, when nothing can be put there."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL, or half a surrogate pair
        got = (getattr(error, "strerror", None) or str(error)).lower()
        hint = "choose another place, or check who may write there"
        raise InputError(f"cannot write {shown_path(target)}", got=got, hint=hint) from error


def is_file_below(path: Path, root: Path) -> bool:
    """Tell whether a path is a regular file that lies below a folder, links followed."""
    try:
        return stat.S_ISREG(path.stat().st_mode) and path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):  # RuntimeError: a loop of links
        return False


def matching(folder: Path, pattern: str) -> list[Path]:
    """Return what in a folder matches a pattern, in order; nothing where it cannot be looked into."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:  # not ours to read, or a name that is too long
        return []


def refuse_taken(target: Path) -> None:
    """Refuse a place where ``atomic_folder`` could not put a folder; to ask before long work.

    Args:
        target: Where the folder is to go.

    Raises:
        InputError: Something is there already, or no folder can be there.
    """
    if obstacle := _obstacle(target):
        raise InputError(
            f"cannot write {shown_path(target)}",
            expected="a new or an empty folder",
            got=obstacle,
            hint="choose another path or remove it first",
        )


def _obstacle(target: Path) -> str:
    """Return why no folder can be put at a path, "" when one can."""
    text = str(target)
    if "\0" in text or text.encode("utf-8", "ignore").decode() != text:
        return "a path with a NUL or bytes that are no text"
    try:
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            return "a link" if target.is_symlink() else "a file"
        if target.is_dir() and any(target.iterdir()):
            return "one that holds files"
        if target.is_mount():
            return "the root of a file system, which cannot be replaced"
        above = next(parent for parent in target.absolute().parents if os.path.lexists(parent))
        return "" if above.is_dir() else f"a path through the file {shown_path(above)}"
    except OSError as error:
        return (error.strerror or "an unusable path").lower()


def _sibling(target: Path, suffix: str = "") -> Path:
    """Return a new path beside another one, with a short name, since a name has 255 bytes at most.

    What is made there gets the rights that everything new gets. Those of Python's own temporary files would have to be
    put right by the process's umask, which cannot be read without setting it, for all threads and what they start.
    """
    return target.parent / f".{target.name[:40]}-{secrets.token_hex(8)}{suffix}"

"""A folder for the parts of a build, beside what it makes: it outlives whatever ends the build, to go on with it."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import refuse_taken

_RESULT = "result"
_TRIES = 10
"""How often a folder may be taken away by who had it before, at the very moment in which it is asked for."""


@contextmanager
def workshop(out: Path, mark: str) -> Iterator[Path]:
    """Yield the folder for parts, one of ours, which stays when the block ends early and something is in it.

    Nobody else has it meanwhile: of two builds of the same at once, one would take away what the other works with.

    Args:
        out: What is made; the folder has its name with ``.parts`` behind it.
        mark: The name of an empty file, by which the builder knows a folder of its own.

    Raises:
        InputError: There is one of that name, and it holds other files or links, another build is at work in it, or
            none can be made.
    """
    work = out.with_name(f"{out.name}.parts")
    lock = _locked(work, mark, out)
    try:
        yield work
        shutil.rmtree(work, ignore_errors=True)
    except BaseException:
        if [path.name for path in work.iterdir()] == [mark]:
            shutil.rmtree(work, ignore_errors=True)
        raise
    finally:
        os.close(lock)


@contextmanager
def result(work: Path, out: Path) -> Iterator[Path]:
    """Yield a folder that becomes what is made when the block ends well.

    It is among the parts: what a run leaves that is killed, a table of any size, is found there and removed by the next
    one, and stands in nobody's way.

    Args:
        work: The folder for parts.
        out: What is made; it must not exist, or be an empty folder.

    Raises:
        InputError: Somebody else put something there meanwhile.
    """
    folder = work / _RESULT
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
        refuse_taken(out)
        folder.replace(out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _locked(work: Path, mark: str, out: Path) -> int:
    """Return the open file by which the folder is held, which the system gives back however this process ends."""
    for _ in range(_TRIES):
        _refuse_foreign(work, mark)
        lock = _opened(work, mark)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            break
        except OSError:
            return lock  # a file system without locks
        with suppress(OSError):
            if os.path.samestat(os.fstat(lock), (work / mark).stat()):
                return lock
        os.close(lock)  # who had it took it away before we had it
    hint = "wait for its end, or name another folder"
    raise InputError(f"{shown_path(out)} is being made by another process", hint=hint)


def _opened(work: Path, mark: str) -> int:
    try:
        work.mkdir(parents=True, exist_ok=True)
        return os.open(work / mark, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        got = (error.strerror or str(error)).lower()
        hint = "choose another place, or check who may write there"
        raise InputError(f"cannot write {shown_path(work)}", got=got, hint=hint) from None


def _refuse_foreign(work: Path, mark: str) -> None:
    """Refuse a folder that is not ours, or in which a link would lead what we write elsewhere."""
    if not os.path.lexists(work):
        return
    got = ""
    if work.is_symlink() or not work.is_dir():
        got = "a link" if work.is_symlink() else "a file"
    else:
        found = list(work.iterdir())
        if found and not (work / mark).is_file():
            got = "a folder that holds other files"
        elif links := [path.name for path in found if path.is_symlink()]:
            got = f"a folder with the link {shown_path(links[0])}"
    if got:
        raise InputError(f"{shown_path(work)} is needed for parts", got=got, hint="remove it, or name another folder")

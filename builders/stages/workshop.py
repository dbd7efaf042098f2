"""A folder for the parts of a build, beside what it makes: it outlives whatever ends the build, to go on with it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import refuse_taken

_RESULT = "result"


@contextmanager
def workshop(out: Path, mark: str) -> Iterator[Path]:
    """Yield the folder for parts, one of ours, which stays when the block ends early and something is in it.

    Args:
        out: What is made; the folder has its name with ``.parts`` behind it.
        mark: The name of an empty file, by which the builder knows a folder of its own.

    Raises:
        InputError: There is one of that name, and it holds other files.
    """
    work = out.with_name(f"{out.name}.parts")
    if work.is_dir() and any(work.iterdir()) and not (work / mark).is_file():
        raise InputError(f"{shown_path(work)} is needed for parts", got="a folder that holds other files")
    work.mkdir(parents=True, exist_ok=True)
    (work / mark).touch()
    try:
        yield work
    except BaseException:
        if [path.name for path in work.iterdir()] == [mark]:
            shutil.rmtree(work, ignore_errors=True)
        raise
    shutil.rmtree(work, ignore_errors=True)


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

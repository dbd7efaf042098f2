"""Searching with retrievers of people's own, which may do anything: what fails in them is told with their name."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout

from freshstack_datasets.errors import FreshStackError, InputError, shown
from freshstack_datasets.ranking import Run, as_run
from freshstack_datasets.records import Query
from freshstack_datasets.retrieval.fusion import cut
from freshstack_datasets.retrieval.protocol import Retriever

PREFIX = "python:"
"""What the names of such retrievers begin with."""


@contextmanager
def aside() -> Iterator[None]:
    """Send what Python code prints in the block to standard error, so that it is no part of what a command prints.

    It changes ``sys.stdout`` for the whole process, thus also for other threads meanwhile. What does not look there
    passes: a library that is not written in Python, another process, code that took hold of ``sys.stdout`` before, and
    whatever is printed after the block, by a thread or at the end of the program.
    """
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def blamed(name: str) -> Iterator[None]:
    """Say of whatever fails in the block that the retriever failed, when it is one of somebody's own.

    Errors of this package pass, and so does the keyboard's interrupt. An exit of the program does not: it would end a
    build as if all were well. What such a retriever prints goes to standard error: see ``aside``.

    Args:
        name: The retriever's name.

    Raises:
        InputError: Something failed.
    """
    try:
        with aside() if name.startswith(PREFIX) else nullcontext():
            yield
    except (FreshStackError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if not name.startswith(PREFIX):
            raise
        what, hint = f"the retriever {shown(name)} failed", "mend it and run again; --verbose shows where"
        raise InputError(what, got=shown(error), hint=hint) from error


def searched(ready: Retriever, name: str, queries: Sequence[Query], k: int) -> Run:
    """Return what a retriever finds, held to what it was asked for when it is one of somebody's own.

    Args:
        ready: The retriever, with a corpus indexed.
        name: Its name.
        queries: What is searched for.
        k: The most documents of a list; what it finds beyond them is left out.

    Raises:
        InputError: It failed, or found what is no run.
    """
    with blamed(name):
        found = ready.search(queries, k)
        if not name.startswith(PREFIX):
            return found
        try:
            return cut(as_run(found), k)
        except InputError as error:
            what = f"what the retriever {shown(name)} found: {error.what}"
            raise InputError(what, expected=error.expected, got=error.got, hint=error.hint) from None

"""Pages put into the folder of a site; those of queries, nearly all of a large one, by several processes."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from freshstack_datasets.errors import InputError
from freshstack_datasets.loading import load
from leaderboard.boards.records import Topic
from leaderboard.site import queries
from leaderboard.site.pages import Page, Published, Site

Share = Sequence[tuple[Published, Topic]]
"""The topics whose queries one process writes."""

LEAST = 5_000
"""Rankings to show, of every system for every query, that are worth the start of processes: about five seconds."""

_KEPT = 31 << 20
"""Bytes, of at most 32 MiB that glibc takes: new memory for each array of each run takes a fifth of a process's time."""


class Written(dict[str, int]):
    """The files that were written, by path, with their bytes."""

    def add(self, path: str, size: int) -> None:
        """Note a file.

        Raises:
            InputError: There is one of that path: a page must never hide another one.
        """
        if path in self:
            raise InputError(f"two pages at {path}", expected="names that differ", hint="rename one of them")
        self[path] = size


def write(work: Path, pages: Iterable[Page]) -> Written:
    """Write pages into a folder.

    Raises:
        InputError: Two of them have the same path.
    """
    written = Written()
    for page in pages:
        path = work / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        content = page.text.encode("utf-8", "replace")  # a half of a surrogate pair is a question mark
        written.add(page.path, len(content))
        path.write_bytes(content)
    return written


@contextmanager
def writing_queries(site: Site, work: Path) -> Iterator[Callable[[], Iterator[Written]]]:
    """Have the pages of queries written while others are made; yield what waits for their end and says what was written.

    Processes are started for a large site alone. What one of them fails to write is written by this one, which so meets
    the same error, or gets by where only memory was short. None is left when the block ends, however it does.

    Args:
        site: The site.
        work: Its folder.
    """
    with ExitStack() as stack:
        shares = shares_of(site, os.cpu_count() or 1)
        helpers = [_started(stack) if len(shares) > 1 else None for _ in shares]
        for share, helper in zip(shares, helpers, strict=True):
            if helper:
                helper.give(site, share, work)

        def ended() -> Iterator[Written]:
            for share, helper in zip(shares, helpers, strict=True):
                yield (helper.written() if helper else None) or _written(site, share, work)

        yield ended


def shares_of(site: Site, processes: int) -> list[Share]:
    """Return what each process is to write: whole topics, since their runs are read once; one share of a small site."""
    topics = [(published, topic) for published in site.published for topic in site.shown_topics(published.board)]
    costs = [_rankings(*one) for one in topics]
    if site.datasets is not load or sum(costs) < LEAST:  # nothing else is known to open the same data elsewhere
        processes = 1
    shares: list[list[tuple[Published, Topic]]] = [[] for _ in range(max(1, min(processes, len(topics))))]
    loads = [0] * len(shares)
    for place in sorted(range(len(topics)), key=lambda place: -costs[place]):
        least = loads.index(min(loads))
        shares[least].append(topics[place])
        loads[least] += costs[place]
    return [share for share in shares if share]


def _rankings(published: Published, topic: Topic) -> int:
    held = (entry.per_query.get(topic.name) for entry in published.board.entries)
    return sum(len(one.query_ids) for one in held if one)


def _written(site: Site, share: Share, work: Path) -> Written:
    return write(work, (page for published, topic in share for page in queries.topic_pages(site, published, topic)))


class _Helper:
    """A process that writes a share."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # a process that was forked off one with threads may hang
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_help, args=(theirs,))
        with theirs:
            self._process.start()

    def give(self, site: Site, share: Share, work: Path) -> None:
        """Let it write; returns as soon as it has heard what."""
        with suppress(OSError):  # it was ended, which is heard later
            self._pipe.send((replace(site, warnings=[], _opened={}), share, work))

    def written(self) -> Written | None:
        """Wait for its end, and return what it wrote; None when it could not."""
        try:
            found = self._pipe.recv()
        except (EOFError, OSError):  # it was ended
            return None
        return found if isinstance(found, Written) else None

    def end(self) -> None:
        """End it at once, if it is still there."""
        self._process.terminate()
        self._process.join()
        self._process.close()
        self._pipe.close()


def _started(stack: ExitStack) -> _Helper | None:
    """Return a process that is ended with the stack; None where none can be started."""
    with suppress(OSError), _deaf():
        helper = _Helper()
        stack.callback(helper.end)
        return helper
    return None


@contextmanager
def _deaf() -> Iterator[None]:
    """Let processes that start within it never hear Ctrl-C: the one that started them does, and ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _help(pipe: "Connection[Written | None, tuple[Site, Share, Path]]") -> None:
    """Write a share, in a process of its own, and tell of it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    bytes(_KEPT)  # let go at once, which makes glibc keep the memory of arrays of that size for those that follow
    with suppress(EOFError, OSError):  # nobody waits for it any more
        given, written = pipe.recv(), None
        with suppress(Exception):  # the process that waits for it meets the same, and tells of it
            written = _written(*given)
        pipe.send(written)


def _end_with_parent() -> None:
    """End this process when the one that started it was killed; else it would work on for nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

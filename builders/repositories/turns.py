"""Which repository comes next when several are fetched at once: in their order, but never too many of one host."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import TypeVar

from builders.repositories.address import host_of
from builders.topics import Repository

PER_HOST = 4
"""Repositories that are fetched from one host at once, however many are fetched in all."""

R = TypeVar("R")


def in_turn(
    repositories: Sequence[Repository],
    pool: Executor,
    jobs: int,
    work: Callable[[Repository], R],
    starting: Callable[[Repository], None],
) -> Iterator[tuple[Repository, R]]:
    """Yield each repository with what was made of it, in the order in which they are finished.

    Args:
        repositories: The repositories.
        pool: Where the work is done.
        jobs: How many are worked on at once.
        work: What is done.
        starting: Is told of each before its work begins, in this thread.
    """
    waiting: dict[str, deque[tuple[int, Repository]]] = {}
    for place, repository in enumerate(repositories):
        waiting.setdefault(host_of(repository.url), deque()).append((place, repository))
    running: dict[Future[R], tuple[int, Repository]] = {}
    while waiting or running:
        while len(running) < jobs and (host := _next_host(waiting, running)) is not None:
            place, repository = waiting[host].popleft()
            if not waiting[host]:
                del waiting[host]
            starting(repository)
            running[pool.submit(work, repository)] = (place, repository)
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in sorted(done, key=lambda future: running[future][0]):
            yield running.pop(future)[1], future.result()


def _next_host(
    waiting: dict[str, deque[tuple[int, Repository]]], running: dict[Future[R], tuple[int, Repository]]
) -> str | None:
    """Return the host whose next repository is the first in order that may begin; "" stands for this machine."""
    asked = Counter(host_of(repository.url) for _, repository in running.values())
    free = [(queue[0][0], host) for host, queue in waiting.items() if not host or asked[host] < PER_HOST]
    return min(free)[1] if free else None

"""Many calls at once, for programs that wait for all of them: with a bar, and an end that loses no reply."""

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from freshstack_datasets.progress import track

if TYPE_CHECKING:
    from freshstack_datasets.llm.client import Client

T = TypeVar("T")

Job = Callable[["Client"], Awaitable[T]]
"""Something that asks a client, once or several times."""

_LOOK = 0.05
"""Seconds between two looks at what has arrived: to be woken by each result would take longer than some of them do."""


def ask_all(client: "Client", jobs: Sequence[Job[T]], what: str, unit: str = "calls") -> list[T]:
    """Return what jobs return, in their order, doing several at once while a bar shows what is done.

    At Ctrl-C nothing more is sent; replies to what was sent are waited for and kept, unless it comes twice. When a job
    fails, its error is raised when those replies are there.

    Args:
        client: Who is asked.
        jobs: What asks it.
        what: What is done, in a few words.
        unit: What the jobs are, in the plural.
    """
    if not jobs:
        return []
    run = _Run(client, jobs)
    done: dict[int, T] = {}
    try:
        for index, result in track(run.arrivals(), len(jobs), what, unit, note=lambda: str(client.counts)):
            done[index] = result
    except BaseException:
        run.end()
        raise
    return [done[index] for index in range(len(jobs))]


class _Run(Generic[T]):
    """An event loop in a thread of its own, so that it also runs where there is one already, as in a notebook."""

    def __init__(self, client: "Client", jobs: Sequence[Job[T]]) -> None:
        self._client, self._jobs = client, jobs
        self._arrived: deque[tuple[int, T]] = deque()
        self._finished = threading.Event()
        self._error: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._main: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def arrivals(self) -> Iterator[tuple[int, T]]:
        """Yield each job's number and what it returned, as they come; raise the first error."""
        self._thread.start()
        finished = False
        while not finished:
            finished = self._finished.wait(_LOOK)
            while self._arrived:
                yield self._arrived.popleft()
        if self._error:
            raise self._error

    def end(self) -> None:
        """Send nothing more, and wait for what was sent; a second Ctrl-C gives that up."""
        if self._thread.ident is None:
            self._loop.close()
            return
        self._tell(self._ended.set)
        try:
            self._thread.join(1.0)
            if self._thread.is_alive() and sys.stderr is not None:
                sys.stderr.write("waiting for replies to the calls that were sent; Ctrl-C again gives them up\n")
            while self._thread.is_alive():
                self._thread.join(_LOOK)
        except KeyboardInterrupt:
            self._tell(lambda: self._main.cancel() if self._main else None)
            self._thread.join()

    def _tell(self, action: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: there is nothing to be told
            self._loop.call_soon_threadsafe(action)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._work())
        except BaseException as error:  # whatever it is, who waits for the results has to hear of it
            self._error = error
        self._finished.set()

    async def _work(self) -> None:
        self._main = asyncio.current_task()
        numbered = enumerate(self._jobs)
        many = min(len(self._jobs), 2 * self._client.concurrency)  # some wait for their next try, and need no turn
        workers = [asyncio.create_task(self._do(numbered)) for _ in range(many)]
        ended = asyncio.create_task(self._ended.wait())
        work = asyncio.gather(*workers)
        waited_for: list[asyncio.Future[Any]] = [work, ended]
        try:
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*workers, ended):
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self._client.calls.end()
        if not work.cancelled():
            work.result()

    async def _do(self, numbered: Iterator[tuple[int, Job[T]]]) -> None:
        for index, job in numbered:
            self._arrived.append((index, await job(self._client)))
            await asyncio.sleep(0)  # what comes from the store takes no turn by itself, and an end has to be heard

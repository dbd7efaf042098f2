"""All repositories of a topic into one folder, after which a build needs no network."""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from builders.repositories.checkout import opened
from builders.repositories.lock import Lock, Locked, digest_of, key_of, pin_of
from builders.repositories.together import Together
from builders.repositories.turns import in_turn
from builders.topics import Repository
from freshstack_datasets.errors import FreshStackError, InputError, shown_path
from freshstack_datasets.progress import track

JOBS = 4
"""Repositories that are fetched at once."""
_BUSY = ".fetching"

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A repository that is in a folder of bundles now.

    Args:
        source: What the lock file says of it.
        was_there: Whether it was there before.
    """

    source: Locked
    was_there: bool


def fetch(
    repositories: Sequence[Repository],
    into: Path,
    *,
    jobs: int = JOBS,
    say: Callable[[str], None] = lambda _: None,
    environment: Mapping[str, str] | None = None,
) -> list[Fetched]:
    """Bring repositories into a folder, as a bundle each, with a lock file.

    Each is written down as soon as it is there, so that the same call, made again after any end, goes on where it
    stopped. What is there is not asked for again: a day stays the commit that it was found to be.

    Args:
        repositories: Those of a topic.
        into: The folder; other topics may be in it too.
        jobs: How many are fetched at once; no more than a few of them from one host.
        say: Takes a line for people.
        environment: Where tokens for servers are looked for; the process's own when not given.

    Returns:
        One for each repository, in their order.

    Raises:
        InputError: Some of them cannot be had; all others are there.
    """
    wanted: dict[Key, Repository] = {}
    for repository in repositories:
        wanted.setdefault(key_of(repository), repository)
    failed: dict[Key, FreshStackError] = {}
    with _alone(into), _threads(jobs) as pool, Together() as together:
        lock = Lock.read(into)
        lock.write(into)  # with what an earlier call, ended by force, had only added
        kept = pool.map(partial(_kept, lock, into), wanted.values())
        there = {
            key
            for key, is_kept in zip(wanted, track(kept, len(wanted), "looking at what is there"), strict=True)
            if is_kept
        }
        left = [repository for key, repository in wanted.items() if key not in there]
        bring = partial(_tried, together, into, environment)
        try:
            results = in_turn(left, pool, jobs, bring, lambda one: say(f"fetching {one.name}, {pin_of(one)}"))
            for repository, result in track(results, len(left), "fetching", "repositories"):
                if isinstance(result, Locked):
                    lock.add(into, result)
                else:
                    failed[key_of(repository)] = result
        finally:
            lock.write(into)
    if failed:
        raise _failure([failed[key] for key in wanted if key in failed], len(wanted), say)
    fetched = []
    for repository in repositories:
        fetched.append(Fetched(lock.sources[key_of(repository)], key_of(repository) in there))
        there.add(key_of(repository))  # it is, where the same comes again
    return fetched


def _kept(lock: Lock, into: Path, repository: Repository) -> bool:
    """Tell whether a repository is there and whole."""
    locked = lock.of(repository)
    try:
        return locked is not None and locked.checked(into).is_file()
    except InputError:
        return False


def _tried(
    together: Together, into: Path, environment: Mapping[str, str] | None, repository: Repository
) -> Locked | FreshStackError:
    """Bring a repository, or return why it cannot be had."""
    try:
        with together.joined():
            return _brought(repository, into, environment)
    except FreshStackError as error:
        return InputError(f"{repository.name}: {error}")


def _brought(repository: Repository, into: Path, environment: Mapping[str, str] | None) -> Locked:
    name = _file_name(repository)
    with (
        tempfile.TemporaryDirectory(dir=into / _BUSY) as work,
        opened(repository, environment=environment, scratch=Path(work)) as checkout,
    ):
        file = Path(work, "bundle")
        checkout.bundled(file, Path(work))
        size, digest = file.stat().st_size, digest_of(file)
        file.replace(into / name)
    pinned = checkout.pinned
    return Locked(
        url=repository.url,
        name=repository.name,
        pin=pin_of(repository),
        commit=pinned.commit,
        date=pinned.date,
        how=checkout.how,
        bundle=name,
        size=size,
        sha256=digest,
    )


def _failure(errors: Sequence[FreshStackError], asked: int, say: Callable[[str], None]) -> FreshStackError:
    """Return one error for all, and name them when they are several."""
    if len(errors) == 1:
        return errors[0]
    for error in errors:
        say(f"not fetched: {error}")
    what = f"{len(errors):,} of {asked:,} repositories cannot be fetched"
    rest = "the others are there: " if len(errors) < asked else ""
    return InputError(what, hint=f"{rest}see to these, and run the same command again")


def _file_name(repository: Repository) -> str:
    """Return a file's name that tells people what is in it, and is no other repository's or pin's."""
    told = re.sub(r"[^A-Za-z0-9_.-]+", "--", repository.name).strip(".-")[:100]
    own = hashlib.sha256("\n".join(key_of(repository)).encode()).hexdigest()[:12]
    return f"{told}-{own}.bundle"


@contextmanager
def _threads(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Yield threads, which begin nothing new once the block has ended."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _alone(into: Path) -> Iterator[None]:
    """Keep others from fetching into the same folder at the same time; clear away what an earlier call left."""
    import fcntl

    busy = into / _BUSY
    try:
        busy.mkdir(parents=True, exist_ok=True)
        file = (busy / "lock").open("w")
    except OSError as error:
        raise InputError(f"cannot write {shown_path(into)}", got=(error.strerror or str(error)).lower()) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"somebody else is fetching into {shown_path(into)}", hint="wait for it") from None
        for left in busy.iterdir():
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
        try:
            yield
        finally:
            shutil.rmtree(busy, ignore_errors=True)

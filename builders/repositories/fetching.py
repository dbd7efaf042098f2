"""All repositories of a topic into one folder, after which a build needs no network."""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from builders.repositories.checkout import opened
from builders.repositories.lock import Lock, Locked, digest_of, pin_of
from builders.topics import Repository
from freshstack_datasets.errors import FreshStackError, InputError, shown_path
from freshstack_datasets.files import atomic_file
from freshstack_datasets.progress import track

_BUSY = ".fetching"


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
    say: Callable[[str], None] = lambda _: None,
    environment: Mapping[str, str] | None = None,
) -> list[Fetched]:
    """Bring repositories into a folder, as a bundle each, with a lock file.

    The lock file is written after each of them, so that the same call, made again after any end, goes on where it
    stopped. What is there is not asked for again: a day stays the commit that it was found to be.

    Args:
        repositories: Those of a topic.
        into: The folder; other topics may be in it too.
        say: Takes a line for people.
        environment: Where tokens for servers are looked for; the process's own when not given.

    Raises:
        InputError: One of them cannot be had; those before it are there.
    """
    found = []
    with _alone(into):
        lock = Lock.read(into)
        for repository in track(repositories, len(repositories), "fetching"):
            locked = _kept(lock, repository, into)
            if (was_there := locked is not None) is False:
                say(f"fetching {repository.name}, {pin_of(repository)}")
            locked = locked or _brought(repository, into, environment)
            lock.sources[repository.url, pin_of(repository)] = locked
            lock.write(into)
            found.append(Fetched(locked, was_there))
    return found


def _kept(lock: Lock, repository: Repository, into: Path) -> Locked | None:
    """Return a repository that is there and whole."""
    locked = lock.of(repository)
    try:
        if locked is not None:
            locked.checked(into)
    except InputError:
        return None
    return locked


def _brought(repository: Repository, into: Path, environment: Mapping[str, str] | None) -> Locked:
    name = _file_name(repository)
    try:
        with (
            opened(repository, environment=environment) as checkout,
            tempfile.TemporaryDirectory(dir=into / _BUSY) as work,
            atomic_file(into / name) as file,
        ):
            checkout.bundled(file, Path(work))
            size, digest = file.stat().st_size, digest_of(file)
    except FreshStackError as error:
        raise InputError(f"{repository.name}: {error}") from error
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


def _file_name(repository: Repository) -> str:
    """Return a file's name that tells people what is in it, and is no other repository's or pin's."""
    told = re.sub(r"[^A-Za-z0-9_.-]+", "--", repository.name).strip(".-")[:100]
    own = hashlib.sha256(f"{repository.url}\n{pin_of(repository)}".encode()).hexdigest()[:12]
    return f"{told}-{own}.bundle"


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
        try:
            yield
        finally:
            shutil.rmtree(busy, ignore_errors=True)

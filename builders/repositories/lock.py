"""The lock file of a folder of bundles: which commit each pin turned out to be, and the digest of each bundle.

While bundles come, each is a line in a second file, which is much quicker than writing thousands of them anew for each.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, ValidationError

from builders.repositories.records import LARGEST
from builders.topics import Repository
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.files import atomic_file
from freshstack_datasets.recipe import Count, Model, Sha256, Short, as_tuple

NAME = "sources.json"
ADDED = "sources.jsonl"
"""What came since the lock file was written; it is not there once a call has come to its end."""
FORMAT = 1
_LONGEST = 1 << 26


class Locked(Model):
    """One repository in a folder of bundles.

    Args:
        url: Its address, as in the topic.
        name: Its name.
        pin: What the topic pins: ``commit …``, ``tag …`` or ``date …``.
        commit: The commit; for a plain folder ``sha256:`` and the digest of its files.
        date: The day of it, or "".
        how: How it came.
        bundle: The file.
        size: Its bytes.
        sha256: Its digest.
    """

    url: Short
    name: Short
    pin: Short
    commit: Short
    date: str
    how: Short
    bundle: Short
    size: Count
    sha256: Sha256

    def checked(self, folder: Path) -> Path:
        """Return the path of the bundle, which is whole.

        Raises:
            InputError: It is not there, or is another one.
        """
        path = folder / self.bundle
        if "/" in self.bundle or not path.is_file():
            raise InputError(f"{shown_path(path)} is not there", hint="fetch again")
        if path.stat().st_size != self.size or digest_of(path) != self.sha256:
            raise InputError(f"{shown_path(path)} is not the file that was fetched", hint="remove it and fetch again")
        return path


class _Written(Model):
    format: int
    largest: int
    sources: Annotated[tuple[Locked, ...], BeforeValidator(as_tuple)]

    @classmethod
    def of(cls, *sources: Locked) -> Self:
        return cls(format=FORMAT, largest=LARGEST, sources=sources)

    def current(self) -> tuple[Locked, ...]:
        """Return the repositories, none when they were kept under other rules."""
        return self.sources if (self.format, self.largest) == (FORMAT, LARGEST) else ()


@dataclass(frozen=True, slots=True)
class Lock:
    """What a folder of bundles holds.

    Args:
        sources: From address and pin to the repository.
    """

    sources: dict[tuple[str, str], Locked]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a folder's lock file; a folder that has none yet holds nothing.

        Raises:
            InputError: It cannot be read.
        """
        path = folder / NAME
        try:
            content = _content(path)
            written = _Written.of() if content is None else _Written.model_validate(json.loads(content))
        except (ValueError, RecursionError, ValidationError) as error:
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(f"{shown_path(path)} is no lock file", got=shown(first), hint="remove it") from None
        found = [*written.current(), *_added(folder)]
        return cls({(source.url, source.pin): source for source in found})

    def of(self, repository: Repository) -> Locked | None:
        """Return the repository as the topic pins it, None when it is not there."""
        return self.sources.get(key_of(repository))

    def add(self, folder: Path, source: Locked) -> None:
        """Add a repository, also to the files."""
        self.sources[source.url, source.pin] = source
        with (folder / ADDED).open("a", encoding="utf-8", newline="\n") as file:
            file.write(_Written.of(source).model_dump_json() + "\n")

    def write(self, folder: Path) -> None:
        """Write the lock file, whole or not at all; nothing is then left of the other one."""
        written = _Written.of(*(source for _, source in sorted(self.sources.items())))
        text = json.dumps(written.model_dump(), indent=1, ensure_ascii=False)
        with atomic_file(folder / NAME) as work:
            work.write_text(text + "\n", encoding="utf-8")
        (folder / ADDED).unlink(missing_ok=True)


def _content(path: Path) -> bytes | None:
    """Return what a file holds, None if it is not there."""
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"cannot read {shown_path(path)}", got=(error.strerror or str(error)).lower()) from None


def _added(folder: Path) -> Iterator[Locked]:
    """Yield what came since the lock file was written, but for a line that the end of everything cut off."""
    for line in (_content(folder / ADDED) or b"").splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            yield from _Written.model_validate_json(line).current()


def key_of(repository: Repository) -> tuple[str, str]:
    """Return what a repository is known by: its address and its pin."""
    return repository.url, pin_of(repository)


def pin_of(repository: Repository) -> str:
    """Return what a topic pins, in two words."""
    pins = {"commit": repository.commit, "tag": repository.tag, "date": repository.date}
    return next(f"{kind} {value}" for kind, value in pins.items() if value is not None)


def digest_of(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

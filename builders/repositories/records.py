"""What a repository gives: files, what was passed over and why, and where it was pinned."""

from dataclasses import dataclass

LARGEST = 10 * 2**20
"""Bytes that a file may have; larger ones are not even fetched where the server can leave them out."""

LARGEST_PDF = 100 * 2**20
"""Bytes that a PDF among documents may have: most of them are pictures, which are not read."""

REASONS = {
    "submodule": "another repository, which a topic names itself where it is wanted",
    "symlink": "a link; what it leads to is read where it is",
    "unsafe-path": "a path that is no text, holds control characters, leads out, or is too long",
    "excluded": "not among what the topic includes, or among what it excludes",
    "vendored": "somebody else's code, copied into the repository, or what a build put there",
    "generated": "written by a program: lock files, minified code, files whose first lines say so",
    "too-large": "larger than a file may be",
    "empty": "no content",
    "lfs-pointer": "the content is not in the repository, a pointer stands for it",
    "binary": "no text",
}
"""Every reason for which a file is passed over, with what it means."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to make chunks of.

    Args:
        path: Where it is inside the repository, with slashes.
        data: Its content.
        mode: ``100644``, or ``100755`` when it can be run.
    """

    path: str
    data: bytes
    mode: str


@dataclass(frozen=True, slots=True)
class Passed:
    """A file that was passed over.

    Args:
        path: Where it is inside the repository; bytes that are no text are written as numbers.
        reason: One of ``REASONS``.
        detail: What exactly, in a few words.
    """

    path: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Pinned:
    """Where the files come from.

    Args:
        url: The address that the topic gives.
        commit: The commit; for a plain folder ``sha256:`` and a digest of its files.
        date: The day of the commit, UTC, such as ``2024-10-24``; for a plain folder the day that the topic gives, or "".
        license: The licence that the topic gives.
    """

    url: str
    commit: str
    date: str
    license: str | None

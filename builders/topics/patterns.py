"""Which files of a source are taken: patterns as in ``.gitignore``, by pathspec."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from freshstack_datasets.errors import MissingExtraError, shown
from freshstack_datasets.typed_files.refused import RefusedError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MOST = 1_000
LONGEST = 500
"""Characters of a pattern."""


def check_patterns(patterns: Sequence[str]) -> None:
    """Check that every pattern could match some path.

    Raises:
        RefusedError: One could not, there are too many, or one is too long.
        MissingExtraError: pathspec is not installed.
    """
    if len(patterns) > MOST:
        raise RefusedError(f"at most {MOST:,} patterns", f"{len(patterns):,}")
    for pattern in patterns:
        if len(pattern) > LONGEST or not pattern.isprintable():
            raise RefusedError(f"patterns of at most {LONGEST} printable characters", shown(pattern))
        try:
            found = _spec([pattern]).patterns
        except (ValueError, re.error):
            found = []
        if not found or found[0].include is None:
            raise RefusedError("patterns as in .gitignore, such as docs/ or *.md", shown(pattern))


def chooser(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """Return what tells whether a file is taken.

    A file is taken when ``include`` is empty or matches it, and ``exclude`` does not. Within either list the last
    pattern that matches decides, and one that begins with ``!`` takes back what those before it matched. A pattern with
    a slash in it or in front starts at the top; one that ends with a slash matches a folder, and with it everything in
    it.

    Args:
        include: Patterns of what is taken.
        exclude: Patterns of what is not.

    Returns:
        A function of a path inside the source, with ``/`` between its parts.

    Raises:
        MissingExtraError: pathspec is not installed, and there is a pattern.
    """
    wanted = _spec(include) if include else None
    unwanted = _spec(exclude) if exclude else None

    def is_taken(path: str) -> bool:
        if wanted is not None and not wanted.match_file(path):
            return False
        return unwanted is None or not unwanted.match_file(path)

    return is_taken


def _spec(patterns: Sequence[str]) -> "GitIgnoreSpec":
    try:
        from pathspec import GitIgnoreSpec
    except ImportError as error:
        raise MissingExtraError("pathspec", "build") from error
    return GitIgnoreSpec.from_lines(patterns)

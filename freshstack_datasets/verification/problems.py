"""What can be wrong with a snapshot, collected without drowning in it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freshstack_datasets.errors import shown

LISTED = 20
"""Problems of one code in one file that are listed one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a snapshot.

    Args:
        code: What kind of thing, see ``verification.folder``.
        file: Where, relative to the snapshot's folder.
        id: Which: the id, or the ids of a row's key with spaces between them; "" where the whole file is meant.
        message: The same in words.
    """

    code: str
    file: str
    id: str
    message: str

    def __str__(self) -> str:
        which = f" {shown(self.id)}" if self.id else ""
        return f"{self.file}: {self.code}{which}: {self.message}"


class Report:
    """The problems found so far."""

    def __init__(self) -> None:
        self._listed: list[Problem] = []
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, code: str, file: str, which: str, message: str) -> None:
        """Take one problem."""
        self.add_rows(code, file, [0], lambda _: (which, message))

    def add_rows(self, code: str, file: str, rows: Sequence[int], told: Callable[[int], tuple[str, str]]) -> None:
        """Take problems of one code in one file.

        Args:
            code: The code.
            file: The file.
            rows: Where they are.
            told: From one of ``rows`` to the problem's id and message; asked only for those that are listed.
        """
        room = max(0, LISTED - self._counts[code, file])
        self._listed += [Problem(code, file, *told(int(row))) for row in rows[:room]]
        self._counts[code, file] += len(rows)

    def problems(self) -> list[Problem]:
        """Return what was found, and a last line for each code and file of which not all is listed."""
        rest = [
            Problem(code, file, "", f"{count - LISTED:,} more of this kind")
            for (code, file), count in self._counts.items()
            if count > LISTED
        ]
        return self._listed + rest

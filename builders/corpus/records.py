"""What is cut into chunks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """A file, or a row of a file of documents.

    Args:
        path: Where it is in its source; of a row its id.
        data: Its content.
        row: Whether it is a row, which is plain text.
        title: Its title, "" without one.
        url: Where people read it, None when nobody knows.
    """

    path: str
    data: bytes
    row: bool = False
    title: str = ""
    url: str | None = None

    @property
    def named(self) -> str:
        """The name that tells its language."""
        return "text.txt" if self.row else self.path

"""The card that goes onto the Hub with a snapshot."""

from pathlib import Path

from freshstack_datasets.errors import SnapshotError, shown_path

FILE = "README.md"


def card_of(folder: Path) -> str:
    """Return the card of a snapshot, as it is published.

    Args:
        folder: The snapshot's folder.

    Raises:
        SnapshotError: It has none that can be read.
    """
    path = folder / FILE
    try:
        return path.read_bytes().decode()  # read as text, its line breaks might become others
    except (OSError, ValueError) as error:
        got = getattr(error, "strerror", None) or "bytes that are not UTF-8"
        raise SnapshotError(f"the card {shown_path(path)}", expected="a text in UTF-8", got=got.lower()) from None

"""Notes of which batches were sent, beside their files, by which a run goes on after any end."""

import hashlib
import json
from pathlib import Path

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import atomic_file

NOTES = "batches.json"
"""The file of the notes, beside the batches."""


class Notes:
    """What was sent of a file, as it stands in the folder's notes.

    Args:
        path: The file of calls.

    Raises:
        InputError: It cannot be read, or the notes are none.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, path.parent / NOTES
        try:
            with path.open("rb") as stream:
                self.sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        except (OSError, ValueError) as error:
            got = (getattr(error, "strerror", None) or str(error)).lower()
            raise InputError(f"cannot read the batch {shown_path(path)}", got=got) from None
        known = self._all().get(path.name, {})
        self.known: dict[str, str] = known if known.get("sha256") == self.sha256 else {}

    def add(self, name: str, value: str) -> None:
        """Note something, on disk too."""
        self.known = {**self.known, "sha256": self.sha256, name: value}
        self._write()

    def forget(self) -> None:
        """Forget what was noted, so that all of it is done anew."""
        self.known = {}
        self._write()

    def _write(self) -> None:
        notes = {**self._all(), self._path.name: self.known}
        with atomic_file(self._file) as work:
            work.write_text(json.dumps(notes, indent=1, sort_keys=True), encoding="utf-8")

    def _all(self) -> dict[str, dict[str, str]]:
        try:
            notes = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}
            if all(isinstance(one, dict) and all(isinstance(v, str) for v in one.values()) for one in notes.values()):
                return dict(notes)
        except (OSError, ValueError, RecursionError, AttributeError):
            pass
        hint = "remove it, and look at the provider's list of batches: they may be sent again"
        raise InputError(
            f"{shown_path(self._file)}", expected="notes of what was sent", got="something else", hint=hint
        )

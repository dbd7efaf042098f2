"""Putting two snapshots in their places, both or none, whatever ends the process meanwhile.

No file system puts two folders in place at once. So before the first one goes there, it is noted in the folder of the
build what is about to be placed: who comes after a kill finds the one that is there, knows it for ours, and starts anew.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import atomic_file, refuse_taken
from freshstack_datasets.manifest import FILE as MANIFEST

NOTE = "assembled.json"


@dataclass(frozen=True, slots=True)
class Placing:
    """Two snapshots of one build, and where they go.

    Args:
        note: The file in which is written down what is placed.
        out: Where the first one goes.
        twin: Where the second one goes.
        key: All that they are made of, as JSON values.
    """

    note: Path
    out: Path
    twin: Path
    key: Mapping[str, Any]

    def done(self) -> bool:
        """Tell whether both are there already, made of the very same."""
        said = self._said()
        return said.get("key") == json.loads(json.dumps(dict(self.key))) and self._whole(said)

    def ours(self) -> bool:
        """Tell whether both are there as this build put them there, made of whatever."""
        said = self._said()
        return said.get("placed") is True and self._whole(said)

    def refuse_others(self) -> None:
        """Refuse places at which something is that this build did not put there.

        Raises:
            InputError: There is.
        """
        said = self._said()
        for name, folder in self._places():
            if _digest(folder) is None or _digest(folder) != said.get(name):
                refuse_taken(folder)

    def retire(self, parts: Path) -> None:
        """Take away both, which ``ours`` has looked at. Who comes after a kill between the two finds the second one.

        Args:
            parts: A folder of ours beside them, into which they go.
        """
        for name, folder in self._places():
            old = parts / f"old-{name}"
            shutil.rmtree(old, ignore_errors=True)
            folder.replace(old)

    def clear(self, parts: Path, *, replace: bool = False) -> None:
        """Take away what a run left there that was ended between the two.

        Args:
            parts: A folder of ours beside them, into which it goes.
            replace: Whether that may be one of two that a run was about to take away.

        Raises:
            InputError: Something else is there.
        """
        refuse_taken(self.out)
        said = self._said()
        if (replace or said.get("placed") is False) and _digest(self.twin) == said.get("twin") is not None:
            left = parts / "left"
            shutil.rmtree(left, ignore_errors=True)
            self.twin.replace(left)  # in one step: what is half removed would be nobody's
            shutil.rmtree(left, ignore_errors=True)
        refuse_taken(self.twin)

    def place(self, first: Path, second: Path) -> None:
        """Put both in their places.

        Args:
            first: The first one's folder.
            second: The second one's.

        Raises:
            InputError: Something was put there meanwhile.
        """
        told = {"key": dict(self.key), "out": _digest(first), "twin": _digest(second), "where": self._where()}
        self._write({**told, "placed": False})
        _move(second, self.twin)
        try:
            _move(first, self.out)
        except BaseException:
            self.twin.replace(second)
            raise
        self._write({**told, "placed": True})

    def _places(self) -> tuple[tuple[str, Path], tuple[str, Path]]:
        return ("out", self.out), ("twin", self.twin)

    def _whole(self, said: Mapping[str, Any]) -> bool:
        return all(_digest(folder) == said.get(name) is not None for name, folder in self._places())

    def _where(self) -> list[str]:
        return [str(self.out), str(self.twin)]

    def _said(self) -> dict[str, Any]:
        """Return what is noted of these places; nothing where nothing is, or of others."""
        try:
            said = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return said if isinstance(said, dict) and said.get("where") == self._where() else {}

    def _write(self, told: Mapping[str, Any]) -> None:
        with atomic_file(self.note) as path:
            text = json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
            path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _digest(folder: Path) -> str | None:
    """Return the digest of what a snapshot says of itself, None where there is none."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


def _move(folder: Path, place: Path) -> None:
    try:
        folder.replace(place)
    except OSError as error:
        refuse_taken(place)  # somebody else was quicker
        got = (error.strerror or str(error)).lower()
        raise InputError(f"cannot write {shown_path(place)}", got=got, hint="choose another place") from None

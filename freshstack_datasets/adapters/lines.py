"""Lines that the exports share: JSON objects, and rows whose fields are separated by tabs."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import InputError


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line, in the canonical form that a snapshot's digests are taken of.

    Args:
        path: The file.
        rows: The objects, taken one at a time.

    Raises:
        InputError: The file cannot be written, because the disk is full, say.
    """
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode
    _write(path, (encode(row) for row in rows))


def write_tab_lines(path: Path, rows: Iterable[Iterable[str | int]]) -> None:
    """Write fields separated by tabs; they hold no tab and no line break themselves, as no id does.

    Args:
        path: The file.
        rows: The fields of each line, taken a line at a time.

    Raises:
        InputError: The file cannot be written, because the disk is full, say.
    """
    _write(path, ("\t".join(map(str, row)) for row in rows))


def _write(path: Path, lines: Iterable[str]) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(line + "\n" for line in lines)
    except OSError as error:
        got = (error.strerror or str(error)).lower()
        raise InputError(
            f"cannot write {path.name}", got=got, hint="free some space, or choose another place"
        ) from error

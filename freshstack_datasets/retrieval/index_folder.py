"""The note that lies beside the files of every saved index, and what a load checks with it.

``index.json`` says which retriever wrote the folder, with which parameters and library versions, and the size and
sha256 of every other file. A load believes none of the files before they agree with it.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import InputError, shown, shown_path

FORMAT = 2
"""Raised whenever the files or the way from text to index change, so that no older index is taken for a new one."""

NOTE = "index.json"
KIND = "freshstack-datasets index"
AGAIN = "index the documents again"
LARGEST_NOTE = 1 << 20


def versions(*packages: str) -> dict[str, str]:
    """Return the installed versions of the packages that an index depends on."""
    from importlib.metadata import version

    return {package: version(package) for package in packages}


def write_note(
    folder: Path, retriever: str, parameters: Mapping[str, Any], libraries: Mapping[str, str] | None = None
) -> None:
    """Write the note of a folder whose other files are all there.

    Args:
        folder: The folder.
        retriever: The name of the class that can load it.
        parameters: What the class needs to know beside the files, as JSON has it.
        libraries: Versions of packages that a load must find again.
    """
    files = {path.name: _file(path) for path in sorted(folder.iterdir())}
    note = {
        "kind": KIND,
        "format": FORMAT,
        "retriever": retriever,
        "parameters": dict(parameters),
        "libraries": dict(libraries or {}),
        "files": files,
    }
    (folder / NOTE).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def read_note(folder: Path, retriever: str, libraries: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the parameters of a saved index, when the folder is whole and of this retriever and these libraries.

    Args:
        folder: The folder.
        retriever: The name of the class that loads it.
        libraries: The versions of packages as installed.

    Raises:
        InputError: It is no folder of an index, is damaged, or was made by another retriever, format or library.
    """
    note = _note(folder)
    parts = (note.get("format"), note.get("retriever"), note.get("libraries"))
    for part, expected, got in zip(
        ("format", "retriever", "library versions"), (FORMAT, retriever, dict(libraries or {})), parts, strict=True
    ):
        if got != expected:
            raise InputError(
                f"the {part} of the index in {shown_path(folder)}",
                expected=shown(expected),
                got=shown(got),
                hint=AGAIN,
            )
    files, parameters = note.get("files"), note.get("parameters")
    if not isinstance(files, dict) or not isinstance(parameters, dict):
        raise damaged(folder / NOTE, "members files and parameters", "others")
    _check_files(folder, files)
    return parameters


def damaged(path: Path, expected: str, got: str) -> InputError:
    """Return the error for a file of an index that is not as it was written."""
    return InputError(f"the index file {shown_path(path)} is damaged", expected=expected, got=got, hint=AGAIN)


def _note(folder: Path) -> dict[str, Any]:
    path = folder / NOTE
    what = f"{shown_path(folder)} is no index"
    if path.exists() and not path.is_file():
        raise damaged(path, "a file", "something else")
    try:
        with path.open("rb") as stream:
            note = json.loads(stream.read(LARGEST_NOTE))
    except FileNotFoundError:
        raise InputError(what, expected=f"a folder with {NOTE}", got="none", hint=AGAIN) from None
    except OSError as error:
        raise InputError(what, expected=f"a readable {NOTE}", got=error.strerror or "none", hint=AGAIN) from None
    except (ValueError, RecursionError):
        raise damaged(path, "JSON", "something else") from None
    if not isinstance(note, dict) or note.get("kind") != KIND:
        raise InputError(what, expected=f"{NOTE} of the kind {KIND!r}", got="another", hint=AGAIN)
    return note


def _check_files(folder: Path, files: Mapping[str, Any]) -> None:
    """Compare the folder's files with the note, cheap things first."""
    try:
        there = {path.name for path in folder.iterdir()} - {NOTE}
        if there != set(files):
            odd = min(there ^ set(files))
            raise damaged(folder / odd, *(("no such file", "one") if odd in there else ("the file", "none")))
        for name in files:
            if not (folder / name).is_file():  # a pipe or a device would never end
                raise damaged(folder / name, "a file", "something else")
        for name, expected in files.items():
            if (got := _file(folder / name)) != expected:
                raise damaged(folder / name, shown(expected), shown(got))
    except OSError as error:
        raise InputError(
            f"the index in {shown_path(folder)}", expected="readable files", got=error.strerror or "none", hint=AGAIN
        ) from None


def _file(path: Path) -> dict[str, Any]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}

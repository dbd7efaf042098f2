"""The files of a build's trace, which travel with the tables that it made."""

import hashlib
import io
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from freshstack_datasets.errors import InputError, RecordError, shown, shown_path
from freshstack_datasets.manifest import File, made

_PROVENANCE = "provenance"
_DROPPED = "dropped.jsonl"


def file_entry(work: Path, path: str) -> dict[str, Any]:
    """Return a written file's entry in the manifest.

    Args:
        work: The snapshot's folder.
        path: The file's path in it.
    """
    with (work / path).open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"path": path, "size": (work / path).stat().st_size, "sha256": digest}


def checked_trace(
    provenance: Mapping[str, Path | bytes], dropped: Iterable[Mapping[str, Any]] | None
) -> Mapping[str, Path | bytes]:
    """Return the further files of the trace, once names and files are known to be good.

    Args:
        provenance: From a file's name to a file, or to its bytes.
        dropped: What the build left out, which becomes a file too.

    Raises:
        SnapshotError: A name is none of a file in the folder.
        InputError: A file is none, or would be there twice.
    """
    for name, content in provenance.items():
        made(File, path=f"{_PROVENANCE}/{name}", size=0, sha256="0" * 64)  # it must not lead out of the folder
        if name == _DROPPED and dropped is not None:
            raise InputError(f"provenance {shown(name)}", expected="it or dropped items", got="both")
        if not isinstance(content, bytes | Path):
            got = f"{shown(content)} ({type(content).__name__})"
            raise InputError(f"provenance {shown(name)}", expected="a path or bytes", got=got)
        if isinstance(content, Path) and not content.is_file():
            raise InputError(f"provenance {shown(name)}", expected="a file to copy", got=shown_path(content))
    return dict(provenance)


def write_trace(
    work: Path, trace: Mapping[str, Path | bytes], dropped: Iterable[Mapping[str, Any]] | None
) -> list[dict[str, Any]]:
    """Write the files of the trace and return their entries in the manifest, sorted by path.

    Args:
        work: The snapshot's folder.
        trace: The further files, checked.
        dropped: What the build left out, one mapping of JSON values an item.

    Raises:
        InputError: A file cannot be read.
        RecordError: An item holds something else.
    """
    folder = work / _PROVENANCE
    if trace or dropped is not None:
        folder.mkdir()
    for name, content in trace.items():
        with _opened(content) as original, (folder / name).open("wb") as copy:
            shutil.copyfileobj(original, copy)
    if dropped is not None:
        _write_dropped(folder / _DROPPED, dropped)
    names = [*trace, *([] if dropped is None else [_DROPPED])]
    return [file_entry(work, f"{_PROVENANCE}/{name}") for name in sorted(names)]


def _opened(content: Path | bytes) -> BinaryIO:
    """Return a file of the trace to read from."""
    if isinstance(content, bytes):
        return io.BytesIO(content)
    try:
        return content.open("rb")
    except OSError as error:
        raise InputError(f"cannot read {shown_path(content)}", got=(error.strerror or str(error)).lower()) from None


def _write_dropped(path: Path, dropped: Iterable[Mapping[str, Any]]) -> None:
    """Write what a build left out, one JSON object a line."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for item in dropped:
            try:
                line = json.dumps(dict(item), ensure_ascii=False, sort_keys=True, allow_nan=False)
                line.encode()
            except (TypeError, ValueError, RecursionError) as error:
                raise RecordError("a dropped item", expected="a mapping of JSON values", got=shown(error)) from None
            stream.write(line + "\n")

"""The typed ``snapshot.json``: what a snapshot holds, where it came from and how it was made."""

import json
import re
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from freshstack_datasets.errors import SnapshotError, shown, shown_path
from freshstack_datasets.files import is_file_below
from freshstack_datasets.recipe import (
    Count,
    Filter,
    Generator,
    Model,
    Recipe,
    Sha256,
    Short,
    Source,
    Tool,
    as_tuple,
)
from freshstack_datasets.tables.digest import fingerprint
from freshstack_datasets.tables.schema import TABLES

__all__ = [
    "About",
    "File",
    "Filter",
    "Generator",
    "Manifest",
    "Recipe",
    "Source",
    "TableEntry",
    "Tool",
    "made",
    "parse_manifest",
    "read_manifest",
]

FILE = "snapshot.json"
FORMAT_VERSION = 1
_MAX_BYTES = 16_000_000
"""A snapshot.json is some kilobytes; what is larger than this is none."""

_WORD = "[A-Za-z0-9][A-Za-z0-9_.-]*"
_Size = Annotated[int, Field(ge=0, le=10**15)]
_Name = Annotated[str, StringConstraints(max_length=200, pattern=rf"^{_WORD}(/{_WORD})?\z")]
_SnapshotName = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])(\.[1-9][0-9]{0,3})?\z")]
_PREAMBLE = re.compile("Value error, |(Input|String|Value) should (be |have )?")
"""How pydantic begins what it expects, which our messages say in one word."""

_DocId = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\t\r\n]+\z")]
_MOST_MISSING = 100_000
_MISSING_CHARACTERS = 2_000_000
"""Characters of all ids in ``missing``: as JSON, six bytes a character at worst, they fit into what is read."""

_M = TypeVar("_M", bound=BaseModel)


class File(Model):
    """A file of a snapshot.

    Args:
        path: Where it lies in the snapshot's folder, with ``/`` between the parts.
        size: Its bytes.
        sha256: The digest of its bytes, in hexadecimal.
    """

    path: Annotated[str, StringConstraints(max_length=300, pattern=r"^[a-z_]+/[A-Za-z0-9_][A-Za-z0-9_.-]*\z")]
    size: _Size
    sha256: Sha256


_Files = Annotated[tuple[File, ...], BeforeValidator(as_tuple), Field(max_length=10_000)]


class TableEntry(Model):
    """A table of a snapshot.

    Args:
        rows: How many it has.
        digest: Its canonical digest, see ``tables.digest``.
        files: Its Parquet files; the rows go on from one to the next, in the order of their paths.
    """

    rows: Count
    digest: Sha256
    files: Annotated[_Files, Field(min_length=1)]


class About(Model):
    """What a snapshot says of itself before any table is known.

    Args:
        dataset: The dataset's name, such as ``freshstack/langchain``.
        snapshot: The snapshot's name: ``YYYY-MM``, a correction ``YYYY-MM.1``.
        created: The day it was written.
        license: The licence of the whole, an SPDX identifier where there is one.
        sources: What it was made from.
        recipe: How.
        generator: By what.
    """

    dataset: _Name
    snapshot: _SnapshotName
    created: date
    license: Short
    sources: Annotated[tuple[Source, ...], BeforeValidator(as_tuple), Field(max_length=100_000)] = ()
    recipe: Recipe = Recipe()
    generator: Generator


class Manifest(About):
    """A whole ``snapshot.json``.

    Args:
        format_version: The version of this format.
        tables: From a table's name to its entry; all five.
        provenance: The files of the build's trace.
        missing: The ids of judged documents that the corpus lacks, ascending; they count in scores all the same.
        fingerprint: The sha256 over the tables' digests, see ``tables.digest``; scores are tied to it.
    """

    format_version: int
    tables: dict[str, TableEntry]
    provenance: _Files = ()
    missing: Annotated[tuple[_DocId, ...], BeforeValidator(as_tuple), Field(max_length=_MOST_MISSING)] = ()
    fingerprint: Sha256

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if set(self.tables) != set(TABLES):
            raise ValueError(f"tables: expected {', '.join(TABLES)}, got {shown(', '.join(self.tables))}")
        for name, entry in self.tables.items():
            form = re.compile(rf"{name}/{TABLES[name].split}-[A-Za-z0-9_.-]+\.parquet")
            for file in entry.files:
                if not form.fullmatch(file.path):
                    wanted = f"{name}/{TABLES[name].split}-*.parquet"
                    raise ValueError(f"tables.{name}: expected files {wanted}, got {shown(file.path)}")
        for file in self.provenance:
            if not file.path.startswith("provenance/"):
                raise ValueError(f"provenance: expected files in provenance/, got {shown(file.path)}")
        paths = [file.path for file in self.files()]
        if len(set(paths)) < len(paths):
            raise ValueError("files: expected each path once, got one twice")
        return self

    @model_validator(mode="after")
    def _lists_missing_once(self) -> Self:
        if sum(map(len, self.missing)) > _MISSING_CHARACTERS:
            raise ValueError(f"missing: expected at most {_MISSING_CHARACTERS} characters in all, got more")
        for before, after in pairwise(self.missing):
            if not before < after:
                got = f"{shown(before)} before {shown(after)}"
                raise ValueError(f"missing: expected ascending ids, each once, got {got}")
        return self

    def files(self) -> list[File]:
        """Return every file that the manifest vouches for, sorted by path."""
        tables = [file for entry in self.tables.values() for file in entry.files]
        return sorted([*tables, *self.provenance], key=lambda file: file.path)

    def table_files(self, name: str) -> list[File]:
        """Return a table's files in the order of their rows."""
        return sorted(self.tables[name].files, key=lambda file: file.path)

    def computed_fingerprint(self) -> str:
        """Return the fingerprint that follows from the tables' digests."""
        return fingerprint({name: entry.digest for name, entry in self.tables.items()})

    def to_json(self) -> str:
        """Return the one text of this manifest: sorted keys, two spaces, members that are not set left out."""
        plain = self.model_dump(mode="json", exclude_none=True)
        if not self.missing:  # as before there was such a member
            del plain["missing"]
        return json.dumps(plain, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def made(model: type[_M], **members: Any) -> _M:
    """Return a model of this module, made of values that people gave.

    Raises:
        SnapshotError: A value is not allowed.
    """
    try:
        return model.model_validate(members)
    except ValidationError as error:
        raise told("the snapshot's description", error) from None


def read_manifest(folder: Path, root: Path | None = None) -> Manifest:
    """Read the ``snapshot.json`` of a folder.

    Args:
        folder: The folder.
        root: Where the file may be a link to; it must be none when not given.

    Raises:
        SnapshotError: There is none, or it is not allowed; the first thing that is wrong is named.
    """
    path = folder / FILE
    content = content_of(path, root, "snapshot")
    return parse_manifest(content, str(path))


def content_of(path: Path, root: Path | None, kind: str) -> bytes:
    """Return what the file holds by which a folder is known.

    Args:
        path: The file.
        root: Where it may be a link to; it must be none when not given.
        kind: What the folder is, for the message.

    Raises:
        SnapshotError: There is none, or it cannot be read.
    """
    try:
        if not (path.is_file() and not path.is_symlink() if root is None else is_file_below(path, root)):
            raise SnapshotError(
                f"{shown_path(path.parent)[1:-1]} is no {kind}",
                expected=f"a folder with {'an' if path.name[0] in 'aeiou' else 'a'} {path.name}",
                got="none",
                hint="check the path",
            )
        with path.open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        got = getattr(error, "strerror", None) or type(error).__name__
        raise SnapshotError(f"{shown_path(path)} cannot be read", got=got) from None
    if len(content) > _MAX_BYTES:
        raise SnapshotError(str(path), expected=f"at most {_MAX_BYTES} bytes", got="more")
    return content


def parse_manifest(content: bytes, name: str = FILE) -> Manifest:
    """Return the manifest that a text holds.

    Args:
        content: The text, in UTF-8.
        name: What to call it in a message.

    Raises:
        SnapshotError: It is not allowed.
    """
    try:
        version = _Version.model_validate_json(content).format_version
        if version != FORMAT_VERSION:
            raise SnapshotError(
                f"{name}: format_version",
                expected=str(FORMAT_VERSION),
                got=shown(version),
                hint="install a newer freshstack-datasets" if version > FORMAT_VERSION else "",
            )
        return Manifest.model_validate_json(content)
    except ValidationError as error:
        raise told(name, error) from None


class _Version(BaseModel):
    """The one member that every version of the format has."""

    model_config = ConfigDict(strict=True, extra="ignore")

    format_version: int


def told(name: str, error: ValidationError) -> SnapshotError:
    """Return the first of a model's complaints in our words.

    Args:
        name: What the values are of.
        error: What the model says.
    """
    first = error.errors(include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return SnapshotError(name, expected="JSON", got=first["msg"].removeprefix("Invalid JSON: "))
    place = ".".join(str(part) for part in first["loc"])
    got = "" if first["type"] in ("missing", "value_error") else shown(first["input"])
    wanted = _PREAMBLE.sub("", first["msg"])
    return SnapshotError(f"{name}: {shown(place)[1:-1]}" if place else name, expected=wanted, got=got)

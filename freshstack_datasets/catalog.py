"""The datasets that are known by name, and where their snapshots lie."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from freshstack_datasets.errors import SnapshotError, UnknownNameError, shown_path
from freshstack_datasets.manifest import Manifest, read_manifest

OWNER = "freshstack"
UNFILTERED = "-unfiltered"
"""How the name of a dataset ends that has every judged query of October 2024, and not only those that were kept."""

Layout = Literal["snapshot", "oct-2024"]
"""That of this package, or that of the originals of October 2024."""

_FILE = Path(__file__).with_name("catalog.toml")
_BUNDLED = Path(__file__).with_name("bundled")

_SNAPSHOT = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])(\.[1-9][0-9]{0,3})?")

_Text = Annotated[str, StringConstraints(min_length=1)]
_Mean = Annotated[float, Field(gt=0)]
_Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}\z")]
_Tuple = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Repository(_Model):
    """A repository that a corpus was made of.

    Args:
        name: Owner and name.
        license: Its licence, as the source of the figures writes it.
    """

    name: _Text
    license: _Text


class Figures(_Model):
    """What was published of a snapshot's questions: means, with as many digits as there.

    Args:
        query_tokens: The length of a query in tokens of ``o200k_base``.
        answer_tokens: That of an accepted answer.
        query_code_percent: How many of 100 queries hold code.
        answer_code_percent: How many of 100 answers do.
        relevant_per_nugget: Documents that support a nugget.
        relevant_per_query: Documents that support any nugget of a query.
    """

    query_tokens: _Mean
    answer_tokens: _Mean
    query_code_percent: _Mean
    answer_code_percent: _Mean
    relevant_per_nugget: _Mean
    relevant_per_query: _Mean


class KnownSnapshot(_Model):
    """A published snapshot.

    Args:
        source: Where the figures are from.
        period: The first and the last day on which its questions were asked.
        queries: How many queries it has.
        documents: How many documents.
        nuggets_per_query: The mean, rounded to one place.
        figures: What else was published of it.
        repositories: What its corpus was made of.
        layout: How it is laid out on the Hub.
        commit: The commit that it is, of the repository that is called as the dataset; None where the tag has to tell,
            or where it is in the originals' layout.
    """

    source: _Text
    period: Annotated[tuple[date, date], _Tuple] | None = None
    queries: Annotated[int, Field(gt=0)]
    documents: Annotated[int, Field(gt=0)]
    nuggets_per_query: _Mean
    figures: Figures | None = None
    repositories: Annotated[tuple[Repository, ...], _Tuple]
    layout: Layout = "snapshot"
    commit: _Commit | None = None


class KnownDataset(_Model):
    """A dataset that is known by name.

    Args:
        domain: What it is about.
        description: The same in a sentence.
        license: The licence of its texts as published.
        tags: The tags of its questions' topic.
        languages: The languages of its texts, ISO 639-1.
        snapshots: From a snapshot's name to what is known of it.
    """

    domain: _Text
    description: _Text
    license: _Text
    tags: Annotated[tuple[_Text, ...], _Tuple]
    languages: Annotated[tuple[_Text, ...], _Tuple]
    snapshots: dict[_Text, KnownSnapshot]


class Original(_Model):
    """One of the repositories of October 2024.

    Args:
        repository: Owner and name.
        commit: The commit that is read; None where none is known.
    """

    repository: _Text
    commit: _Commit | None = None


class Originals(_Model):
    """The repositories of October 2024, each of which has all topics.

    Args:
        corpus: The documents.
        queries: The queries.
        unfiltered: The queries before some were left out.
    """

    corpus: Original
    queries: Original
    unfiltered: Original


def is_snapshot_name(text: str) -> bool:
    """Tell whether a text is what a snapshot may be called: ``2026-10``, a correction ``2026-10.1``."""
    return _SNAPSHOT.fullmatch(text) is not None


def snapshot_order(name: str) -> tuple[int, ...]:
    """Return what orders snapshots' names: 2026-09 < 2026-10 < 2026-10.1 < 2026-10.10."""
    return tuple(int(part) for part in name.replace("-", ".").split("."))


@cache
def known() -> Mapping[str, KnownDataset]:
    """Return the catalogued datasets by full name."""
    return {f"{OWNER}/{name}": KnownDataset.model_validate(entry) for name, entry in _told()["datasets"].items()}


@cache
def originals() -> Originals:
    """Return where the release of October 2024 is."""
    return Originals.model_validate(_told()["originals"])


def citation() -> str:
    """Return how to cite the paper that the catalogued datasets are from, in BibTeX."""
    return str(_told()["citation"]).strip()


@cache
def _told() -> dict[str, Any]:
    with _FILE.open("rb") as stream:
        return tomllib.load(stream)


def published(name: str) -> Mapping[str, KnownSnapshot]:
    """Return the known snapshots of a dataset by their names, none for one that is not known.

    Those of an unfiltered one are those of the filtered, from which they differ in the queries alone: their figures
    are not its own.

    Args:
        name: The dataset's full name.
    """
    if name in known():
        return known()[name].snapshots
    filtered = known().get(name.removesuffix(UNFILTERED)) if name.endswith(UNFILTERED) else None
    found = filtered.snapshots if filtered else {}
    return {snapshot: entry for snapshot, entry in found.items() if entry.layout == "oct-2024"}


def languages(name: str) -> tuple[str, ...]:
    """Return the languages of a dataset's texts, ISO 639-1; none for one that is not known.

    Args:
        name: The dataset's full name.
    """
    entry = known().get(name.removesuffix(UNFILTERED))
    return entry.languages if entry else ()


def bundled() -> dict[str, Path]:
    """Return the folders of the snapshots that came with the package, by full name; one may be broken."""
    if not _BUNDLED.is_dir():
        return {}
    return {
        f"{OWNER}/{path.name}": path for path in sorted(_BUNDLED.iterdir()) if path.is_dir() and path.name[0].isalnum()
    }


def full_names() -> list[str]:
    """Return the full names of all datasets that are known."""
    unfiltered = [name + UNFILTERED for name in known() if published(name + UNFILTERED)]
    return sorted({*known(), *unfiltered, *bundled()})


def names() -> list[str]:
    """Return the names that ``load`` knows, bundled ones by their short name too."""
    return sorted({*full_names(), *(name.partition("/")[2] for name in bundled())})


def full_name(name: str) -> str:
    """Return the full name of a dataset: one without owner is of those that are known.

    Raises:
        UnknownNameError: It has no owner, and none of that name is known.
    """
    full = name if "/" in name else f"{OWNER}/{name}"
    if "/" not in name and full not in full_names():
        raise unknown(name)
    return full


def unknown(name: str, hint: str = "") -> UnknownNameError:
    """Return the error for a name that no dataset has, with the nearest known ones.

    Args:
        name: The name.
        hint: What else there is to say.
    """
    short = {full: full.partition("/")[2] for full in bundled()} if "/" not in name else {}
    near = UnknownNameError("dataset", name, [short.get(full, full) for full in full_names()]).hint
    more = "or give the folder of a snapshot" + (f"; {hint}" if hint else "")
    return UnknownNameError("dataset", name, hint=f"{near} {more}" if near.endswith("?") else f"{near}, {more}")


class Listed(_Model):
    """A snapshot as a list shows it.

    Args:
        dataset: The dataset's full name.
        name: The snapshot's name.
        cached: Whether it is on this machine.
        bytes: The size of its files, None where it is not known.
    """

    dataset: str
    name: str
    cached: bool
    bytes: int | None


def listed() -> tuple[list[Listed], dict[str, SnapshotError]]:
    """Return every snapshot that is known or came with the package, by dataset, the newest first.

    Returns:
        The snapshots; and by dataset what is wrong with one that came with the package and cannot be read.
    """
    found: list[Listed] = []
    broken: dict[str, SnapshotError] = {}
    for name in full_names():
        here: dict[str, int] = {}
        try:
            if (folder := bundled().get(name)) is not None:
                manifest = read_manifest(folder)
                _check_whole(folder, manifest)
                here[manifest.snapshot] = sum(file.size for file in manifest.files())
        except SnapshotError as error:
            broken[name] = error
        found += [
            Listed(dataset=name, name=snapshot, cached=snapshot in here, bytes=here.get(snapshot))
            for snapshot in sorted({*here, *published(name)}, key=snapshot_order, reverse=True)
        ]
    return found, broken


def _check_whole(folder: Path, manifest: Manifest) -> None:
    """Refuse a snapshot of which a file lacks or has another size; nothing of them is read.

    Raises:
        SnapshotError: One does.
    """
    for file in manifest.files():
        path = folder / file.path
        size = path.stat().st_size if path.is_file() else None
        if size != file.size:
            got = "none" if size is None else f"{size:,}"
            raise SnapshotError(shown_path(path), expected=f"a file of {file.size:,} bytes", got=got)

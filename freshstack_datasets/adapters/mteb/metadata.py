"""What MTEB is told of a dataset, made of what the catalog or the snapshot itself says."""

import re
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from mteb.abstasks.task_metadata import TaskMetadata
from mteb.types import Licenses
from pydantic import PrivateAttr

from freshstack_datasets import catalog
from freshstack_datasets.adapters.mteb.internals import language_code
from freshstack_datasets.adapters.mteb.scores import MAIN_SCORE
from freshstack_datasets.catalog import KnownSnapshot, snapshot_order
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.home import home
from freshstack_datasets.loading import Dataset
from freshstack_datasets.tables.schema import CORPUS, QUERIES

PROMPT = "Given a technical question, retrieve the documentation and code that answer it"
"""What a model that takes instructions is told of the queries; nothing is put before documents."""

SPLIT = "test"
SUBSET = "default"

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UNDETERMINED = "und-Zyyy"
_RELEVANT = "A document is relevant when it supports a nugget of the question: a fact that a good answer holds."


class Metadata(TaskMetadata):
    """Metadata whose descriptive statistics are kept under ``FRESHSTACK_HOME``, and not among MTEB's own files."""

    _statistics: Path | None = PrivateAttr(default=None)

    @property
    def descriptive_stat_path(self) -> Path:
        """The file that descriptive statistics are written to and read from."""
        kept = home() / "mteb" / "descriptive_stats" / f"{self.name}-{self.revision[:12]}.json"
        return self._statistics or kept

    def with_statistics_in(self, file: Path) -> Self:
        """Return the same metadata whose descriptive statistics are in another file."""
        copy: Self = self.model_copy()
        copy._statistics = file
        return copy


def months(snapshot: str) -> tuple[str, str]:
    """Return a snapshot as names of tasks and of benchmarks say it.

    Args:
        snapshot: The snapshot's name: ``2024-10``, a correction ``2024-10.1``.

    Returns:
        ``Oct2024`` and ``oct-2024``; ``Oct2024Correction1`` and ``oct-2024.1``.
    """
    year, month, *correction = snapshot_order(snapshot)
    name = _MONTHS[month - 1]
    inside = "".join(f"Correction{number}" for number in correction)
    after = "".join(f".{number}" for number in correction)
    return f"{name}{year}{inside}", f"{name.lower()}-{year}{after}"


def task_name(dataset: str, snapshot: str = "") -> str:
    """Return the name of the task of a dataset, or of one of its snapshots: ``FreshStackYoloOct2024Retrieval``."""
    words = re.split("[^A-Za-z0-9]+", dataset.partition("/")[2])
    return "FreshStack" + "".join(map(str.capitalize, words)) + (months(snapshot)[0] if snapshot else "") + "Retrieval"


def of_topic(name: str, snapshot: str) -> Metadata:
    """Return the metadata of a catalogued dataset's snapshot; nothing of it need be on this machine.

    Args:
        name: The dataset's full name.
        snapshot: The snapshot's name.
    """
    dataset, entry = catalog.known()[name], catalog.published(name)[snapshot]
    where, told = _published_at(name, snapshot, entry)
    return Metadata(
        name=task_name(name, snapshot),
        description=f"{dataset.description} {_counted(name, snapshot, entry.queries, entry.documents)} {told}",
        reference=f"https://arxiv.org/abs/{_eprint()}",
        dataset=where,
        eval_langs=languages(dataset.languages),
        date=tuple(day.isoformat() for day in entry.period) if entry.period else None,
        domains=["Programming", "Written"],
        task_subtypes=["Code retrieval", "Question answering"],
        license=_license(dataset.license),
        annotations_creators="LM-generated",
        sample_creation="found",
        bibtex_citation=catalog.citation(),
        adapted_from=["FreshStackRetrieval"] if entry.layout == "oct-2024" else None,
        **_SHARED,
    )


def of_bundled(data: Dataset) -> Metadata:
    """Return the metadata of a snapshot that came with the package, whose task has the snapshot as its subset.

    MTEB takes a cached result for up to date when it has the subset, whatever data it was computed on. With the
    snapshot in the subset's name, a result of an older snapshot is computed again.
    """
    facts = _facts(data)
    changes = {
        "name": task_name(data.name),
        "reference": f"https://huggingface.co/datasets/{data.name}",
        "eval_langs": {data.snapshot: facts["eval_langs"]},
        "domains": ["Constructed", "Written"],
        "annotations_creators": "derived",
        "sample_creation": "created",
        "is_public": True,
    }
    return Metadata(**facts | changes)


def of_dataset(data: Dataset) -> Metadata:
    """Return the metadata of any snapshot, which has the beginning of the fingerprint in its name.

    Raises:
        InputError: The dataset was made of judgments alone.
    """
    return Metadata(**_facts(data))


def _facts(data: Dataset) -> dict[str, Any]:
    manifest = data.manifest
    if manifest is None:
        raise InputError(
            f"dataset {shown(data.name)} as a task of MTEB",
            expected="a dataset with documents",
            got="one made of judgments alone",
            hint="load a snapshot",
        )
    license = _license(manifest.license)
    licensed = f" Licence: {manifest.license}." if license == _NOT_SPECIFIED else ""
    counts = (manifest.tables[table].rows for table in (QUERIES.name, CORPUS.name))
    return {
        **_SHARED,
        "name": re.sub("[^A-Za-z0-9]+", "-", f"{data.name}-{data.snapshot}-{data.fingerprint[:12]}"),
        "description": _counted(data.name, data.snapshot, *counts) + licensed,
        "dataset": {"path": data.name, "revision": data.fingerprint},
        "eval_langs": languages(data.languages),
        "date": (manifest.created.isoformat(),) * 2,
        "domains": ["Written"],
        "task_subtypes": ["Question answering"],
        "license": license,
        "annotations_creators": "LM-generated" if manifest.recipe.models else None,
        "bibtex_citation": "",
        "is_public": False,
    }


_SHARED: Mapping[str, Any] = {
    "type": "Retrieval",
    "category": "t2t",
    "modalities": ["text"],
    "eval_splits": [SPLIT],
    "main_score": MAIN_SCORE,
    "dialect": [],
    "prompt": {"query": PROMPT},
}

_NOT_SPECIFIED = "not specified"


def languages(codes: Iterable[str]) -> list[str]:
    """Return languages of ISO 639-1 as MTEB writes them, in alphabetical order: ``eng-Latn``.

    One that MTEB does not know, or no language at all, is undetermined: ``und-Zyyy``.
    """
    return sorted({language_code(code) or _UNDETERMINED for code in codes}) or [_UNDETERMINED]


def _published_at(name: str, snapshot: str, entry: KnownSnapshot) -> tuple[dict[str, str], str]:
    """Return the repository and the commit that a snapshot is read from, and a sentence on it."""
    if entry.layout == "oct-2024":
        at = catalog.originals()
        corpus, queries = (f"{original.repository} at commit {original.commit}" for original in (at.corpus, at.queries))
        where = {"path": at.queries.repository, "revision": str(at.queries.commit)}
        return where, f"Corpus: {corpus}; questions and nuggets: {queries}."
    revision = entry.commit or snapshot  # a tag is a revision too
    return {"path": name, "revision": revision}, f"Published as {name} at {revision}."


def _counted(name: str, snapshot: str, queries: int, documents: int) -> str:
    return f"{name}@{snapshot}: {queries} questions, {documents} documents. {_RELEVANT}"


def _eprint() -> str:
    """Return the arXiv id of the paper that is to be cited."""
    found = re.search(r"eprint\s*=\s*\{([^}]+)\}", catalog.citation())
    return found.group(1) if found else ""


def _license(license: str) -> str:
    """Return a licence as MTEB spells it."""
    if re.match(r"https?://\S+\Z", license):
        return license
    return license.lower() if license.lower() in typing.get_args(Licenses) else _NOT_SPECIFIED

"""From a snapshot and a table of corrections to the next snapshot of the same month."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from builders.correcting.changes import Changes, changes_of
from builders.correcting.checks import Groups, grouped, misfits
from builders.correcting.corrections import CorrectionsError, read_corrections
from builders.correcting.difference import Difference, difference
from builders.correcting.log import log_lines
from builders.correcting.state import state_of
from freshstack_datasets.card import texts_of
from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import InputError, SnapshotError, shown_path
from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.files import atomic_folder, refuse_taken
from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.manifest import Manifest, Recipe, made
from freshstack_datasets.progress import track
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.verification import verify

LOG = "corrections.jsonl"

_MOST = 9_999
"""Corrections that a month can have: its snapshots' names have no room for more."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """What a correction made.

    Args:
        manifest: The new snapshot's manifest.
        before: That of the snapshot that it corrects.
        counts: From ``judgments``, ``nuggets`` and ``questions`` to how many are ``changed``, ``added``, ``removed``.
        differences: What becomes of each run's scores.
    """

    manifest: Manifest
    before: Manifest
    counts: Mapping[str, Mapping[str, int]]
    differences: tuple[Difference, ...]


def correct(
    folder: Path, corrections: Path, out: Path, *, runs: Sequence[Run] = (), created: date | None = None
) -> Corrected:
    """Write the snapshot that corrections make of another one.

    The corpus stays as it is and is streamed. Sources, recipe and trace are those of the corrected snapshot; the recipe's
    parameters ``corrects`` and ``corrects_fingerprint`` name it, and ``provenance/corrections.jsonl`` has every
    correction since the month's first snapshot. Unless every row can be applied, nothing is written.

    Args:
        folder: The snapshot.
        corrections: The table of corrections, see ``corrections``.
        out: Where the new snapshot goes; it must not exist, or be empty.
        runs: Runs to score before and after, by the default measures.
        created: The day it is made; today (UTC) when not given.

    Raises:
        CorrectionsError: Rows cannot be applied.
        InputError: A file cannot be read, the snapshot is not whole, a run fits it in nothing, or ``out`` is taken.
    """
    refuse_taken(out)
    rows, problems = read_corrections(corrections)
    dataset = load(folder)
    before = _manifest(dataset)
    snapshot = _next(before.snapshot)
    groups, state = grouped(rows), state_of(dataset, rows)
    problems += misfits(groups, state)
    if problems:
        raise CorrectionsError(corrections, problems)
    changes, problems = changes_of(groups, state)
    if problems:
        raise CorrectionsError(corrections, problems)
    check_whole(folder)
    old_scores = [evaluate(run, dataset, intervals=False) for run in runs]
    with atomic_folder(out) as work:
        manifest = _write(work, dataset, before, snapshot, groups, changes, created)
        corrected = load(work)
        new_scores = [evaluate(run, corrected, intervals=False) for run in runs]
    differences = tuple(map(difference, old_scores, new_scores))
    return Corrected(manifest, before, changes.counts(), differences)


def _manifest(dataset: Dataset) -> Manifest:
    assert dataset.manifest is not None, "a folder has one"
    return dataset.manifest


def _next(snapshot: str) -> str:
    """Return the name of the correction of a snapshot: 2024-10 becomes 2024-10.1, and that 2024-10.2."""
    month, _, number = snapshot.partition(".")
    following = int(number or 0) + 1
    if following > _MOST:
        raise InputError(f"snapshot {snapshot}", expected=f"fewer than {_MOST:,} corrections", got=number)
    return f"{month}.{following}"


def check_whole(folder: Path) -> None:
    """Refuse a snapshot that is damaged: one that is made of it would name a fingerprint that its rows do not have.

    Args:
        folder: The snapshot.

    Raises:
        SnapshotError: It is damaged; the first problem is named.
    """
    problems = [problem for problem in verify(folder) if problem.code != "extra-file"]  # which nobody will copy
    if problems:
        raise SnapshotError(
            f"{shown_path(folder)[1:-1]} is not whole",
            expected="a snapshot that passes freshstack verify",
            got=f"{counted(len(problems), 'problems')}, the first: {problems[0]}",
            hint="take a copy that is whole",
        )


def _write(
    work: Path,
    dataset: Dataset,
    before: Manifest,
    snapshot: str,
    groups: Groups,
    changes: Changes,
    created: date | None,
) -> Manifest:
    """Write the new snapshot."""
    assert dataset.path is not None, "it was read from a folder"
    about, sections = texts_of(_readme(dataset.path))
    manifest = write_snapshot(
        work,
        dataset=before.dataset,
        snapshot=snapshot,
        license=before.license,
        documents=track(dataset.corpus, len(dataset.corpus), "copying the corpus"),
        queries=changes.applied(dataset.queries, Query),
        nuggets=changes.applied(dataset.nuggets, Nugget),
        judgments=changes.applied(dataset.judgments, Judgment),
        missing=_missing(before, dataset, changes),
        sources=before.sources,
        recipe=_recipe(before),
        provenance=_provenance(dataset.path, before, log_lines(groups, changes, snapshot)),
        about=about,
        sections={**sections, "Corrections": _in_words(before, changes)},
        created=created,
    )
    if manifest.tables["corpus"].digest != before.tables["corpus"].digest:
        raise SnapshotError(
            "the corpus of the corrected snapshot",
            expected="the same rows as before",
            got="others",
            hint="a null for a document's metadata cannot be kept: write the snapshot anew, with a null for each member",
        )
    return manifest


def _missing(before: Manifest, dataset: Dataset, changes: Changes) -> set[str]:
    """Return the documents that the corpus lacks and that are still judged."""
    if not before.missing:
        return set()
    judged = (judgment.doc_id for judgment in changes.applied(dataset.judgments, Judgment))
    return set(before.missing).intersection(judged)


def _recipe(before: Manifest) -> Recipe:
    """Return the recipe of the corrected snapshot, with its name and fingerprint."""
    named = {"corrects": before.snapshot, "corrects_fingerprint": before.fingerprint}
    told = before.recipe.model_dump()
    return made(Recipe, **{**told, "parameters": {**told["parameters"], **named}})


def _provenance(folder: Path, before: Manifest, lines: Iterable[str]) -> dict[str, Path | bytes]:
    """Return the trace of the corrected snapshot, with the new lines at the end of its log."""
    trace: dict[str, Path | bytes] = {Path(file.path).name: folder / file.path for file in before.provenance}
    earlier = trace.get(LOG)
    log = earlier.read_bytes() if isinstance(earlier, Path) else b""
    return {**trace, LOG: log + "".join(lines).encode()}


def _readme(folder: Path) -> str:
    try:
        return (folder / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # the manifest does not vouch for it
        return ""


def _in_words(before: Manifest, changes: Changes) -> str:
    counts = changes.counts()
    told = [
        counted(number, f"{kind} {fate}") for kind, fates in counts.items() for fate, number in fates.items() if number
    ]
    return (
        f"People found mistakes in {before.dataset}@{before.snapshot} (fingerprint {before.fingerprint}), and this "
        f"snapshot corrects them: {', '.join(told)}. provenance/{LOG} says what, why, by whom and when, for this and all "
        "earlier corrections."
    )

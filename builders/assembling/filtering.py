"""The stage ``filter``: which questions the snapshot keeps, and why it drops the others."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.assembling.closed_book import coverage
from builders.assembling.rules import CONTAMINATED, PAPER, RULES, Sifted, sift
from builders.pipeline.reading import labels_of, nuggets_of, pool_of, questions_of, searches_of
from builders.pipeline.records import CLOSED_BOOK, Summary
from builders.pipeline.settings import Settings
from builders.pipeline.work import FILTER, NUGGETS, POOL, QUERIES, QUESTIONS, SUPPORT, Work
from builders.topics import Topic
from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.recipe import Filter

FILE = "filter.json"
_VERSION = 1
"""Of the rules; another one lets the stage be run again."""


@dataclass(frozen=True, slots=True)
class Filtering:
    """The stage that keeps questions whose nuggets are all supported.

    Args:
        topic: The topic.
        settings: What it says of models, pools and filters.
    """

    topic: Topic
    settings: Settings

    @property
    def name(self) -> str:
        """The stage's name."""
        return FILTER

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that its outcome depends on.

        Raises:
            InputError: An earlier stage is not done.
        """
        digests = {stage: work.digest(stage) for stage in (QUESTIONS, NUGGETS, QUERIES, POOL, SUPPORT)}
        return {"version": _VERSION, "closed_book_coverage": self._most, "stages": digests}

    def make(self, work: Work, folder: Path) -> Summary:
        """Write ``filter.json``.

        Args:
            work: The folder of the build.
            folder: An empty folder for the file.
        """
        questions, nuggets = questions_of(work), nuggets_of(work)
        answers = {search.query_id: search.text for search in searches_of(work) if search.technique == CLOSED_BOOK}
        scores = {
            question.query_id: coverage(question, nuggets[question.query_id], answers[question.query_id])
            for question in questions
            if question.query_id in nuggets and question.query_id in answers
        }
        most = self._most
        known = {one for one, score in scores.items() if most is not None and score is not None and score >= most}
        ids = [question.query_id for question in questions]
        sifted = sift(ids, nuggets, pool_of(work), labels_of(work), known)
        told = {
            "kept": sifted.kept,
            "dropped": {rule: found for rule, found in sifted.dropped.items() if found},
            "filters": _filters(sifted, most),
            "closed_book": {query_id: score for query_id, score in scores.items() if score is not None},
        }
        text = json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
        (folder / FILE).write_text(text + "\n", encoding="utf-8", newline="\n")
        counts = {"questions": len(ids), "kept": len(sifted.kept)}
        counts |= {rule: len(found) for rule, found in sifted.dropped.items() if found}
        settings = {} if most is None else {"closed_book_coverage": most}
        warnings = ("no question is left",) if not sifted.kept else ()
        return Summary(counts=counts, settings=settings, warnings=warnings)

    @property
    def _most(self) -> float | None:
        """The share from which a question counts as known by heart; None where no question does."""
        contamination = self.settings.filter.contamination
        return contamination.closed_book_coverage if contamination else None


@dataclass(frozen=True, slots=True)
class Filtered:
    """What ``filter.json`` says.

    Args:
        kept: The ids of the questions that are kept, ascending.
        dropped: From a rule to the ids of those that fell to it.
        filters: The rules, with their counts and reasons.
        closed_book: From a question to the share of its nuggets' terms that its closed-book answer holds.
    """

    kept: tuple[str, ...]
    dropped: Mapping[str, tuple[str, ...]]
    filters: tuple[Filter, ...]
    closed_book: Mapping[str, float]


def filtered_of(work: Work) -> Filtered:
    """Return what the stage decided.

    Args:
        work: The folder of the build.

    Raises:
        InputError: The stage is not done, or its file cannot be read.
    """
    path = work.folder(FILTER) / FILE
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return Filtered(
            kept=tuple(told["kept"]),
            dropped={rule: tuple(ids) for rule, ids in told["dropped"].items()},
            filters=tuple(Filter.model_validate(rule) for rule in told["filters"]),
            closed_book=dict(told["closed_book"]),
        )
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        hint = "run the stage again"
        raise InputError(shown_path(path), expected="what filter wrote", got="something else", hint=hint) from None


def _filters(sifted: Sifted, most: float | None) -> list[dict[str, Any]]:
    """Return the rules for the manifest: the paper's two always, the others where they dropped a question."""
    told = []
    for rule, reason in RULES.items():
        more = f": {most:.0%} of their terms or more" if rule == CONTAMINATED and most is not None else ""
        if sifted.dropped[rule] or rule in PAPER:
            told.append({"name": rule, "dropped": len(sifted.dropped[rule]), "reason": reason + more})
    return told

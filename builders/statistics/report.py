"""All that is told of what was given: the row of the paper's first table, lengths, quarters, and what can be shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from builders.statistics.counts import Judged, Questions, count_documents, count_judged, count_questions
from builders.statistics.given import Given
from builders.statistics.lengths import Lengths
from builders.statistics.pictures import Picture, pictures
from builders.statistics.power import ASSUMED, KEPT, Power, Spread, power
from builders.statistics.quarters import named
from builders.statistics.tokens import TOKENIZER
from freshstack_datasets.progress import track


@dataclass(frozen=True)
class Report:
    """What was counted.

    Args:
        given: Where.
        questions: What was counted in its questions; None when none were given.
        documents: How long its documents are; None likewise.
        judged: What was counted in its judgments; None before there are any.
    """

    given: Given
    questions: Questions | None
    documents: Lengths | None
    judged: Judged | None

    @property
    def name(self) -> str:
        """What was counted, with the snapshot where it is one."""
        data = self.given.data
        return self.given.name if data is None else f"{data.name}@{data.snapshot}"

    @property
    def kept(self) -> int | None:
        """How many questions would be left by filters as strict as the paper's; None once they were filtered."""
        return round(self.given.questions * KEPT) if self.given.questions is not None and self.judged is None else None

    def lengths(self) -> dict[str, Lengths]:
        """Return the lengths by the kind of text, of the kinds of which there is any."""
        questions = self.questions
        kinds = {
            "questions": questions.lengths if questions else None,
            "answers": questions.answers if questions else None,
            "documents": self.documents,
        }
        return {kind: of for kind, of in kinds.items() if of is not None}

    def pictures(self) -> dict[str, Picture]:
        """Return all the pictures there can be, by the name of their file."""
        kinds = {kind.capitalize(): of for kind, of in self.lengths().items()}
        return pictures(self.name, self.questions.quarters if self.questions else {}, kinds)


def report(found: Given) -> Report:
    """Count all that was given; every text is read once.

    Args:
        found: What was given.

    Raises:
        MissingExtraError: A package that counts tokens is not installed.
        InputError: A table cannot be read.
    """
    asked = track(found.asked(), found.questions, "counting tokens of questions", "questions")
    texts = track(found.texts(), found.documents, "counting tokens of documents", "documents")
    return Report(
        given=found,
        questions=count_questions(asked) if found.questions is not None else None,
        documents=count_documents(texts) if found.documents is not None else None,
        judged=count_judged(found.data) if found.data is not None else None,
    )


def row(told: Report) -> dict[str, float | None]:
    """Return the row of the paper's first table, None for what is not known yet.

    Args:
        told: What was counted.
    """
    questions, judged, given = told.questions, told.judged, told.given
    means = {kind: of.mean for kind, of in told.lengths().items()}
    answers = questions.answers.texts if questions and questions.answers else 0
    marked = questions if given.marked else None
    return {
        "queries": given.questions,
        "documents": given.documents,
        "repositories": given.repositories,
        "nuggets_per_query": judged.nuggets_per_query if judged else None,
        "query_tokens": means.get("questions"),
        "answer_tokens": means.get("answers"),
        "document_tokens": means.get("documents"),
        "query_code_percent": _percent(marked.with_code, marked.number) if marked else None,
        "answer_code_percent": _percent(marked.answers_with_code, answers) if marked else None,
        "relevant_per_nugget": judged.relevant_per_nugget if judged else None,
        "relevant_per_query": judged.relevant_per_query if judged else None,
    }


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def powers(told: Report, spreads: Mapping[str, Spread] = ASSUMED) -> Iterator[tuple[str, Power, Power | None]]:
    """Yield what the questions can show, a measure each, and what those could that filters would leave.

    Args:
        told: What was counted.
        spreads: From a measure to how the difference between two systems varies.
    """
    queries, kept = told.given.questions, told.kept
    for name, spread in spreads.items() if queries is not None else ():
        yield name, power(spread, queries or 0), None if kept is None else power(spread, kept)


def to_json(told: Report, spreads: Mapping[str, Spread], basis: str) -> dict[str, Any]:
    """Return all of it as JSON can hold it, with the numbers behind the pictures.

    Args:
        told: What was counted.
        spreads: From a measure to how the difference between two systems varies.
        basis: Where that is from: ``assumed``, ``given`` or ``runs``.
    """
    data, questions = told.given.data, told.questions
    return {
        "dataset": told.given.name,
        "snapshot": data.snapshot if data else None,
        "fingerprint": data.fingerprint if data else None,
        "table1": row(told),
        "tokenizer": TOKENIZER,
        "lengths": {kind: _lengths(of) for kind, of in told.lengths().items()},
        "quarters": [{"quarter": named(of), "questions": n} for of, n in questions.quarters.items()]
        if questions
        else [],
        "undated": questions.undated if questions else None,
        "types": questions.types if questions else {},
        "languages": questions.by_language if questions else {},
        "judged_per_query": told.judged.judged_per_query if told.judged else None,
        "detectable": {
            "power": 0.8,
            "level": 0.05,
            "spread": basis,
            "queries": told.given.questions,
            "kept": told.kept,
            "measures": {name: _power(all_of_them, rest) for name, all_of_them, rest in powers(told, spreads)},
        },
    }


def _lengths(lengths: Lengths) -> dict[str, Any]:
    return {
        "texts": lengths.texts,
        "mean": lengths.mean,
        "median": lengths.median,
        "longest": lengths.longest,
        "bins": [bar._asdict() for bar in lengths.bins()],
    }


def _power(found: Power, kept: Power | None) -> dict[str, Any]:
    return {
        "spread": _ends((found.spread.low, found.spread.high)),
        "difference": _ends(found.difference),
        "difference_of_kept": _ends(kept.difference) if kept else None,
        "queries_needed": {f"{aim}": _ends(numbers) for aim, numbers in found.needed.items()},
    }


def _ends(numbers: tuple[float, float] | None) -> dict[str, float] | None:
    return None if numbers is None else {"low": numbers[0], "high": numbers[1]}

"""What people's sheets say of nuggets and documents: the measures of section 5.2 of the FreshStack paper.

Of a question with N nuggets, A of them hallucinated and B minor or redundant, and C nuggets missing,

    precision = (N - B) / N    recall = (N - B) / (N - B + C)    groundedness = (N - A) / N

The paper does not say how those of 60 questions become one figure. ``by_question`` is the mean over questions;
``over_all`` puts the sums of all questions into the formula, so that a question counts by its nuggets. Recall is not
defined where all nuggets are minor and none is missing; such a question does not count in the mean.

Where several people looked at a question, each of their sheets counts for itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.auditing.annotations import Annotation
from builders.auditing.cells import GRADES, HALLUCINATED, MINOR, MISSING, RELEVANCE, Unit
from builders.auditing.estimates import Estimate, Part, estimate
from builders.auditing.sampling import Item

ERRORS = (HALLUCINATED, MINOR)
PLACES = ("last", "first or second", "other")


@dataclass(frozen=True, slots=True)
class Looked:
    """What one person says of one question's nuggets.

    Args:
        query_id: The question.
        errors: For each kind of error, which nuggets have it, by position.
        missing: How many are missing.
    """

    query_id: str
    errors: Mapping[str, tuple[bool, ...]]
    missing: int

    @property
    def nuggets(self) -> int:
        """How many nuggets the question has."""
        return len(self.errors[MINOR])

    def good(self, error: str) -> int:
        """Return how many nuggets do not have an error."""
        return self.nuggets - sum(self.errors[error])


@dataclass(frozen=True, slots=True)
class Quality:
    """A measure, both ways.

    Args:
        by_question: The mean over questions.
        over_all: Of the sums over all questions.
    """

    by_question: Estimate
    over_all: Estimate


@dataclass(frozen=True, slots=True)
class Position:
    """What goes wrong at one position.

    Args:
        position: The position, from 1.
        errors: For each kind of error, the share of the nuggets there that have it.
    """

    position: int
    errors: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Scores:
    """What the sheets say.

    Args:
        quality: Precision, recall and groundedness.
        positions: The errors by position.
        where: For each kind of error, of the questions that have one, the shares of those whose last nugget has it, of
            others whose first or second one has it, and of all others; as the paper tells it.
        relevance: The shares of documents that are relevant, partially relevant and not.
    """

    quality: Mapping[str, Quality]
    positions: tuple[Position, ...]
    where: Mapping[str, Mapping[str, Estimate]]
    relevance: Mapping[str, Estimate]

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON can hold them."""
        return {
            "measures": {
                name: {"by_question": found.by_question.to_json(), "over_all": found.over_all.to_json()}
                for name, found in self.quality.items()
            },
            "positions": [
                {"position": found.position, **{name: share.to_json() for name, share in found.errors.items()}}
                for found in self.positions
            ],
            "where": {name: _json(shares) for name, shares in self.where.items()},
            "relevance": _json(self.relevance),
        }


def _json(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: found.to_json() for name, found in estimates.items()}


def scores(annotations: Sequence[Annotation]) -> Scores:
    """Return what sheets say.

    Args:
        annotations: The sheets, with nothing missing.
    """
    looked = [_looked(annotation, item) for annotation in annotations for item in annotation.sample.items]
    return Scores(
        _quality(looked),
        _positions(looked),
        {error: _where(looked, error) for error in ERRORS},
        _relevance(annotations),
    )


def _looked(annotation: Annotation, item: Item) -> Looked:
    query_id, values = item.query.query_id, annotation.values
    errors = {
        error: tuple(values[Unit(error, query_id, nugget.nugget_id)] is True for nugget in item.nuggets)
        for error in ERRORS
    }
    missing = values[Unit(MISSING, query_id, "")]
    assert isinstance(missing, int)
    return Looked(query_id, errors, missing)


@dataclass(frozen=True, slots=True)
class _Formula:
    """A measure of one question: what is above the line, and below it."""

    above: Callable[[Looked], int]
    below: Callable[[Looked], int]


_FORMULAS = {
    "precision": _Formula(lambda one: one.good(MINOR), lambda one: one.nuggets),
    "recall": _Formula(lambda one: one.good(MINOR), lambda one: one.good(MINOR) + one.missing),
    "groundedness": _Formula(lambda one: one.good(HALLUCINATED), lambda one: one.nuggets),
}


def _quality(looked: Sequence[Looked]) -> dict[str, Quality]:
    """Return the three measures, both ways."""
    found = {}
    for name, formula in _FORMULAS.items():
        pairs = [(one.query_id, formula.above(one), formula.below(one)) for one in looked]
        mean = estimate(Part(query_id, above / below) for query_id, above, below in pairs if below)
        found[name] = Quality(mean, estimate(Part(*pair) for pair in pairs))
    return found


def _positions(looked: Sequence[Looked]) -> tuple[Position, ...]:
    """Return the errors by position."""
    most = max((one.nuggets for one in looked), default=0)
    return tuple(
        Position(
            place + 1,
            {
                error: estimate(Part(one.query_id, one.errors[error][place]) for one in looked if place < one.nuggets)
                for error in ERRORS
            },
        )
        for place in range(most)
    )


def _where(looked: Sequence[Looked], error: str) -> dict[str, Estimate]:
    """Return where an error stands, in the questions that have it."""
    found = [(one.query_id, _place(one.errors[error])) for one in looked if any(one.errors[error])]
    return {place: estimate(Part(query_id, place == where) for query_id, where in found) for place in PLACES}


def _place(wrong: Sequence[bool]) -> str:
    return PLACES[0] if wrong[-1] else PLACES[1] if any(wrong[:2]) else PLACES[2]


def _relevance(annotations: Sequence[Annotation]) -> dict[str, Estimate]:
    """Return the shares of the grades."""
    found = [
        (unit.query_id, value)
        for annotation in annotations
        for unit, value in annotation.values.items()
        if unit.column == RELEVANCE
    ]
    return {grade: estimate(Part(query_id, value == grade) for query_id, value in found) for grade in GRADES}

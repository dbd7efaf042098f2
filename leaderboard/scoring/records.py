"""What ``scores.json`` holds. Nothing in it tells when or where it was made: scoring again gives the same bytes."""

import datetime
import json
from collections.abc import Iterable
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from freshstack_datasets.recipe import Count, Model, Sha256, Short, as_tuple

JUDGED = ("Judged@10", "Judged@20", "Judged@50")
"""The share of the documents within the first ranks that was judged: how much of a ranking its scores speak of."""

Texts: TypeAlias = Annotated[tuple[Short, ...], BeforeValidator(as_tuple)]
Values: TypeAlias = dict[Short, float]


class Bounded(Model):
    """A mean with its 95 % bootstrap interval.

    Args:
        value: The mean, unrounded.
        low: The low end.
        high: The high end.
    """

    value: float
    low: float
    high: float

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if self.low > self.high:
            raise ValueError("low: expected at most high, got more")
        return self


class Signed(Bounded):
    """The same on one dataset.

    Args:
        signature: What must be equal for two such means to be compared.
    """

    signature: Short


class Unsure(Model):
    """A mean that may have no interval: one value alone says nothing of how far others are from it.

    Args:
        value: The mean, unrounded.
        low: The low end of the interval, null where it has none.
        high: The high end.
    """

    value: float
    low: float | None
    high: float | None

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if (self.low is None) != (self.high is None) or (self.low or 0.0) > (self.high or 0.0):
            raise ValueError("low and high: expected both in order or neither, got others")
        return self


class RunFile(Model):
    """The file that was scored.

    Args:
        file: Its name.
        sha256: The digest of its bytes.
        bytes: How many those are.
    """

    file: Short
    sha256: Sha256
    bytes: Count


class Lengths(Model):
    """How many documents a run gives for the queries of the dataset; 0 for one that it lacks.

    Args:
        least: The fewest.
        median: The median.
        most: The most.
    """

    least: Count
    median: float
    most: Count


class Part(Model):
    """The scores of the queries that were asked before, or after, the training of the models ended.

    Args:
        queries: How many there are.
        measures: The board's measures; empty where there is no such query.
    """

    queries: Count
    measures: dict[Short, Unsure]


class CutoffScores(Model):
    """How a system does on queries older and newer than what its models were trained on.

    Args:
        date: The latest training cut-off of its models.
        before: The queries of that day and before.
        after: The queries after it.
        undated: Queries without a day.
    """

    date: datetime.date
    before: Part
    after: Part
    undated: Count


class TopicScores(Model):
    """The scores on one topic.

    Args:
        dataset: The dataset's name.
        snapshot: Its snapshot.
        fingerprint: What that snapshot holds.
        queries: How many queries the means run over: all of the dataset.
        run: The run file.
        ties: Documents whose place was decided by their id.
        warnings: What the reader should know, a line each.
        lengths: How many documents a query has.
        measures: The board's measures.
        judged: The measures of ``JUDGED``.
        condensed: The board's measures on judged documents alone.
        in_pool: Whether the system helped to choose which documents were judged; null where it is not known.
        cutoff: The scores before and after its training cut-off; null where that is not known, or is none.
    """

    dataset: Short
    snapshot: Short
    fingerprint: Sha256
    queries: Annotated[int, Field(ge=1, le=10**12)]
    run: RunFile
    ties: Count
    warnings: Texts
    lengths: Lengths
    measures: Annotated[dict[Short, Signed], Field(min_length=1)]
    judged: Values
    condensed: Values
    in_pool: bool | None
    cutoff: CutoffScores | None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _same("judged", self.judged, JUDGED)
        _same("condensed", self.condensed, self.measures)
        return self


class MacroScores(Model):
    """The means over all topics, each counting the same.

    Args:
        measures: The board's measures.
        judged: The measures of ``JUDGED``.
        condensed: The board's measures on judged documents alone.
    """

    measures: dict[Short, Bounded]
    judged: Values
    condensed: Values


class Evaluator(Model):
    """What computed the scores.

    Args:
        name: Its name.
        version: Its version.
    """

    name: Short
    version: Short


class PerQueryFile(Model):
    """The file with the values per query.

    Args:
        file: Its name.
        sha256: The digest of its bytes.
    """

    file: Literal["per_query.jsonl"]
    sha256: Sha256


class ScoresFile(Model):
    """A whole ``scores.json``.

    Args:
        schema_version: The version of this format.
        board: The board's name.
        snapshot: The board's snapshot.
        submission: The submission's name, that of its folder.
        submission_sha256: The digest of its ``submission.yaml``.
        evaluator: What computed the scores.
        resamples: Resamples of the bootstrap that made the intervals.
        seed: Its seed.
        topics: The scores by topic.
        macro: Those over all topics; null when one is missing.
        missing: The topics of the board without a run.
        per_query: The file with the values per query.
    """

    schema_version: Literal[1]
    board: Short
    snapshot: Short
    submission: Short
    submission_sha256: Sha256
    evaluator: Evaluator
    resamples: Annotated[int, Field(ge=1, le=10**9)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    topics: Annotated[dict[Short, TopicScores], Field(min_length=1)]
    macro: MacroScores | None
    missing: Texts
    per_query: PerQueryFile

    @model_validator(mode="after")
    def _fits(self) -> Self:
        first = next(iter(self.topics.values()))
        for name, topic in self.topics.items():
            _same(f"topics.{name}.measures", topic.measures, first.measures)
        if self.macro is not None:
            _same("macro.measures", self.macro.measures, first.measures)
            _same("macro.judged", self.macro.judged, JUDGED)
            _same("macro.condensed", self.macro.condensed, first.measures)
        if (self.macro is None) != bool(self.missing):
            raise ValueError("macro: expected null where a topic is missing, and only there")
        return self

    def to_json(self) -> str:
        """Return the one text of these scores: sorted keys, one space, a line break at the end."""
        plain = self.model_dump(mode="json")
        return json.dumps(plain, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _same(what: str, names: Iterable[str], wanted: Iterable[str]) -> None:
    expected, got = sorted(wanted), sorted(names)
    if got != expected:
        raise ValueError(f"{what}: expected {', '.join(expected)}, got {', '.join(got) or 'none'}")

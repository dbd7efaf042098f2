"""The records that every part of the leaderboard speaks of: a board, its topics, the systems on it and their scores."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias

from freshstack_datasets.evaluation import Measure
from freshstack_datasets.evaluation.arrays import Floats
from leaderboard.submission.model import Submission

Tier: TypeAlias = Literal["reported", "scored", "reproduced"]
"""Where scores come from: somebody published them, they were computed from a run, or from a second run as well."""

MACRO = "macro"
"""The scope that all topics make together, each counting the same."""


@dataclass(frozen=True, slots=True)
class Score:
    """The mean of a measure.

    Args:
        value: The mean, unrounded.
        low: The low end of its 95 % interval, None where it has none.
        high: The high end.
    """

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """What one system has on one scope: a topic, or all of them.

    Args:
        measures: The board's measures, by their printed form.
        judged: ``Judged@10``, ``Judged@20`` and ``Judged@50``; empty where they are not known.
        condensed: The board's measures on judged documents alone; empty where they are not known.
        queries: How many queries the means run over; None where nobody said.
    """

    measures: Mapping[str, Score]
    judged: Mapping[str, float] = field(default_factory=dict)
    condensed: Mapping[str, float] = field(default_factory=dict)
    queries: int | None = None


@dataclass(frozen=True, eq=False, slots=True)
class PerQuery:
    """The values of one system for each query of a topic.

    Args:
        query_ids: The queries, in the dataset's order.
        measures: The printed forms of what the rows hold: the board's measures, then those of ``Scores.judged``.
        values: float64 of shape (measures, queries).
    """

    query_ids: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats = field(repr=False)


@dataclass(frozen=True, slots=True)
class CutoffPart:
    """The scores of the queries that were asked before, or after, a model's training ended.

    Args:
        queries: How many there are.
        measures: The board's measures; intervals are None with fewer than two queries; empty with none.
    """

    queries: int
    measures: Mapping[str, Score]


@dataclass(frozen=True, slots=True)
class Cutoff:
    """How a system does on queries older and newer than what its models were trained on.

    Args:
        date: The latest training cut-off of its models, as ISO 8601.
        before: The queries of that day and before.
        after: The queries after it.
        undated: Queries without a date.
    """

    date: str
    before: CutoffPart
    after: CutoffPart
    undated: int


@dataclass(frozen=True, eq=False)
class Entry:
    """One system on a board.

    Args:
        entry_id: The submission's folder name, ``yyyymmdd-team-system``; of a reported row ``reported-…``. Safe in
            paths and addresses: small letters, digits, dots and hyphens.
        tier: Where its scores come from.
        name: What the system is called; foreign text.
        team: Whose it is; foreign text, "" where nobody said.
        kind: ``sparse``, ``dense``, ``hybrid`` …, of ``leaderboard.submission.model.Kind``; "" where nobody said.
        setting: ``inference``, or ``oracle`` when it searched with answers or nuggets: then it is a line of reference
            and has no rank.
        parameters: The parameters of all its models together; None where a model's are not known.
        size: The parameters as they are shown, ``-`` where they are none or not known.
        license: The licences of its models by SPDX, joined by ``AND``; None where one is not known.
        openness: ``open`` (weights are public), ``closed``, or "" where nobody said.
        trained_on_benchmark: ``yes``, ``no`` or ``unknown``.
        date: The day of the submission; of a reported row, that of the model's release.
        url: Where the system is described, an http or https address; None where there is none.
        latency_ms: The median time of a query in milliseconds, None where nobody measured it.
        in_pool: Whether it helped to choose which documents were judged; None where it is not known.
        topics: Its scores by topic; a topic that it lacks is missing.
        macro: Its means over all topics of the board; None when it lacks one.
        per_query: Its values by topic; empty for a reported row.
        cutoff: By topic, its scores before and after its training cut-off; empty where that is not known.
        reproduced: Of a reproduced one, the largest difference of a mean between the two runs.
        submission: What was submitted; None for a reported row.
        folder: Where the submission is; None for a reported row.
        runs: By topic, the run file, where it is at hand.
        source: Of a reported row, where it was published.
        published: Of a reported row, the day of that.
        corrections: Of a reported row, where what is corrected or added is from.
        evaluator: The version that scored it; "" for a reported row.
    """

    entry_id: str
    tier: Tier
    name: str
    team: str
    kind: str
    setting: Literal["inference", "oracle"]
    parameters: int | None
    size: str
    license: str | None
    openness: str
    trained_on_benchmark: str
    date: date
    url: str | None
    latency_ms: float | None
    in_pool: bool | None
    topics: Mapping[str, Scores]
    macro: Scores | None
    per_query: Mapping[str, PerQuery] = field(default_factory=dict, repr=False)
    cutoff: Mapping[str, Cutoff] = field(default_factory=dict)
    reproduced: float | None = None
    submission: Submission | None = field(default=None, repr=False)
    folder: Path | None = None
    runs: Mapping[str, Path] = field(default_factory=dict)
    source: str | None = None
    published: datetime.date | None = None
    corrections: tuple[str, ...] = ()
    evaluator: str = ""

    @property
    def arrived(self) -> datetime.date:
        """The day on which its scores came out."""
        return self.published or self.date

    @property
    def ranked(self) -> bool:
        """Whether it has a rank: oracles are lines of reference."""
        return self.setting == "inference"

    @property
    def tested(self) -> bool:
        """Whether its lead can be tested: that takes values per query."""
        return self.ranked and bool(self.per_query)

    def scores(self, scope: str) -> Scores | None:
        """Return its scores on a topic or, for ``MACRO``, on all of them; None when it has none."""
        return self.macro if scope == MACRO else self.topics.get(scope)


@dataclass(frozen=True, slots=True)
class Topic:
    """One dataset of a board.

    Args:
        name: Its short name, such as ``langchain``: the name of run files.
        title: What it is called for people.
        dataset: The dataset, as ``load`` takes it.
        fingerprint: What its snapshot holds; None until the first run was scored on it.
    """

    name: str
    title: str
    dataset: str
    fingerprint: str | None


@dataclass(frozen=True, eq=False)
class Board:
    """All systems on one snapshot. Systems of another fingerprint are never on it.

    Args:
        name: Its name, such as ``freshstack``: the folder's.
        snapshot: The snapshot, such as ``2024-10``.
        title: What it is called for people.
        about: What it measures, in a paragraph of plain text.
        folder: The folder ``submissions/<name>/<snapshot>``.
        topics: Its topics, in the order they are shown.
        measures: Its measures, the one that it is sorted by first.
        baseline: The entry that all others are tested against, None where no such one was scored.
        entries: Its systems, by falling value of the first measure on ``scopes[0]``, those without a value last.
        updated: The latest day on which scores of an entry came out.
        warnings: What was left out, and why, a line each.
    """

    name: str
    snapshot: str
    title: str
    about: str
    folder: Path
    topics: tuple[Topic, ...]
    measures: tuple[Measure, ...]
    baseline: str | None
    entries: tuple[Entry, ...]
    updated: date
    warnings: tuple[str, ...] = ()

    @property
    def scopes(self) -> tuple[str, ...]:
        """What scores are shown on: all topics together first, where there are several, then each topic."""
        names = tuple(topic.name for topic in self.topics)
        return (MACRO, *names) if len(names) > 1 else names

    def entry(self, entry_id: str) -> Entry:
        """Return one of its systems.

        Raises:
            KeyError: There is none of that id.
        """
        return {entry.entry_id: entry for entry in self.entries}[entry_id]

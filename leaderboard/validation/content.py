"""What is wrong, or odd, with a run on its dataset."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import RunError, shown
from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import Survey
from freshstack_datasets.runs.survey import Columns
from leaderboard.validation.findings import KEPT, Findings
from leaderboard.validation.ties import range_of
from leaderboard.validation.topics import JUDGED, TopicData

MISSING_SHARE = 0.1
"""The share of a dataset's queries that a run may lack."""

MANY_DOCUMENTS = 1_000
"""Documents of a query that nobody needs more of."""

SHALLOW_SHARE = 0.1
"""The share of queries that may have fewer documents than a measure looks at."""

SHOWN = 0.0001
"""How much another order of tied documents must change a mean to be told."""

FEW_JUDGED = 0.2
"""The share of the first ten documents below which so little was judged that scores say little."""


def check_content(survey: Survey, topic: TopicData, file: str, oracle: bool, findings: Findings) -> float | None:
    """Compare a run with its dataset, and return its mean of ``Judged@10``, None where it has none.

    Args:
        survey: What is in the file.
        topic: The topic.
        file: What the file is called in findings.
        oracle: Whether the system says that it saw answers or nuggets.
        findings: Takes what is wrong.
    """
    _check_queries(survey.columns, topic, file, findings)
    if survey.whole:
        _check_missing(survey.columns, topic, file, findings)
    _check_documents(survey.columns, topic, file, findings)
    _check_depth(survey.columns, topic, file, findings)
    if survey.run is not None and len(survey.run.codes):
        _check_equal(survey.run, file, findings)
        return _check_values(survey.run, topic, file, oracle, findings)
    return None


def _check_queries(columns: Columns, topic: TopicData, file: str, findings: Findings) -> None:
    known = topic.judgments.numbers
    unknown = np.array([query_id not in known for query_id in columns.query_ids], bool)
    for number, place, count in _told(np.flatnonzero(unknown), columns.first(columns.queries)):
        query_id = columns.query_ids[number]
        line = columns.line(place) if place >= 0 else 0
        findings.add(
            "E401", file, f"unknown query {shown(query_id)}", line=line, fix=topic.near_query(query_id), count=count
        )


def _check_missing(columns: Columns, topic: TopicData, file: str, findings: Findings) -> None:
    there = {columns.query_ids[place] for place in np.flatnonzero(columns.counts()).tolist()}
    wanted = topic.judgments.query_ids
    missing = [query_id for query_id in wanted if query_id not in there]
    if missing and len(missing) < len(wanted):
        some = ", ".join(map(shown, missing[:3])) + (", …" if len(missing) > 3 else "")
        code = "E403" if len(missing) > MISSING_SHARE * len(wanted) else "W407"
        expected = f"all {len(wanted):,} queries of the dataset" if code == "W407" else (
            f"at least {100 * (1 - MISSING_SHARE):.0f} % of the dataset's {len(wanted):,} queries"
        )  # fmt: skip
        findings.add(code, file, f"{len(missing):,} missing queries ({some})", expected=expected)


def _check_documents(columns: Columns, topic: TopicData, file: str, findings: Findings) -> None:
    places = topic.places
    if all(map(places.__contains__, columns.doc_ids)):
        return
    unknown = np.array([doc_id not in places for doc_id in columns.doc_ids], bool)
    first = columns.first(columns.docs)
    numbers = np.flatnonzero(unknown)
    for number, place, count in _told(numbers[np.argsort(first[numbers], kind="stable")], first):
        doc_id = columns.doc_ids[number]
        what = f"unknown document {shown(doc_id)}"
        line = columns.line(place) if place >= 0 else 0
        findings.add("E402", file, what, line=line, fix=topic.near_document(doc_id), count=count)


def _told(numbers: NDArray[np.int64], first: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """Yield the first few of some ids, the entry at which each comes first, and how many it stands for."""
    for at, number in enumerate(numbers[:KEPT].tolist(), 1):
        yield number, int(first[number]), 1 if at < KEPT else len(numbers) - KEPT + 1


def _check_depth(columns: Columns, topic: TopicData, file: str, findings: Findings) -> None:
    counts = columns.counts()
    _tell_queries(
        columns, counts > MANY_DOCUMENTS, "W408", file, findings,
        lambda number: (f"{counts[number]:,} documents", f"at most {MANY_DOCUMENTS:,}"),
    )  # fmt: skip
    depth = min(topic.depth, len(topic.data.corpus))
    shallow = (counts > 0) & (counts < depth)
    if shallow.sum() > SHALLOW_SHARE * max(1, len(counts)):
        _tell_queries(
            columns, shallow, "W409", file, findings,
            lambda number: (f"{counts[number]:,} documents", f"at least {depth}, which {_deepest(topic)} looks at"),
        )  # fmt: skip


def _deepest(topic: TopicData) -> str:
    return next(str(measure) for measure in topic.measures if measure.cutoff == topic.depth)


def _tell_queries(
    columns: Columns,
    chosen: NDArray[np.bool_],
    code: str,
    file: str,
    findings: Findings,
    told: Callable[[int], tuple[str, str]],
) -> None:
    """Add one finding for all queries that something is odd about, with the first of them."""
    numbers = np.flatnonzero(chosen)
    if len(numbers):
        number = int(numbers[0])
        got, expected = told(number)
        what = f"{len(numbers):,} of {len(columns.query_ids):,} queries, first {shown(columns.query_ids[number])}"
        line = columns.line(int(columns.first(columns.queries)[number]))
        findings.add(code, file, what, line=line, expected=expected, got=got)


def _check_equal(run: Run, file: str, findings: Findings) -> None:
    """Look for queries whose documents all have one score: the first and the last of a ranking tell."""
    starts, ends = run.offsets[:-1], run.offsets[1:]
    several = np.flatnonzero(ends - starts > 1)
    equal = several[run.scores[starts[several]] == run.scores[ends[several] - 1]]
    if len(equal):
        first = shown(run.query_ids[equal[0]])
        what = f"{len(equal):,} of {len(run):,} queries, first {first}, whose documents all have one score"
        findings.add("W411", file, what, expected="scores that rank them", got=f"{run.scores[starts[equal[0]]]}")


def _check_values(run: Run, topic: TopicData, file: str, oracle: bool, findings: Findings) -> float | None:
    try:
        result = evaluate(run, topic.data, (*topic.measures, JUDGED), intervals=False)
    except RunError:  # it shares no query with the dataset, which is told of its queries
        return None
    if result.ties:
        ranges = range_of(run, topic.data, topic.judgments, topic.measures)
        moved = [(name, low, high) for name, (low, high) in ranges.items() if high - low >= SHOWN]
        told = ", ".join(f"{name} from {low:.4f} to {high:.4f}" for name, low, high in moved)
        what = f"{counted(result.ties, 'documents')} with the score of the one before"
        got = f"ties whose order can make {told}" if told else "ties whose order changes no mean"
        findings.add("W410", file, what, expected="a score of its own for each", got=got)
    judged = result.mean[str(JUDGED)]
    if judged < FEW_JUDGED:
        findings.add("W412", file, f"{JUDGED}", expected=f"at least {FEW_JUDGED}", got=f"{judged:.3f}")
    if not oracle:
        for measure in map(str, topic.measures):
            best = topic.oracles.get(measure)
            if best is not None and result.mean[measure] > best:
                expected = f"at most {best:.3f}, the best of the oracles"
                findings.add("W413", file, measure, expected=expected, got=f"{result.mean[measure]:.3f}")
    return judged

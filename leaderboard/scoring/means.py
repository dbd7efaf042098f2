"""Whether the means of scores are those of the values per query beside them: either file may have been changed by hand."""

from collections.abc import Iterator, Mapping
from statistics import fmean

from leaderboard.boards.records import PerQuery
from leaderboard.scoring.records import ScoresFile

_NEAR = 1e-9
"""How far a mean may be from another way to compute it."""


def faults_of_means(scores: ScoresFile, per_query: Mapping[str, PerQuery]) -> Iterator[str]:
    """Yield the means that are none, a line each.

    Args:
        scores: The scores.
        per_query: The values per query, by topic.
    """
    for name, topic in scores.topics.items():
        found = per_query[name]
        means = dict(zip(found.measures, found.values.mean(axis=1).tolist(), strict=True))
        said = {measure: one.value for measure, one in topic.measures.items()} | topic.judged
        yield from _apart(name, said, {measure: means[measure] for measure in said})
    if scores.macro is None:
        return
    topics = [*scores.topics.values()]
    said = {measure: one.value for measure, one in scores.macro.measures.items()} | scores.macro.judged
    told = [{measure: one.value for measure, one in topic.measures.items()} | topic.judged for topic in topics]
    yield from _apart("macro", said, {measure: fmean(one[measure] for one in told) for measure in said})
    judged_alone = scores.macro.condensed
    means = {measure: fmean(topic.condensed[measure] for topic in topics) for measure in judged_alone}
    yield from _apart("macro, on judged documents alone", judged_alone, means)


def _apart(where: str, said: Mapping[str, float], means: Mapping[str, float]) -> Iterator[str]:
    for measure, value in said.items():
        if abs(value - means[measure]) > _NEAR:
            yield f"{where}: {measure} is {value:.6g}, and the mean of its values is {means[measure]:.6g}"

"""A scored submission as a system on a board."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from freshstack_datasets.errors import InputError, shown_path
from leaderboard.boards.definition import Definition
from leaderboard.boards.places import SCORES, SUBMISSION, run_files
from leaderboard.boards.records import Cutoff, CutoffPart, Entry, Score, Scores
from leaderboard.scoring import Reproduction, ScoresFile, per_query_of, read_reproduction
from leaderboard.scoring.files import digest_of
from leaderboard.scoring.records import CutoffScores, MacroScores, Part, TopicScores
from leaderboard.submission.facts import license_of, openness_of, parameters_of, size_of
from leaderboard.submission.reading import read_submission


def entry_of(folder: Path, scores: ScoresFile, definition: Definition) -> Entry:
    """Return a submission as a system on a board.

    Args:
        folder: The submission's folder.
        scores: What ``scores.json`` in it says.
        definition: The board.

    Raises:
        InputError: Something in the folder cannot be read, or it was scored by other topics or measures.
    """
    _check_shape(folder, scores, definition)
    told = read_submission(folder / SUBMISSION)
    names = [name for name in definition.topic_names if name in scores.topics]
    runs = {name: files[0] for name in names if len(files := run_files(folder, name)) == 1}
    reproduction = read_reproduction(folder)
    is_reproduced = reproduction is not None and _holds(reproduction, scores, runs)
    parameters = parameters_of(told.models)
    return Entry(
        entry_id=folder.name,
        tier="reproduced" if is_reproduced else "scored",
        name=told.system.name,
        team=told.team.name,
        kind=told.system.kind,
        setting=told.system.setting,
        parameters=parameters,
        size=size_of(parameters),
        license=license_of(told.models),
        openness=openness_of(told.models),
        trained_on_benchmark=told.training.on_benchmark,
        date=told.date,
        url=told.system.url,
        latency_ms=None if told.latency is None else told.latency.query_ms_p50,
        in_pool=_any([scores.topics[name].in_pool for name in names]),
        topics={name: _topic(scores.topics[name], definition) for name in names},
        macro=_macro(scores.macro, scores, definition),
        per_query=per_query_of(folder, scores),
        cutoff={name: _cutoff(found) for name in names if (found := scores.topics[name].cutoff) is not None},
        reproduced=reproduction.largest_difference if reproduction is not None and is_reproduced else None,
        submission=told,
        folder=folder,
        runs=runs,
        evaluator=f"{scores.evaluator.name} {scores.evaluator.version}",
    )


def _check_shape(folder: Path, scores: ScoresFile, definition: Definition) -> None:
    """Refuse scores of topics or measures that the board does not have."""
    where, again = shown_path(folder / SCORES)[1:-1], "score it again: python -m leaderboard score"
    if unknown := [name for name in scores.topics if name not in definition.topic_names]:
        wanted = f"the board's topics, {', '.join(definition.topic_names)}"
        raise InputError(where, expected=wanted, got=", ".join(unknown), hint=again)
    for name, topic in scores.topics.items():
        if set(topic.measures) != set(definition.measures):
            wanted, got = ", ".join(definition.measures), ", ".join(sorted(topic.measures))
            raise InputError(f"{where}, {name}", expected=f"the board's measures, {wanted}", got=got, hint=again)
    if (scores.macro is None) != (len(scores.topics) < len(definition.topics)):
        raise InputError(where, expected="means over all topics of the board", got="others", hint=again)


def _holds(reproduction: Reproduction, scores: ScoresFile, runs: Mapping[str, Path]) -> bool:
    """Tell whether a second run came near enough, and the runs are those that were scored and run again."""
    if reproduction.verdict == "failed" or set(reproduction.runs) != set(scores.topics):
        return False
    return all(
        name in runs
        and set(reproduction.differences[name]) == set(topic.measures)
        and digest_of(runs[name], "a run") == topic.run.sha256 == reproduction.runs[name].original
        for name, topic in scores.topics.items()
    )


def _topic(found: TopicScores, definition: Definition) -> Scores:
    measures = {name: Score(one.value, one.low, one.high) for name, one in found.measures.items()}
    return Scores(
        measures={name: measures[name] for name in definition.measures},
        judged=dict(found.judged),
        condensed={name: found.condensed[name] for name in definition.measures},
        queries=found.queries,
    )


def _macro(found: MacroScores | None, scores: ScoresFile, definition: Definition) -> Scores | None:
    if found is None:
        return None
    measures = {name: found.measures[name] for name in definition.measures}
    return Scores(
        measures={name: Score(one.value, one.low, one.high) for name, one in measures.items()},
        judged=dict(found.judged),
        condensed={name: found.condensed[name] for name in definition.measures},
        queries=sum(topic.queries for topic in scores.topics.values()),
    )


def _cutoff(found: CutoffScores) -> Cutoff:
    return Cutoff(found.date.isoformat(), _part(found.before), _part(found.after), found.undated)


def _part(found: Part) -> CutoffPart:
    return CutoffPart(
        found.queries, {name: Score(one.value, one.low, one.high) for name, one in found.measures.items()}
    )


def _any(flags: Sequence[bool | None]) -> bool | None:
    """Return whether any is true; None where none is, and some are not known."""
    if True in flags:
        return True
    return None if None in flags else False

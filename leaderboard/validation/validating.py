"""From paths to a report: what is handed in is looked at folder by folder, then topic by topic.

No more than the dataset of one topic and one of its runs are held at a time.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from freshstack_datasets.errors import FreshStackError
from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.progress import track
from freshstack_datasets.ranking import Run
from leaderboard.boards.definition import DefinedTopic
from leaderboard.boards.places import SUBMISSIONS, submission_folders
from leaderboard.submission.model import Submission
from leaderboard.validation.changes import read_pull_request
from leaderboard.validation.content import check_content
from leaderboard.validation.findings import Findings, Report
from leaderboard.validation.folders import add_unknown_topic, check_file, listed, topic_of
from leaderboard.validation.form import check_form
from leaderboard.validation.metadata import add_undeclared, check_metadata
from leaderboard.validation.others import Others
from leaderboard.validation.places import KnownBoard, Named, check_name, named, read_known
from leaderboard.validation.topics import Datasets, TopicData, oracles_of

_ORACLE = "-oracle"
"""How the tag of a run ends that ``freshstack retrieve`` made with answers or nuggets."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """Something to validate, with what its folder holds.

    Args:
        named: What was named.
        runs: Its run files by topic, "" for a run whose topic is not known.
        submission: What ``submission.yaml`` says; None where it is wrong, or for a run file by itself.
    """

    named: Named
    runs: dict[str, Path]
    submission: Submission | None

    def file(self, topic: str) -> str:
        """Return what the run file of a topic is called in findings."""
        return self.named.label if self.named.is_run else f"{self.named.label}/{self.runs[topic].name}"


@dataclass(frozen=True, eq=False, slots=True)
class CheckedRun:
    """A run without a fault of form, for whoever goes on with it: a file is to be read once.

    Args:
        path: Its file.
        submission: What ``submission.yaml`` beside it says.
        topic: Its topic.
        data: The topic's dataset.
        run: The run.
    """

    path: Path
    submission: Submission
    topic: DefinedTopic
    data: Dataset
    run: Run


Take: TypeAlias = Callable[[CheckedRun], None]


def validate(
    paths: Iterable[Path] = (),
    *,
    board: Path | None = None,
    pull_request: str | None = None,
    root: Path = SUBMISSIONS,
    datasets: Datasets = load,
    today: datetime.date | None = None,
    take: Take | None = None,
) -> Report:
    """Look at submissions and run files, and report all that is wrong with them.

    Args:
        paths: Folders of submissions, of boards, or run files.
        board: The folder of the board that run files are for, and submissions that lie elsewhere.
        pull_request: The base of a pull request, whose submissions are looked at instead of paths.
        root: The folder of submissions.
        datasets: What gives a dataset by its name and snapshot.
        today: The day that no submission must be after; that of now when not given.
        take: Takes every run of a submission that has no fault of form, as soon as it was looked at.

    Raises:
        InputError: There is no such base, or no checkout of git.
        MissingExtraError: license-expression is not installed.
    """
    findings, day = Findings(), today or datetime.datetime.now(datetime.UTC).date()
    if pull_request is not None:
        request = read_pull_request(root, pull_request, findings)
        chosen = named(request.folders, board, root, findings, request.top)
    else:
        chosen = named(paths, board, root, findings)
    for folder, group in _grouped(chosen).items():
        known = None if folder is None else read_known(folder, findings)
        topics = known.definition.topic_names if known else ()
        entries = []
        for one in group:
            entry = _entry(one, topics, day, findings, handed_in=pull_request is not None)
            if entry is not None:
                entries.append(entry)
        _check_runs(entries, known, datasets, findings, take)
    return findings.report(tuple(one.label for one in chosen))


def _grouped(chosen: Sequence[Named]) -> dict[Path | None, list[Named]]:
    groups: dict[Path | None, list[Named]] = {}
    for one in chosen:
        groups.setdefault(one.board, []).append(one)
    return groups


def _entry(
    one: Named, topics: Sequence[str], today: datetime.date, findings: Findings, *, handed_in: bool
) -> _Entry | None:
    """Look at a folder and its submission.yaml; None where nothing more can be looked at."""
    if one.is_run:
        topic = topic_of(one.path.name) or ""
        if not check_file(one.path, one.label, findings):
            return None
        if topics and topic not in topics:
            if len(topics) > 1:
                add_unknown_topic(one.label, topic, topics, findings)
                topic = ""
            else:
                topic = topics[0]
        return _Entry(one, {topic if topics else "": one.path}, None)
    if one.path.is_symlink():
        findings.add("E106", one.label, "the folder", expected="the folder itself", got="a link")
        return None
    check_name(one, findings)
    try:
        found = listed(one.path, one.label, topics, findings, handed_in=handed_in)
    except OSError as error:
        findings.add("E101", one.label, "the folder", expected="one that may be read", got=f"{error.strerror}")
        return None
    submission = None
    if found.metadata is not None:
        file = f"{one.label}/{found.metadata.name}"
        submission = check_metadata(found.metadata, file, one.name, today, findings)
    return _Entry(one, found.runs, submission)


def _check_runs(
    entries: Sequence[_Entry], board: KnownBoard | None, datasets: Datasets, findings: Findings, take: Take | None
) -> None:
    """Look at all runs, those of one topic after the other."""
    oracles = oracles_of(board.folder, board.definition) if board and entries else {}
    for topic in board.definition.topics if board else ():
        runs = [entry for entry in entries if topic.name in entry.runs]
        if board and runs:
            _check_topic(
                runs, topic, board, oracles.get(topic.name, {}), _others_of(board, entries), datasets, findings, take
            )
    for entry in entries:
        for name in entry.runs:
            if board is None or name not in board.definition.topic_names:
                _check_run(entry, name, None, None, findings, take)


def _check_topic(
    runs: Sequence[_Entry],
    topic: DefinedTopic,
    board: KnownBoard,
    oracles: Mapping[str, float],
    others: tuple[Path, ...],
    datasets: Datasets,
    findings: Findings,
    take: Take | None,
) -> None:
    """Look at all runs of one topic, whose dataset is let go of afterwards."""
    data = _data(topic, board, oracles, datasets, runs, findings)
    beside = Others(data, others) if data else None
    for entry in track(runs, len(runs), f"looking through {topic.name}"):
        _check_run(entry, topic.name, data, beside, findings, take)


def _others_of(board: KnownBoard, entries: Sequence[_Entry]) -> tuple[Path, ...]:
    """Return the submissions on the board that are not being validated."""
    own = {entry.named.path.absolute() for entry in entries} | {entry.named.path.absolute().parent for entry in entries}
    others = submission_folders(board.folder)
    return tuple(path for path in others if path.absolute() not in own and not path.is_symlink())


def _data(
    topic: DefinedTopic,
    board: KnownBoard,
    oracles: Mapping[str, float],
    datasets: Datasets,
    runs: Sequence[_Entry],
    findings: Findings,
) -> TopicData | None:
    """Return a topic's dataset; None where it is not at hand or another one, which is told of each run."""
    try:
        data = datasets(topic.dataset, board.place.snapshot)
        found = TopicData(topic, data, board.definition.parsed_measures, oracles)
        len(found.judgments.query_ids), len(data.corpus.ids)  # what is on the Hub is downloaded now
    except FreshStackError as error:
        for entry in runs:
            findings.add(
                "E406", entry.file(topic.name), error.what, expected=error.expected, got=error.got, fix=error.hint
            )
        return None
    if topic.fingerprint not in (None, data.fingerprint):
        for entry in runs:
            expected, got = f"the data {topic.fingerprint} of the board", data.fingerprint
            findings.add("E404", entry.file(topic.name), f"{data.name}@{data.snapshot}", expected=expected, got=got)
        return None
    return found


def _check_run(
    entry: _Entry,
    topic: str,
    data: TopicData | None,
    others: Others | None,
    findings: Findings,
    take: Take | None,
) -> None:
    path, file = entry.runs[topic], entry.file(topic)
    survey = check_form(path, file, len(data.judgments.query_ids) if data else None, findings)
    oracle = entry.submission is not None and entry.submission.system.setting == "oracle"
    marked = next((tag for tag in survey.tags if tag.endswith(_ORACLE)), None)
    if entry.submission is not None and not oracle and marked is not None:
        add_undeclared(file, survey.tags[marked], f"setting: inference, and a tag that ends with {_ORACLE}", findings)
    if data is None:
        return
    judged = check_content(survey, data, file, oracle, findings)
    if others is not None:
        others.check(path, file, entry.named.name, survey.run, judged, findings)
    if take is not None and entry.submission is not None and survey.run is not None:
        take(CheckedRun(path, entry.submission, data.topic, data.data, survey.run))

"""Boards as they are: a definition, the rows that others published, and every submission that was scored."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from freshstack_datasets.errors import NotComparableError, UnknownNameError, shown
from leaderboard.boards.definition import Definition, read_definition
from leaderboard.boards.places import DEFINITION, SUBMISSION, SUBMISSIONS, near, place_of_board, submission_folders
from leaderboard.boards.records import MACRO, Board, Entry, Topic
from leaderboard.boards.reported import read_reported
from leaderboard.boards.scored import entry_of
from leaderboard.scoring import ScoresFile, changes_since, read_scores


def boards_of(root: Path = SUBMISSIONS) -> list[Path]:
    """Return the folders of all boards, by name and then by snapshot.

    Args:
        root: The folder of submissions.
    """
    return sorted(path.parent for path in root.glob(f"*/*/{DEFINITION}"))


def board_named(name: str, root: Path = SUBMISSIONS) -> Path:
    """Return the folder of a board.

    Args:
        name: What somebody typed: ``nimbus/2026-11``, or the path of its folder.
        root: The folder of submissions.

    Raises:
        UnknownNameError: There is no such board.
    """
    known = {f"{path.parent.name}/{path.name}": path for path in boards_of(near(root))}
    if (found := known.get(name.strip("/"))) is not None:
        return found
    if (Path(name) / DEFINITION).is_file():
        return Path(name)
    raise UnknownNameError("board", name, known)


def read_board(folder: Path) -> Board:
    """Read a board.

    Submissions without scores, or with others than those of their files, are left out, and the board's warnings say so.

    Args:
        folder: ``…/<board>/<snapshot>``.

    Raises:
        InputError: Something in it cannot be read.
        NotComparableError: Two of its systems were scored on different data.
    """
    place, definition = place_of_board(folder), read_definition(folder)
    scored, warnings = _scored(folder, definition)
    topics = _pinned(definition, scored)
    entries = [*read_reported(folder, definition)]
    entries += [entry_of(path, scores, definition) for path, scores in scored]
    baseline = definition.baseline
    if baseline is not None and baseline not in {entry.entry_id for entry in entries}:
        warnings.append(f"the baseline {baseline} is not on the board")
        baseline = None
    return Board(
        name=place.board,
        snapshot=place.snapshot,
        title=definition.title,
        about=definition.about,
        folder=folder,
        topics=topics,
        measures=definition.parsed_measures,
        baseline=baseline,
        entries=_in_order(entries, definition),
        updated=max((entry.arrived for entry in entries), default=_first_day(place.snapshot)),
        warnings=tuple(warnings),
    )


def _scored(folder: Path, definition: Definition) -> tuple[list[tuple[Path, ScoresFile]], list[str]]:
    """Return the submissions that were scored, by name, and a line for each that was not."""
    scored, warnings = [], []
    for path in submission_folders(folder):
        if not (path / SUBMISSION).is_file():
            warnings.append(f"{shown(path.name)[1:-1]} is left out: it has no {SUBMISSION}")
        elif (scores := read_scores(path)) is None:
            step = "python -m leaderboard score computes its scores"
            warnings.append(f"{shown(path.name)[1:-1]} is left out: it was not scored; {step}")
        elif changes := changes_since(path, scores, definition):
            step = "python -m leaderboard score computes its scores again"
            warnings.append(f"{shown(path.name)[1:-1]} is left out: {changes[0]}; {step}")
        else:
            scored.append((path, scores))
    return scored, warnings


def _pinned(definition: Definition, scored: Sequence[tuple[Path, ScoresFile]]) -> tuple[Topic, ...]:
    """Return the board's topics with the fingerprints that everybody was scored on.

    Raises:
        NotComparableError: Two of them differ.
    """
    pinned = []
    for topic in definition.records():
        seen, by = topic.fingerprint, "the board"
        for path, scores in scored:
            if topic.name not in scores.topics:
                continue
            found = scores.topics[topic.name].fingerprint
            if seen is None:
                seen, by = found, path.name
            elif found != seen:
                raise NotComparableError(
                    f"{path.name}, the topic {topic.name}",
                    expected=f"scores on the data {seen} of {by}",
                    got=f"scores on {found}",
                    hint="score it again on the board's snapshot, or put it on a board of its own",
                )
        pinned.append(replace(topic, fingerprint=seen))
    return tuple(pinned)


def _in_order(entries: Iterable[Entry], definition: Definition) -> tuple[Entry, ...]:
    """Return systems by falling value of the first measure, those without a value last, equal ones by name."""
    scope = MACRO if len(definition.topics) > 1 else definition.topic_names[0]

    def place(entry: Entry) -> tuple[bool, float, str, str]:
        scores = entry.scores(scope)
        score = None if scores is None else scores.measures.get(definition.measures[0])
        return score is None, 0.0 if score is None else -score.value, entry.name, entry.entry_id

    return tuple(sorted(entries, key=place))


def _first_day(snapshot: str) -> datetime.date:
    return datetime.date(int(snapshot[:4]), int(snapshot[5:7]), 1)

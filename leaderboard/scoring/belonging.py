"""Whether scores still belong to what is in a submission's folder."""

from pathlib import Path

from freshstack_datasets.errors import shown
from leaderboard.boards.definition import Definition
from leaderboard.boards.places import SUBMISSION, run_files
from leaderboard.scoring.files import digest_of
from leaderboard.scoring.records import ScoresFile


def faults_of_scores(folder: Path, scores: ScoresFile, definition: Definition) -> tuple[str, ...]:
    """Return why scores do not belong to a submission and its board, a line each; nothing where all is as it was.

    Args:
        folder: The submission's folder.
        scores: Its scores.
        definition: The board.

    Raises:
        InputError: A file cannot be read.
    """
    found = [*changes_since(folder, scores, definition)]
    for topic in definition.topics:
        scored = scores.topics.get(topic.name)
        if scored is not None and topic.fingerprint not in (None, scored.fingerprint):
            found.append(f"the topic {topic.name} was scored on #{scored.fingerprint[:12]}, not on the board's data")
    return tuple(found)


def changes_since(folder: Path, scores: ScoresFile, definition: Definition) -> tuple[str, ...]:
    """Return what was changed in a submission since it was scored, a line each.

    Args:
        folder: The submission's folder.
        scores: Its scores.
        definition: The board.

    Raises:
        InputError: A file cannot be read.
    """
    found = []
    if digest_of(folder / SUBMISSION, "a submission") != scores.submission_sha256:
        found.append(f"{SUBMISSION} was changed since it was scored")
    for name in definition.topic_names:
        files, scored = run_files(folder, name), scores.topics.get(name)
        if scored is None:
            found += [f"{path.name} was not scored" for path in files]
        elif [path.name for path in files] != [scored.run.file]:
            names = ", ".join(path.name for path in files) or "no run file"
            found.append(f"of the topic {name}, {shown(scored.run.file)[1:-1]} was scored, and there is {names}")
        elif digest_of(files[0], "a run") != scored.run.sha256:
            found.append(f"{files[0].name} was changed since it was scored")
    return tuple(found)

"""A new submission: its folder, with run files and a ``submission.yaml`` that explains itself."""

import datetime
import os
import re
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from freshstack_datasets.errors import InputError, UnknownNameError, shown, shown_path
from freshstack_datasets.files import atomic_folder, refuse_taken
from freshstack_datasets.typed_files import Fault, in_one_line
from leaderboard.boards.definition import read_definition
from leaderboard.boards.places import DEFINITION, RUN_SUFFIXES, SUBMISSION, SUBMISSIONS, wrong_in_name
from leaderboard.submission.mteb import Imported
from leaderboard.submission.placeholders import FILL_IN
from leaderboard.submission.reading import faults_of
from leaderboard.submission.schema import FILE
from leaderboard.submission.template import TEXT

_LONGEST = 40
"""Letters of a team's or a system's name in the folder's."""

_PLAIN = ("team", "contact", "name", "kind", "setting", "on_benchmark", "on_its_questions_site", "repository", "commit")
"""Members of ``Answers`` that stand in the text as they are."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What somebody said of a new submission; ``FILL_IN`` where they did not.

    Args:
        team: What the team is called.
        contact: Where they can be asked.
        name: What the system is called.
        kind: What kind of system it is.
        setting: What it searched with.
        components: The retrievers that it is made of.
        models: The models that took part.
        on_benchmark: Whether they were trained on the benchmark.
        on_its_questions_site: Whether they were trained on the forum that its questions are from.
        repository: Where the code is.
        commit: Its commit.
        command: What makes the runs again.
        hardware: What it ran on, "" where nobody noted it.
        license: The licence of the run files.
    """

    team: str
    contact: str
    name: str
    kind: str
    setting: str
    components: tuple[str, ...]
    models: tuple[Imported, ...]
    on_benchmark: str
    on_its_questions_site: str
    repository: str
    commit: str
    command: str
    hardware: str
    license: str


def board_folder(root: Path, board: str) -> Path:
    """Return the folder of a board.

    Args:
        root: The folder of all boards.
        board: The board and its snapshot, such as ``nimbus/2026-11``.

    Raises:
        UnknownNameError: There is none of that name.
    """
    known = {f"{path.parent.parent.name}/{path.parent.name}": path.parent for path in root.glob(f"*/*/{DEFINITION}")}
    if board not in known:
        raise UnknownNameError("board", board, known)
    return known[board]


def folder_name(date: datetime.date, team: str, name: str, told: str | None = None) -> str:
    """Return what the folder of a submission is called: the day, the team and the system.

    Args:
        date: The day.
        team: What the team is called.
        name: What the system is called.
        told: What somebody says that it is called.

    Raises:
        InputError: That is not allowed, or a name has no letter of the Latin alphabet and no digit.
    """
    if told is not None:
        if wanted := wrong_in_name(told):
            raise InputError("--folder", expected=wanted, got=shown(told))
        return told
    found = "-".join([f"{date:%Y%m%d}", _slug(team), _slug(name)])
    if wrong_in_name(found):
        hint = "give --folder yyyymmdd-team-system"
        expected = "names of the team and the system with letters from a to z, or digits"
        raise InputError("the name of the folder", expected=expected, got=f"{shown(team)} and {shown(name)}", hint=hint)
    return found


def runs_of(board: Path, told: Sequence[str]) -> dict[str, Path]:
    """Return run files by the name that each has in a submission.

    Args:
        board: The folder of the board.
        told: ``TOPIC=FILE`` each; the file alone where it is called as its topic, or the board has one topic.

    Raises:
        InputError: One is no file, is of no topic of the board, or its suffix is not that of a run file.
    """
    topics = read_definition(board).topic_names
    found: dict[str, Path] = {}
    for text in told:
        topic, path = _topic_and_path(text, topics)
        suffix = next((end for end in sorted(RUN_SUFFIXES, key=len, reverse=True) if path.name.endswith(end)), "")
        if not suffix:
            raise InputError(f"the run file {shown_path(path)}", expected=" ".join(RUN_SUFFIXES), got="another suffix")
        if not path.is_file():
            raise InputError(f"the run file {shown_path(path)}", expected="a file", got="none there")
        if any(name.partition(".")[0] == topic for name in found):
            raise InputError("--run", expected="one run file a topic", got=f"two of {topic}")
        found[topic + suffix] = path
    return found


def _topic_and_path(text: str, topics: Sequence[str]) -> tuple[str, Path]:
    topic, sign, rest = text.partition("=")
    if sign and "/" not in topic:
        if topic not in topics:
            raise UnknownNameError("topic", topic, topics)
        return topic, Path(rest)
    path = Path(text)
    stem = path.name.partition(".")[0]
    if stem in topics or len(topics) == 1:
        return stem if stem in topics else topics[0], path
    expected, hint = "the topic that it is of", f"give --run TOPIC=FILE with one of {', '.join(topics)}"
    raise InputError(f"the run file {shown_path(path)}", expected=expected, got="none", hint=hint)


def write_new(answers: Answers, folder: Path, runs: Mapping[str, Path]) -> list[Fault]:
    """Write the folder of a submission where none is, and return what is left to do in its ``submission.yaml``.

    Args:
        answers: What it says.
        folder: The folder; its name begins with the day that it is handed in.
        runs: Run files, by the name that each gets there.

    Raises:
        InputError: Something is there already, or nothing can be put there, or a run file cannot be read.
    """
    refuse_taken(folder)
    content = submission_text(answers, folder).encode()
    with atomic_folder(folder) as work:
        (work / SUBMISSION).write_bytes(content)
        for name, path in runs.items():
            try:
                shutil.copyfile(path, work / name)
            except OSError as error:
                got = (error.strerror or "an unusable file").lower()
                raise InputError(f"cannot copy {shown_path(path)}", got=got) from None
    return faults_of(content)


def submission_text(answers: Answers, folder: Path) -> str:
    """Return the text of a ``submission.yaml``.

    Args:
        answers: What it says.
        folder: Where it will be; its name begins with the day that it is handed in.
    """
    datasets = sorted({name for model in answers.models for name in model.datasets})
    return TEXT.format(
        schema=_schema(folder),
        date=datetime.datetime.strptime(folder.name[:8], "%Y%m%d").date().isoformat(),
        **{key: in_one_line(getattr(answers, key)) for key in _PLAIN},
        command=in_one_line(answers.command),
        components=in_one_line(list(answers.components)),
        models=_models(answers),
        datasets=in_one_line(datasets),
        hardware=in_one_line(answers.hardware or None),
        license=in_one_line(answers.license),
    )


def _models(answers: Answers) -> str:
    told = [dict(model.model) for model in answers.models]
    if not told and answers.kind not in ("sparse", "fusion"):
        told = [dict.fromkeys(("id", "revision", "parameters", "license"), FILL_IN)]
    if not told:
        return "models: []\n"
    lines = ("    ".join(f"{key}: {in_one_line(value)}\n" for key, value in model.items()) for model in told)
    return "models:\n" + "".join(f"  - {entry}" for entry in lines)


def _schema(folder: Path) -> str:
    """Return the line by which editors find the schema, where the folder is in the clone that it is in."""
    if not folder.absolute().is_relative_to(SUBMISSIONS):
        return ""
    return f"# yaml-language-server: $schema={os.path.relpath(FILE, folder.absolute())}\n"


def _slug(text: str) -> str:
    """Return a name in small letters of the Latin alphabet, digits, dots and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    parts = re.sub("[^a-z0-9.]+", "-", plain)[:_LONGEST]
    return re.sub(r"-*\.(?![a-z0-9])-*|(?<![a-z0-9])\.|-+", "-", parts).strip("-")

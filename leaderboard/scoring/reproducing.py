"""Whether a second run of the same command gives the same scores: what makes a submission a reproduced one."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.evaluation import Result, evaluate
from freshstack_datasets.files import atomic_file
from freshstack_datasets.loading import load
from freshstack_datasets.recipe import Model, Sha256, Short
from freshstack_datasets.runs import read_run
from leaderboard.boards.definition import Definition
from leaderboard.boards.places import REPRODUCTION, place_of_submission
from leaderboard.scoring.files import digest_of, read_model
from leaderboard.scoring.scoring import Datasets, dataset_of, runs_of
from leaderboard.scoring.topics import check_fingerprint

NEAR = 0.0005
"""The largest difference of a mean with which a run counts as reproduced: half of what the third decimal shows."""

Verdict = Literal["identical", "reproduced", "failed"]


class Runs(Model):
    """The digests of two runs of one topic.

    Args:
        original: That of the run that was submitted.
        again: That of the second one.
    """

    original: Sha256
    again: Sha256


class Reproduction(Model):
    """A whole ``reproduction.json``.

    Args:
        schema_version: The version of this format.
        board: The board's name.
        snapshot: Its snapshot.
        submission: The submission's name.
        runs: The runs by topic.
        largest_difference: The largest of the differences, without its sign.
        verdict: ``identical`` when no value of any query differs, ``reproduced`` when no mean differs by more than
            0.0005, else ``failed``.
        differences: By topic and measure, the mean of the second run minus that of the first.
    """

    schema_version: Literal[1]
    board: Short
    snapshot: Short
    submission: Short
    runs: Annotated[dict[Short, Runs], Field(min_length=1)]
    largest_difference: Annotated[float, Field(ge=0)]
    verdict: Verdict
    differences: dict[Short, dict[Short, float]]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        largest = max((abs(value) for found in self.differences.values() for value in found.values()), default=0.0)
        if set(self.differences) != set(self.runs) or not all(self.differences.values()):
            raise ValueError("differences: expected those of each run, got others")
        if self.largest_difference != largest:
            raise ValueError(f"largest_difference: expected {largest}, got {self.largest_difference}")
        if (self.verdict == "failed") != (largest > NEAR) or (self.verdict == "identical" and largest):
            raise ValueError(f"verdict: expected what a largest difference of {largest} means, got {self.verdict}")
        return self

    def to_json(self) -> str:
        """Return the one text of it: sorted keys, one space, a line break at the end."""
        plain = self.model_dump(mode="json")
        return json.dumps(plain, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def write_reproduction(folder: Path, again: Path, definition: Definition, *, datasets: Datasets = load) -> Reproduction:
    """Score the runs that somebody made once more, and write how far they are from those that were submitted.

    Args:
        folder: The submission's folder.
        again: The folder with the second runs, called by their topics.
        definition: The board.
        datasets: What gives a dataset by its name and snapshot.

    Raises:
        InputError: A run cannot be read, or a topic has no second one.
        NotComparableError: A dataset is not the one that the board is made for.
    """
    place = place_of_submission(folder)
    if again.resolve() == folder.resolve():
        raise InputError("--rerun", expected="runs that were made once more", got="those that were handed in")
    first, second = runs_of(folder, definition), runs_of(again, definition)
    if lacking := [name for name in first if name not in second]:
        got = f"none of {', '.join(lacking)}"
        raise InputError(f"the folder {shown_path(again)}", expected="a second run of every topic", got=got)
    runs, differences, same = {}, {}, True
    for topic in definition.topics:
        if topic.name in first:
            data, files = dataset_of(topic, place, datasets), (first[topic.name], second[topic.name])
            check_fingerprint(topic, data)
            original, other = (evaluate(read_run(path), data, definition.measures, intervals=False) for path in files)
            digests = [digest_of(path, "a run") for path in files]
            runs[topic.name] = Runs(original=digests[0], again=digests[1])
            differences[topic.name] = _differences(original, other)
            same = same and np.array_equal(original.values, other.values)
    largest = max(abs(value) for found in differences.values() for value in found.values())
    found = Reproduction(
        schema_version=1,
        board=place.board,
        snapshot=place.snapshot,
        submission=place.submission,
        runs=runs,
        largest_difference=largest,
        verdict="identical" if same else "reproduced" if largest <= NEAR else "failed",
        differences=differences,
    )
    with atomic_file(folder / REPRODUCTION) as work:
        work.write_text(found.to_json(), encoding="utf-8", newline="\n")
    return found


def _differences(first: Result, second: Result) -> dict[str, float]:
    before: Mapping[str, float] = first.mean
    return {name: second.mean[name] - before[name] for name in before}


def read_reproduction(folder: Path) -> Reproduction | None:
    """Read what a second run of a submission gave; None where nobody made one.

    Args:
        folder: The submission's folder.

    Raises:
        InputError: It cannot be read, or is of another submission.
    """
    path = folder / REPRODUCTION
    found = read_model(Reproduction, path)
    if found is not None:
        place = place_of_submission(folder)
        if (found.board, found.snapshot, found.submission) != (place.board, place.snapshot, place.submission):
            got = f"{found.board}/{found.snapshot}/{found.submission}"
            raise InputError(shown_path(path)[1:-1], expected=f"that of {place.submission}", got=got)
    return found

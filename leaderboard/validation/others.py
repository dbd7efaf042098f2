"""Runs beside each other: the same file handed in twice, and runs that hardly differ."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.errors import FreshStackError, shown
from freshstack_datasets.evaluation.arrays import ranges
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import survey_run
from leaderboard.boards.places import run_files
from leaderboard.scoring import read_scores
from leaderboard.validation.findings import Findings
from leaderboard.validation.folders import FILE_BYTES, plain_size
from leaderboard.validation.form import DEEPEST, INSIDE_BYTES, KEPT_BYTES
from leaderboard.validation.topics import JUDGED, TopicData

TOP = 10
"""Documents of a query that are compared."""

NEAR = 0.98
"""The share of their first documents above which two runs are nearly the same."""

_MARGIN = 0.05
"""How much Judged@10 of two such runs can differ: by 0.02, and a little more where queries have few documents."""


@dataclass(slots=True)
class Others:
    """The runs of a topic that others are compared with.

    Args:
        topic: The topic.
        folders: The submissions that are on the board and not validated themselves.
        seen: Each run that was validated, by its submission.
        digests: The submission that each digest of a file was seen in.
    """

    topic: TopicData
    folders: tuple[Path, ...]
    seen: dict[str, "_Seen"] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def check(
        self, path: Path, file: str, name: str, run: Run | None, judged: float | None, findings: Findings
    ) -> None:
        """Compare a run with all others, and remember it for those to come.

        Args:
            path: Its file, known to be a plain one.
            file: What it is called in findings.
            name: Its submission.
            run: The run; None where the file has faults.
            judged: Its mean of ``Judged@10``.
            findings: Takes what is wrong.
        """
        try:
            digest = _digest(path)
        except OSError:  # then it could not be read before either
            return
        twin = self.digests.setdefault(digest, name)
        if twin == name:
            twin = next((folder.name for folder in self.folders if self._holds(folder, path, digest)), name)
        if twin != name:
            findings.add("E405", file, "the run", expected="one of its own", got=f"the very file of {_plain(twin)}")
        if run is None or judged is None:
            return
        own = _Seen.of(run, self.topic)
        near, same = ({}, "") if twin != name else self._near(own, judged)
        if same:
            got = f"the very run of {_plain(same)}, in another file"
            findings.add("E405", file, "the run", expected="one of its own", got=got)
        elif near:
            other = max(near, key=near.__getitem__)
            got = f"{100 * near[other]:.1f} % of the first {TOP} documents of each query in common with {_plain(other)}"
            findings.add("W414", file, "the run", expected="another ranking than others have", got=got)
        self.seen[name] = own

    def _near(self, own: "_Seen", judged: float) -> tuple[dict[str, float], str]:
        """Return how much those runs have in common that are nearly the same, and which is the same, "" for none."""
        near, same = {}, ""
        for name, other in (*self.seen.items(), *self._stored(judged)):
            common = _shared(own.top, other.top)
            if common > NEAR:
                near[name] = common
            if other.content == own.content:
                same = same or name
        return near, same

    def _stored(self, judged: float) -> Iterable[tuple[str, "_Seen"]]:
        """Yield the runs on the board, but for those whose scores say that they are others."""
        for folder in self.folders:
            known = _judged(folder, self.topic.topic.name)
            if known is not None and abs(known - judged) > _MARGIN:
                continue
            for path in self._files(folder):
                try:
                    run = survey_run(
                        path,
                        most_bytes=INSIDE_BYTES,
                        most_entries=DEEPEST * len(self.topic.judgments.query_ids),
                        most_kept=KEPT_BYTES,
                    ).run
                except FreshStackError:
                    continue
                if run is not None:
                    yield folder.name, _Seen.of(run, self.topic)

    def _holds(self, folder: Path, path: Path, digest: str) -> bool:
        size = plain_size(path)
        try:
            return any(plain_size(other) == size and _digest(other) == digest for other in self._files(folder))
        except OSError:
            return False

    def _files(self, folder: Path) -> list[Path]:
        files = run_files(folder, self.topic.topic.name)
        return [path for path in files if (size := plain_size(path)) is not None and size <= FILE_BYTES]


@dataclass(frozen=True, eq=False, slots=True)
class _Seen:
    """What is kept of a run.

    Args:
        top: The first documents of all queries as numbers, one a query and a document, in rising order.
        content: The digest of its queries, documents and scores: the same whatever the file's format, compression,
            tag and order of lines.
    """

    top: NDArray[np.int64]
    content: bytes

    @classmethod
    def of(cls, run: Run, topic: TopicData) -> "_Seen":
        """Return what is kept of a run on a topic."""
        order = np.array(sorted(range(len(run)), key=run.query_ids.__getitem__), np.int64)
        lengths = np.diff(run.offsets)[order]
        entries = ranges(run.offsets[order], lengths)
        digest = hashlib.sha256("\n".join((*sorted(run.query_ids), *run.doc_ids)).encode())
        for part in (lengths, run.codes[entries], run.scores[entries]):
            digest.update(part.tobytes())
        return cls(_top(run, topic), digest.digest())


def _judged(folder: Path, topic: str) -> float | None:
    try:
        scores = read_scores(folder)
    except FreshStackError:
        return None
    told: Mapping[str, float] = scores.topics[topic].judged if scores and topic in scores.topics else {}
    return told.get(str(JUDGED))


def _top(run: Run, topic: TopicData) -> NDArray[np.int64]:
    """Return the first documents of all queries as numbers, one a query and a document, in rising order."""
    numbers = np.array([topic.judgments.numbers.get(query_id, -1) for query_id in run.query_ids], np.int64)
    lengths = np.diff(run.offsets)
    queries = np.repeat(numbers, lengths)
    ranks = np.arange(len(run.codes)) - np.repeat(run.offsets[:-1], lengths)
    first = np.flatnonzero((ranks < TOP) & (queries >= 0))
    used, inverse = np.unique(run.codes[first], return_inverse=True)
    ids = map(run.doc_ids.__getitem__, used.tolist())
    places = np.fromiter(map(topic.places.get, ids, repeat(-1)), np.int64, len(used))[inverse]
    return np.unique(queries[first] * (len(topic.places) + 1) + places)


def _shared(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    larger = max(len(one), len(other))
    return len(np.intersect1d(one, other, assume_unique=True)) / larger if larger else 0.0


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _plain(name: str) -> str:
    return shown(name)[1:-1]

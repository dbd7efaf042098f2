"""What a leaderboard of 40 systems costs: scoring against freshstack, the whole way from run files to tests, and the site.

    python -m benchmarks.leaderboard [--systems 40] [--depth 1000] [--site]

Five topics with 672 queries together, and as many documents for each as ``--depth`` says. Both read and score the same
files in one process, system by system in turn, and must give the same scores. What ours do beyond that is timed on its
own: validating and scoring as ``score --validate`` does, and the verdicts. Memory, and the site, in processes of their own.
"""

import argparse
import functools
import logging
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.leaderboard_inputs import MEASURES, TOPICS, Topic, make_topic, run_files, write_board
from benchmarks.processes import measured
from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.loading import load
from freshstack_datasets.runs import read_run

AGREE = 5.1e-5
"""How far the peer's means may be from ours: it rounds to four decimals, and Coverage to five per query before that."""


@dataclass
class Clock:
    """Seconds by what they were spent on: as a clock on the wall tells them, and those that processors worked."""

    spent: dict[str, float] = field(default_factory=dict)
    worked: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        """Time what is done within it.

        Args:
            what: What that is.
        """
        start, before = time.perf_counter(), time.process_time()
        yield
        self.spent[what] = self.spent.get(what, 0.0) + time.perf_counter() - start
        self.worked[what] = self.worked.get(what, 0.0) + time.process_time() - before


class Peer:
    """freshstack, with the judgments of a topic as it takes them."""

    def __init__(self, topic: Topic) -> None:
        self._nuggets: dict[str, dict[str, int]] = {}
        self._qrels: dict[str, dict[str, int]] = {}
        of_query: dict[str, dict[str, None]] = {}
        for query_id, nugget_id, doc_id, score in topic.rows:
            self._nuggets.setdefault(nugget_id, {})[doc_id] = score
            of_query.setdefault(query_id, {})[nugget_id] = None
            documents = self._qrels.setdefault(query_id, {})
            documents[doc_id] = documents.get(doc_id, 0) + score
        self._of_query = {query_id: list(ids) for query_id, ids in of_query.items()}

    def score(self, run: Any) -> list[float]:
        """Return its means of the three measures."""
        from freshstack.retrieval.metrics import alpha_ndcg, coverage, recall

        found = (
            alpha_ndcg(self._nuggets, self._of_query, run, [10]),
            coverage(self._nuggets, self._of_query, run, [20]),
            recall(self._qrels, run, [50]),
        )
        return [float(value) for one in found for value in one.values()]


def side_by_side(root: Path, topics: list[Topic], folders: list[Path]) -> Clock:
    """Read and score with both, system by system; then validate, score and test as ``score --validate`` and ``build`` do."""
    from freshstack.util import load_runfile

    from leaderboard.boards.definition import read_definition
    from leaderboard.boards.reading import read_board
    from leaderboard.scoring import write_scores
    from leaderboard.scoring.validated import score_validated
    from leaderboard.verdicts.deciding import decide

    clock = Clock()
    peers = {topic.name: Peer(topic) for topic in topics}
    data = {topic.name: load(root / topic.name) for topic in topics}
    datasets = functools.cache(load)
    board = folders[0].parent
    definition = read_definition(board)
    for folder in folders:
        for topic, path in run_files(folder, topics):
            with clock("peer reads"):
                theirs = load_runfile(str(path))
            with clock("peer scores"):
                expected = peers[topic.name].score(theirs)
            del theirs
            with clock("ours reads"):
                run = read_run(path)
            with clock("ours scores"):
                result = evaluate(run, data[topic.name], MEASURES, intervals=False)
            _check(topic.name, [result.mean[name] for name in MEASURES], expected)
    with clock("validate and score"):
        found = score_validated(folders, datasets=datasets)
        for folder in folders:
            write_scores(folder, definition, datasets=datasets, ready=found.ready)
    if found.errors:
        raise SystemExit(f"{next(iter(found.errors.values()))}")
    with clock("verdicts"):
        decide(read_board(board))
    return clock


def _check(topic: str, values: list[float], expected: list[float]) -> None:
    for name, value, right in zip(MEASURES, values, expected, strict=True):
        if abs(value - right) > AGREE:
            raise SystemExit(f"{topic}: {name} is {value}, and {right} of freshstack")


def tell(clock: Clock, systems: int, entries: int) -> None:
    """Print what was measured; on a machine that does other things too, what processors worked is the fairer figure."""
    print(f"{systems} systems, {len(TOPICS)} topics, {sum(TOPICS.values())} queries, {entries:,} ranked documents")
    for what, seconds in clock.spent.items():
        print(f"  {what:<18} {seconds:8.2f} s   of processors {clock.worked[what]:8.2f} s")
    for name, spent in (("by the clock", clock.spent), ("by what processors worked", clock.worked)):
        peer = spent["peer reads"] + spent["peer scores"]
        whole = spent["validate and score"] + spent["verdicts"]
        print(f"{name}, freshstack's time for each of ours:")
        print(
            f"  scoring alone, the same scores                        {spent['peer scores'] / spent['ours scores']:6.2f}"
        )
        print(
            f"  reading                                               {spent['peer reads'] / spent['ours reads']:6.2f}"
        )
        print(f"  its reading and scoring, our validate, score and test {peer / whole:6.2f}")


def apart(what: str, command: list[str | Path]) -> None:
    """Run a command in a process of its own, and print its time and peak memory."""
    found = measured([sys.executable, "-m", "leaderboard", *command])
    print(f"  {what:<34} {found['seconds']:7.1f} s   {found['memory']:8.0f} MB at its peak")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=40)
    parser.add_argument("--depth", type=int, default=1_000)
    parser.add_argument("--site", action="store_true", help="build the site, too")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # those of the peer
    logging.disable(logging.WARNING)
    root = Path(tempfile.mkdtemp(prefix="leaderboard-"))
    try:
        topics = [make_topic(name, queries) for name, queries in TOPICS.items()]
        folders = write_board(root, topics, chosen.systems, chosen.depth)
        tell(side_by_side(root, topics, folders), chosen.systems, chosen.systems * 672 * chosen.depth)
        print("each in a process of its own")
        apart("validate one system", ["validate", folders[0]])
        apart("score one system", ["score", folders[0]])
        apart("validate and score one system", ["score", "--validate", folders[0]])
        if chosen.site:
            apart("build the site", ["build", "--root", root / "submissions", "--out", root / "site"])
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()

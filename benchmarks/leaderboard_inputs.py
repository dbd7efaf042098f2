"""A board of the size of the published one, made up: five topics, 672 queries, and systems with a thousand documents each."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.runs import write_run
from freshstack_datasets.snapshot import write_snapshot

BOARD, SNAPSHOT = "made", "2026-10"
TOPICS = {"langchain": 203, "yolo": 57, "laravel": 184, "angular": 129, "godot": 99}
"""The topics of the published board with their numbers of queries."""
MEASURES = ("alpha_nDCG@10", "Coverage@20", "Recall@50")

CORPUS = 50_021  # documents of a topic; the published ones have 25 to 117 thousand chunks
POOL, JUDGED, RELEVANT = 60, 20, 6  # documents pooled for a query, judged for each nugget, and supporting it
_COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass(frozen=True)
class Topic:
    """A topic as every tool needs it.

    Args:
        name: Its name.
        doc_ids: The ids of its documents, ascending.
        query_ids: Its queries.
        rows: Its judgments: query, nugget, document, and 1 or 0.
        pools: For each query, the places of its pooled documents.
    """

    name: str
    doc_ids: list[str]
    query_ids: list[str]
    rows: list[tuple[str, str, str, int]]
    pools: list[np.ndarray]

    def run(self, system: int, depth: int) -> Run:
        """Return the run of a system, which finds the better the higher its number; no two scores of a query tie."""
        generator = np.random.default_rng([system, len(self.query_ids)])
        codes = np.empty((len(self.query_ids), depth), np.int32)
        for place, pool in enumerate(self.pools):
            found = generator.permutation(CORPUS)[: depth + POOL]
            found = found[~np.isin(found, pool)][: depth - POOL]
            at = np.concatenate([np.arange(len(found)), generator.exponential(400 / (1 + system), POOL)])
            codes[place] = np.concatenate([found, pool])[np.argsort(at, kind="stable")][:depth]
        steps = generator.integers(1, 100, (len(self.query_ids), depth))
        scores = 1.0 - np.cumsum(steps, axis=1) / (100.0 * depth)
        offsets = np.arange(len(self.query_ids) + 1) * depth
        return Run.from_codes(self.query_ids, offsets, self.doc_ids, codes.ravel(), scores.ravel(), f"system-{system}")


def make_topic(name: str, queries: int) -> Topic:
    """Make a topic: its judgments, and the documents that systems should find."""
    generator = np.random.default_rng(list(name.encode()))
    doc_ids = sorted(f"{name}/docs/docs/integrations/page_{i}.mdx_{i * 31}_{i * 31 + 2048}" for i in range(CORPUS))
    query_ids = [str(70_000_000 + 13 * i) for i in range(queries)]
    rows, pools = [], []
    for query_id in query_ids:
        pool = generator.permutation(CORPUS)[:POOL]
        pools.append(pool)
        for nugget in range(max(1, int(generator.poisson(3.2)))):
            judged = generator.permutation(pool)[:JUDGED].tolist()
            rows += [(query_id, f"{query_id}_{nugget}", doc_ids[d], int(n < RELEVANT)) for n, d in enumerate(judged)]
    return Topic(name, doc_ids, query_ids, rows, pools)


def write_board(root: Path, topics: list[Topic], systems: int, depth: int) -> list[Path]:
    """Write the datasets, the board and its submissions, and return the folders of these.

    Args:
        root: An empty folder.
        topics: The topics.
        systems: How many submissions.
        depth: Documents a query.
    """
    folder = root / "submissions" / BOARD / SNAPSHOT
    folder.mkdir(parents=True)
    for topic in topics:
        _write_dataset(root / topic.name, topic)
    told = {
        "title": "Made",
        "about": "Made up, to measure with.",
        "measures": list(MEASURES),
        "baseline": _entry(0),
        "topics": [
            {"name": t.name, "title": t.name, "dataset": str(root / t.name), "fingerprint": None} for t in topics
        ],
    }
    (folder / "board.yaml").write_text(yaml.safe_dump(told, sort_keys=False), encoding="utf-8")
    return [_write_submission(folder / _entry(system), system, topics, depth) for system in range(systems)]


def _entry(system: int) -> str:
    return f"20261101-acme-system{system}"


def _write_dataset(folder: Path, topic: Topic) -> None:
    nuggets = dict.fromkeys((query_id, nugget_id) for query_id, nugget_id, _, _ in topic.rows)
    write_snapshot(
        folder,
        dataset=f"freshstack/{topic.name}",
        snapshot=SNAPSHOT,
        license="CC-BY-SA-4.0",
        documents=(Document(doc_id, "", f"Text of {doc_id}.") for doc_id in topic.doc_ids),
        queries=(Query(query_id, f"Question {query_id}?", date="2025-03-01") for query_id in topic.query_ids),
        nuggets=(Nugget(n, q, int(n.rpartition("_")[2]), f"Fact {n}.") for q, n in nuggets),
        judgments=(Judgment(*row) for row in topic.rows),
        created=datetime.date(2026, 10, 31),
    )


def _write_submission(folder: Path, system: int, topics: list[Topic], depth: int) -> Path:
    folder.mkdir()
    model = {"id": f"acme/system{system}", "revision": _COMMIT, "license": "MIT", "open_weights": True}
    told = {
        "schema_version": 1,
        "date": datetime.date(2026, 11, 1),
        "team": {"name": "Acme", "contact": "https://github.com/acme"},
        "system": {"name": f"System {system}", "kind": "dense", "setting": "inference"},
        "models": [model | {"parameters": 10_000_000 * (system + 1)}],
        "training": {"on_benchmark": "no", "on_its_questions_site": "no"},
        "reproduce": {
            "repository": "https://github.com/acme/system",
            "commit": _COMMIT,
            "command": "python -m system",
        },
        "hardware": None,
        "latency": {"query_ms_p50": 5.0 + system},
        "license": "CC0-1.0",
    }
    (folder / "submission.yaml").write_text(yaml.safe_dump(told, sort_keys=False), encoding="utf-8")
    for topic in topics:
        write_run(topic.run(system, depth), folder / f"{topic.name}.trec")
    return folder


def run_files(folder: Path, topics: list[Topic]) -> Iterator[tuple[Topic, Path]]:
    """Yield the topics with the run file that a submission has of each."""
    for topic in topics:
        yield topic, folder / f"{topic.name}.trec"

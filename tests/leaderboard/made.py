"""Snapshots, submissions and whole boards to test the leaderboard with: small, real, and always the same."""

import datetime
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.runs import write_run
from freshstack_datasets.snapshot import write_snapshot

BOARD, SNAPSHOT = "made", "2026-10"
TOPICS = ("alpha", "beta", "gamma", "delta", "epsilon")
MEASURES = ("alpha_nDCG@10", "Coverage@20", "Recall@50")
CUTOFF = datetime.date(2025, 1, 1)
"""Where the training of the model ``acme/tiny-embed`` ends: about half of the queries are younger."""

HOSTILE = "<script>alert(\"1\")</script> 'quoted' & `ticked` </title> ${x} {{ 7 * 7 }} | a, b"
LONG = "A very long name " * 11 + "that ends"  # 196 characters, of at most 200
_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_DOCUMENTS = 120
_CANDIDATES = 12  # documents judged for a query, of which a nugget is supported by one to three

# What the systems of a board are, over and over: short name, kind, what it is made of, parameters of its model, open
# weights, milliseconds of a query, and how well it tells what is relevant.
_SYSTEMS: Sequence[tuple[str, str, tuple[str, ...], int | None, bool | None, float | None, float]] = (
    ("bm25", "sparse", ("bm25",), None, None, 2.5, 0.3),
    ("tiny-embed", "dense", ("dense:acme/tiny-embed",), 22_713_216, True, 9.0, 0.6),
    ("large-embed", "dense", ("dense:acme/large-embed",), 7_567_295_488, True, 85.0, 0.9),
    ("closed-embed", "dense", ("dense:closed-embed",), None, False, None, 0.8),
    ("fused", "fusion", ("bm25", "dense:acme/large-embed"), 7_567_295_488, True, 90.0, 1.0),
    ("oracle", "sparse", ("bm25",), None, None, None, 2.0),
)


def made_dataset(
    folder: Path,
    name: str = "freshstack/alpha",
    queries: int = 24,
    seed: int = 0,
    snapshot: str = SNAPSHOT,
    **told: Any,
) -> Path:
    """Write a snapshot and return its folder, ``FOLDER/<last part of the name>``.

    Queries are dated from 2023 to 2026, one in eight has no date, and one in six another type. Ids of documents hold
    spaces and ``#``, texts hold HTML. The pool was made by ``bm25`` and ``dense:acme/tiny-embed``.

    Args:
        folder: Where the folder goes.
        name: The dataset's name.
        queries: How many queries it has.
        seed: Where the random numbers start; of another one the fingerprint differs.
        snapshot: The snapshot's name.
        told: Other arguments of ``write_snapshot``.
    """
    generator = np.random.default_rng([seed, *name.encode()])
    documents = [_document(number, name) for number in range(_DOCUMENTS)]
    asked = [_query(number, name) for number in range(queries)]
    nuggets, judgments, pool = [], [], []
    for query in asked:
        candidates = [documents[place].doc_id for place in generator.permutation(_DOCUMENTS)[:_CANDIDATES].tolist()]
        pool += _pooled(query.query_id, candidates)
        for position in range(int(generator.integers(1, 5))):
            nugget = Nugget(f"{query.query_id}_{position}", query.query_id, position, f"Fact {position} <b>of</b> it")
            supporting = set(generator.choice(candidates, int(generator.integers(1, 4)), replace=False).tolist())
            nuggets.append(nugget)
            judgments += [Judgment(query.query_id, nugget.nugget_id, d, int(d in supporting)) for d in candidates]
    target = folder / name.rpartition("/")[2]
    write_snapshot(
        target,
        **{
            "dataset": name,
            "snapshot": snapshot,
            "license": "CC-BY-SA-4.0",
            "documents": documents,
            "queries": asked,
            "nuggets": nuggets,
            "judgments": judgments,
            "provenance": {"pool.parquet": _parquet(pool)},
            "created": datetime.date(2026, 10, 31),
            **told,
        },
    )
    return target


def _document(number: int, name: str) -> Document:
    topic = name.rpartition("/")[2]
    doc_id = f"{topic}/docs/page {number}#part" if number % 10 == 0 else f"{topic}/docs/page_{number:03}.md_0_2048"
    text = f"Text {number} of {topic} <script>alert({number})</script> & more"
    address = f"https://github.com/acme/{topic}/blob/{_COMMIT}/docs/page_{number:03}.md"
    return Document(doc_id, f"Page {number}", text, {"url": address, "license": "MIT"})


def _query(number: int, name: str) -> Query:
    day = datetime.date(2023, 2, 1) + datetime.timedelta(days=47 * number % 1200)
    title, body = f"How does part {number} work?", f'I tried <b>{number}</b> & it says "no".'
    return Query(
        f"{70_000_000 + 13 * number}",
        f"{title} {body}",
        title=title,
        body=body,
        answer_text=f"Part {number} works.",
        date=None if number % 8 == 7 else day.isoformat(),
        url=f"https://stackoverflow.com/q/{70_000_000 + 13 * number}",
        type="debugging" if number % 6 == 5 else "how-to",
    )


def _pooled(query_id: str, candidates: Sequence[str]) -> list[tuple[str, str, str, str, int]]:
    """Return who found the documents that were judged: each of two retrievers half of them."""
    half = len(candidates) // 2
    found = zip(("bm25", "dense:acme/tiny-embed"), (candidates[:half], candidates[half:]), strict=True)
    return [(query_id, d, "question", who, rank) for who, part in found for rank, d in enumerate(part, 1)]


def _parquet(pool: Sequence[tuple[str, str, str, str, int]]) -> bytes:
    names = ("query-id", "corpus-id", "technique", "retriever", "rank")
    columns = [pa.array(column) for column in zip(*sorted(pool), strict=True)]
    table = pa.table([*columns[:4], columns[4].cast(pa.int32())], names=names)
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def made_run(data: Dataset, quality: float = 1.0, seed: int = 0, depth: int = 60, name: str = "made") -> Run:
    """Return a run that tells relevant documents the better, the higher its quality; 0 tells nothing.

    Args:
        data: What was searched.
        quality: How much a supported nugget adds to a score, in standard deviations of its noise.
        seed: Where the noise starts.
        depth: Documents a query, at most those of the corpus.
        name: The run's name.
    """
    generator = np.random.default_rng([seed, 7])
    doc_ids = [document.doc_id for document in data.corpus]
    found = {}
    for query_id, gains in data.qrels.items():
        seen = np.array([0.5 * (d in gains) + min(2, gains.get(d, 0)) for d in doc_ids])
        scores = quality * seen + generator.standard_normal(len(doc_ids))
        best = np.argsort(-scores)[:depth]
        found[query_id] = {doc_ids[place]: float(scores[place]) for place in best.tolist()}
    return Run.from_dict(found, name)


def made_submission(
    root: Path,
    board: str,
    snapshot: str,
    entry_id: str,
    runs: Mapping[str, Run | Mapping[str, Mapping[str, float]]],
    suffix: str = ".trec",
    **changes: Any,
) -> Path:
    """Write a submission that nothing is wrong with and return its folder, ``ROOT/board/snapshot/entry_id``.

    Args:
        root: The folder of all submissions.
        board: The board's name.
        snapshot: Its snapshot.
        entry_id: The submission's name, ``yyyymmdd-team-system``.
        runs: Its runs by topic.
        suffix: Of the run files, such as ``.jsonl.gz``.
        changes: Other members of ``submission.yaml``; of ``team``, ``system``, ``training`` and ``reproduce`` those
            that are to be changed alone.
    """
    folder = root / board / snapshot / entry_id
    folder.mkdir(parents=True)
    told = told_of(entry_id)
    for member, value in changes.items():
        told[member] = told[member] | value if isinstance(told[member], dict) and isinstance(value, dict) else value
    text = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=1_000_000)
    (folder / "submission.yaml").write_text(text, encoding="utf-8")
    for topic, run in runs.items():
        write_run(run, folder / f"{topic}{suffix}")
    return folder


def told_of(entry_id: str) -> dict[str, Any]:
    """Return what ``submission.yaml`` of a BM25 says, as plain values."""
    day, team, system = entry_id.split("-", 2)
    return {
        "schema_version": 1,
        "date": datetime.date(int(day[:4]), int(day[4:6]), int(day[6:])),
        "team": {"name": team.capitalize(), "contact": f"https://github.com/{team}"},
        "system": {
            "name": system,
            "kind": "sparse",
            "setting": "inference",
            "components": ["bm25"],
            "url": f"https://github.com/{team}/{system}",
            "description": "It counts words.",
        },
        "models": [],
        "training": {"on_benchmark": "no", "on_its_questions_site": "no"},
        "reproduce": {
            "repository": f"https://github.com/{team}/{system}",
            "commit": _COMMIT,
            "command": f"freshstack retrieve DATASET --retriever bm25 --out {system}.trec",
        },
        "hardware": "8 cores of a laptop",
        "latency": {"query_ms_p50": 2.5, "query_ms_p95": 4.0},
        "license": "CC0-1.0",
    }


def made_board(
    root: Path, systems: int = 6, topics: int = 2, hostile: bool = False, scored: bool = True, queries: int = 24
) -> Path:
    """Write datasets, a board and its submissions, and return the folder of all submissions, ``ROOT/submissions``.

    The board is ``made/2026-10``; its datasets are the folders ``ROOT/datasets/alpha`` …, which ``board.yaml`` names,
    so that ``load`` finds them. The first submission is BM25, the baseline; the last of six an oracle.

    Args:
        root: An empty folder.
        systems: How many submissions there are.
        topics: How many topics, at most five.
        hostile: Whether names, teams and descriptions hold HTML, quotes and very long words.
        scored: Whether the submissions were scored.
        queries: How many queries a topic has.
    """
    submissions = root / "submissions"
    names = TOPICS[:topics]
    folders = {name: made_dataset(root / "datasets", f"freshstack/{name}", queries, seed=1) for name in names}
    data = {name: load(folder) for name, folder in folders.items()}
    folder = submissions / BOARD / SNAPSHOT
    folder.mkdir(parents=True)
    definition = {
        "title": "Made",
        "about": "A board that was made up, to test with.",
        "measures": list(MEASURES),
        "baseline": entry_of(0),
        "topics": [
            {"name": name, "title": name.capitalize(), "dataset": str(folders[name]), "fingerprint": one.fingerprint}
            for name, one in data.items()
        ],
    }
    (folder / "board.yaml").write_text(yaml.safe_dump(definition, sort_keys=False), encoding="utf-8")
    for number in range(systems):
        quality = _SYSTEMS[number % len(_SYSTEMS)][-1]
        runs = {name: made_run(one, quality, seed=100 + number) for name, one in data.items()}
        changes = _changes(number) if not hostile else _hostile(number)
        made_submission(submissions, BOARD, SNAPSHOT, entry_of(number), runs, **changes)
    if scored:
        score_all(submissions)
    return submissions


def entry_of(number: int) -> str:
    """Return the name of a submission of ``made_board``, from 0."""
    again, place = divmod(number, len(_SYSTEMS))
    day = datetime.date(2026, 11, 1) + datetime.timedelta(days=number % 28)
    return f"{day:%Y%m%d}-acme-{_SYSTEMS[place][0]}" + (f"-{again + 1}" if again else "")


def _changes(number: int) -> dict[str, Any]:
    """Return how a submission of ``made_board`` differs from BM25."""
    name, kind, components, parameters, open_weights, milliseconds, _ = _SYSTEMS[number % len(_SYSTEMS)]
    again = number // len(_SYSTEMS)
    models = [] if open_weights is None else [_model(components[-1].removeprefix("dense:"), parameters, open_weights)]
    setting = "oracle" if name == "oracle" else "inference"
    return {
        "system": {"kind": kind, "setting": setting, "components": list(components)},
        "models": models,
        "training": {"on_benchmark": "unknown" if open_weights is False else "no"},
        "latency": None if milliseconds is None else {"query_ms_p50": milliseconds + again, "query_ms_p95": 150.0},
    }


def _model(name: str, parameters: int | None, open_weights: bool) -> dict[str, Any]:
    return {
        "id": name,
        "revision": _COMMIT if open_weights else "2026-09-01",
        "parameters": parameters,
        "license": "Apache-2.0" if open_weights else "LicenseRef-proprietary",
        "open_weights": open_weights,
        "release_date": datetime.date(2025, 6, 1),
        "training_cutoff": CUTOFF if name == "acme/tiny-embed" else None,
        "query_prompt": "query: " if open_weights else None,
        "max_query_tokens": 512,
        "max_document_tokens": 512,
    }


def _hostile(number: int) -> dict[str, Any]:
    changes = _changes(number)
    name = (HOSTILE, f'"><img src=x onerror=alert({number})>', LONG, "שלום עולם 検索", '=1+1,"a";b')[number % 5]
    changes["system"] |= {"name": f"{name} {number}", "description": HOSTILE}
    return changes | {"team": {"name": HOSTILE, "affiliation": HOSTILE}, "hardware": HOSTILE}


def score_all(submissions: Path, datasets: Callable[[str, str], Dataset] | None = None) -> None:
    """Score all submissions of all boards below a folder.

    Args:
        submissions: The folder.
        datasets: What gives a dataset by name and snapshot; ``load`` when not given.
    """
    from leaderboard.boards.definition import read_definition
    from leaderboard.scoring import write_scores

    for board in sorted(path.parent for path in submissions.rglob("board.yaml")):
        definition = read_definition(board)
        for told in sorted(board.glob("*/submission.yaml")):
            write_scores(told.parent, definition, datasets=datasets or load)

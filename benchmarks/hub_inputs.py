"""What ``benchmarks.hub`` puts on its Hub: the originals of one topic, the snapshot made of them, and a run.

Sizes are those of the largest topics of October 2024: texts of up to 2,048 tokens, some 60 documents judged for every
nugget of a question, three nuggets to a question.
"""

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from freshstack_datasets.layouts import oct_2024
from tests import originals

TOPIC, SNAPSHOT = "langchain", "2026-10"
DATASET = f"freshstack/{TOPIC}"
CORPUS, QUERIES, RUN = "corpus.parquet", "queries.parquet", "run.json"
OURS = "ours"

_LONGEST, _QUERIES, _POOL, _RELEVANT, _DEPTH = 8_000, 203, 60, 6, 100
_ROWS = 1_000  # of a row group, as the library writes them that the originals were published with


def make(folder: Path, documents: int) -> None:
    """Write all files.

    Args:
        folder: Where they go.
        documents: How many the corpus has.
    """
    rng = random.Random(1)
    ids = [f"langchain/libs/module_{i % 613}/file_{i}.py_0_2048" for i in range(documents)]
    with pq.ParquetWriter(folder / CORPUS, originals.CORPUS) as writer:
        rows = (
            originals.document(doc_id, text, **_metadata(doc_id))
            for doc_id, text in zip(ids, _texts(rng), strict=False)
        )
        while some := list(itertools.islice(rows, _ROWS)):
            writer.write_table(pa.Table.from_pylist(some, originals.CORPUS))
    asked = [_question(rng, str(70_000_000 + 13 * number), ids) for number in range(_QUERIES)]
    originals.write_queries(folder / QUERIES, [row for row, _ in asked])
    run = {row["query_id"]: _ranked(rng, pool, ids) for row, pool in asked}
    (folder / RUN).write_text(json.dumps(run), encoding="utf-8")
    oct_2024.convert(
        [folder / CORPUS], [folder / QUERIES], folder / OURS, dataset=DATASET, snapshot=SNAPSHOT, sources=[]
    )


def _texts(rng: random.Random) -> Iterator[str]:
    """Yield texts that look like code and prose: frequent words and rare ones, and lengths of all kinds."""
    words = ["".join(rng.choices("etaoinshrdlucmfwypvbgkjqxz_", k=rng.randint(2, 10))) for _ in range(20_000)]
    pieces = [word + rng.choice([" "] * 8 + ["\n    ", "(", ").", ", "]) for word in words]
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(pieces) + 1)))
    while True:
        length = min(_LONGEST, int(rng.lognormvariate(8, 0.8)))
        yield "".join(rng.choices(pieces, cum_weights=weights, k=length // 7 + 1))[:length]


def _metadata(doc_id: str) -> dict[str, Any]:
    url = f"https://github.com/langchain-ai/langchain/blob/main/{doc_id}"
    return {"url": url, "start_byte": 0, "end_byte": 2_048}


def _question(rng: random.Random, query_id: str, ids: Sequence[str]) -> tuple[originals.Row, list[str]]:
    """Return a row of the queries, and the documents that were judged for it."""
    title, body, answer, *facts = (
        text[:size] for text, size in zip(_texts(rng), [60, 1_700, 900, 90, 90, 90], strict=False)
    )
    pool = rng.sample(ids, _POOL)
    nuggets = []
    for place, fact in enumerate(facts):
        relevant = set(rng.sample(pool, _RELEVANT))
        other = [doc_id for doc_id in pool if doc_id not in relevant]
        nuggets.append(originals.nugget(f"{query_id}_{place}", sorted(relevant), other, fact))
    about = {"date": "2024-03-01", "tags": ["langchain", "python"]}
    given = {"query_title": title, "query_text": body, "answer_text": answer, "metadata": about}
    return originals.query(query_id, *nuggets, **given), pool


def _ranked(rng: random.Random, pool: Sequence[str], ids: Sequence[str]) -> dict[str, float]:
    """Return a ranking without ties that holds half of what was judged, and much else."""
    found = dict.fromkeys([*rng.sample(pool, _POOL // 2), *rng.sample(ids, _DEPTH)])
    ranked = rng.sample(list(found), _DEPTH)
    return {doc_id: 100.0 - place / 8 for place, doc_id in enumerate(ranked)}

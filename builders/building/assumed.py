"""What stages are assumed to make that are not done yet, so that later ones can tell what they will cost.

It is made in a folder of its own, and thrown away. Each stage tells its cost from it as from the real thing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.outputs import write_sorted
from builders.pipeline.reading import CALLS, nuggets_of, questions_of, topic_corpus
from builders.pipeline.records import FUSION, Search, Summary
from builders.pipeline.settings import Settings
from builders.pipeline.work import LACKING, NUGGETS, POOL, POOLED, QUERIES, SEARCHES, Work, write_lines
from builders.topics.pool import Pool
from freshstack_datasets.cli.console import counted
from freshstack_datasets.records import Nugget, Query
from freshstack_datasets.tables.schema import NUGGETS as TABLE

EACH = (3, 4)
"""Nuggets of a question, by turns: three to four, as in section 3.3 of the paper."""
WORDS: Mapping[str, int] = {"nugget": 20, "sub-questions": 60, "closed-book": 220}
"""Words of a text that a model has not written yet."""
DISTINCT = 0.5
"""The share of the documents of all techniques that are different ones, since these find many of the same."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """A stage as it may come out.

    Args:
        name: The stage.
        write: Writes its files.
        told: What is assumed, in a line for people.
    """

    name: str
    write: Callable[[Work, Path], None]
    told: str

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return what tells that it is none that was made."""
        return {"assumed": self.told}

    def make(self, work: Work, folder: Path) -> Summary:
        """Write its files."""
        self.write(work, folder)
        return Summary({})


def assumed(name: str, work: Work, settings: Settings) -> Assumed | None:
    """Return a stage as it may come out, None for one that no other one's cost depends on.

    Args:
        name: The stage.
        work: The folder of the build, for what is known of earlier ones.
        settings: How the build is set.

    Raises:
        InputError: An earlier stage is not done.
    """
    if name == NUGGETS:
        each = f"{EACH[0]} to {EACH[1]} nuggets of {WORDS['nugget']} words a question, as in the paper"
        return Assumed(NUGGETS, _nuggets, each)
    if name == QUERIES:
        words = ", ".join(f"{kind} of {WORDS[kind]} words" for kind in settings.pool.techniques if kind in WORDS)
        told = words or "what is searched for is what the questions say"
        return Assumed(QUERIES, lambda place, folder: _queries(place, folder, settings.pool), told)
    if name == POOL:
        each_pool = _documents_each(settings.pool, len(topic_corpus(work)))
        told = f"{counted(each_pool, 'documents')} to judge a question"
        if most := settings.pool.top * len(settings.pool.techniques):
            told += f", of {most:,} in the techniques' lists, which have many in common"
        return Assumed(POOL, lambda place, folder: _pool(place, folder, each_pool), told)
    return None


def _nuggets(work: Work, folder: Path) -> None:
    questions = questions_of(work)
    text = _text(WORDS["nugget"])
    nuggets = (
        Nugget(f"{query.query_id}_{position}", query.query_id, position, text)
        for number, query in enumerate(questions)
        for position in range(EACH[number % len(EACH)])
    )
    write_sorted(folder, TABLE, nuggets)
    write_lines(folder / CALLS, [])
    write_lines(folder / LACKING, [])


def _queries(work: Work, folder: Path, pool: Pool) -> None:
    nuggets = nuggets_of(work)
    asked = [query for query in questions_of(work) if query.query_id in nuggets]
    searches = (
        Search(query.query_id, kind, _searched(query, kind, [one.text for one in nuggets[query.query_id]]))
        for query in asked
        for kind in pool.techniques
    )
    write_lines(folder / SEARCHES, searches)
    write_lines(folder / LACKING, [])


def _searched(query: Query, technique: str, nuggets: Sequence[str]) -> str:
    given = {"question": query.text, "answer": query.answer_text or "-", "nuggets": " ".join(nuggets)}
    return given.get(technique) or _text(WORDS[technique])


def _pool(work: Work, folder: Path, each: int) -> None:
    """Give every question documents from all over the corpus, so that they are as long as documents are."""
    ids, nuggets = topic_corpus(work).ids, nuggets_of(work)
    step = max(1, len(ids) // each)
    rows: list[tuple[str, str]] = []
    for number, query_id in enumerate(nuggets):
        rows += ((query_id, ids[(number + place * step) % len(ids)]) for place in range(each))
    rows.sort()
    same: list[list[Any]] = [[value] * len(rows) for value in ("question", FUSION, 1, 1.0)]
    names = ("query-id", "corpus-id", "technique", "retriever")
    fields = [*((name, pa.string()) for name in names), ("rank", pa.int32()), ("score", pa.float64())]
    columns = [[row[0] for row in rows], [row[1] for row in rows], *same]
    pq.write_table(pa.table(columns, schema=pa.schema(fields)), folder / POOLED)


def _documents_each(pool: Pool, corpus: int) -> int:
    """Return how many documents a question's pool is assumed to have."""
    lists = len(pool.techniques)
    share = 1.0 if lists == 1 else DISTINCT
    return max(1, min(corpus, pool.depth * lists, round(pool.top * lists * share)))


def _text(words: int) -> str:
    return " ".join(["something"] * words)

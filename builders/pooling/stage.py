"""The stage ``pool``: every retriever searches for every text, and the best of each technique are judged."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.pipeline.asking import Asking
from builders.pipeline.reading import searches_of, topic_corpus
from builders.pipeline.records import FUSION, Found, Search, Summary
from builders.pipeline.work import CORPUS, POOL, POOLED, QUERIES, Work
from builders.pooling.estimates import estimated
from builders.pooling.retrievers import depends, made, model_of, named, slugs
from builders.topics import Topic
from builders.topics.pool import Pool
from builders.topics.pool import Retriever as Told
from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.llm.estimates import StageEstimate
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Query
from freshstack_datasets.retrieval import Dense, Retriever, fuse, indexed
from freshstack_datasets.retrieval.own import PREFIX, blamed, searched
from freshstack_datasets.runs import read_run, write_run
from freshstack_datasets.tables.corpus import Corpus

RUNS = "runs"
METHOD = "normalised-sum"
_FORMAT = 1
"""Raised whenever the same texts and retrievers give another pool."""
_NAMES = ("query-id", "corpus-id", "technique", "retriever")
_SCHEMA = pa.schema([*((name, pa.string()) for name in _NAMES), ("rank", pa.int32()), ("score", pa.float64())])

Searches = Mapping[str, Sequence[Search]]
"""By technique."""


@dataclass(frozen=True)
class Pooling:
    """The documents to judge of all questions.

    Args:
        topic: The topic.
        asking: Who asks servers for embeddings; its settings name the techniques and the retrievers.
    """

    topic: Topic
    asking: Asking

    @property
    def name(self) -> str:
        """The stage's name."""
        return POOL

    @property
    def pool(self) -> Pool:
        """How the documents are chosen."""
        return self.asking.settings.pool

    @property
    def _retrievers(self) -> dict[str, Told]:
        """Who searches, by name."""
        return named(self.pool.retrievers)

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that the pools depend on."""
        return {
            "format": _FORMAT,
            "corpus": work.digest(CORPUS),
            "queries": work.digest(QUERIES),
            "techniques": list(self.pool.techniques),
            "retrievers": [[label, depends(told, self.asking)] for label, told in self._retrievers.items()],
            "depth": self.pool.depth,
            "top": self.pool.top,
            "method": METHOD,
        }

    def make(self, work: Work, folder: Path) -> Summary:
        """Search for all texts with all retrievers, one after the other, and put together what they find.

        Args:
            work: The folder of the build, for the corpus and the texts.
            folder: Where the runs and the pool go.

        Raises:
            InputError: No document is found, or a retriever cannot be used.
            EndpointError: A server does not embed a text.
            BudgetError: What may be spent does not take all calls.
        """
        searches = self._searches(work)
        files = slugs(self._retrievers)
        corpus = topic_corpus(work)
        warnings: list[str] = []
        for label, told in self._retrievers.items():
            ready = _indexed(told, made(told, self.asking), work, corpus)
            for technique, texts in searches.items():
                run = found_by(ready, texts, self.pool.depth, _own(told))
                if told.python:
                    _refuse_unknown(run, corpus, label)
                _write(run.named(label), folder, technique, files[label])
            warnings += _cut(label, ready)
        for technique in searches:
            runs = [read_runs(folder, technique, files[label]) for label in files]
            _write(fuse(runs, METHOD, self.pool.depth), folder, technique, FUSION)
        places = [*self._places(folder, searches, {**files, FUSION: FUSION})]
        if not places:
            raise InputError(f"the pools of {self.topic.name}", expected="a document", got="none for any question")
        _write_pool(places, folder / POOLED)
        return self._summary(searches, folder, files, places, warnings)

    def estimate(self, work: Work) -> list[StageEstimate]:
        """Return what the embeddings of servers will cost: nothing is sent.

        Args:
            work: The folder of the build, with the corpus and the texts.

        Raises:
            InputError: They are not there.
        """
        texts = [search.text for several in self._searches(work).values() for search in several]
        served = [told for told in self.pool.retrievers if told.endpoint]
        return [estimated(told, self.asking, topic_corpus(work), texts) for told in served]

    def _searches(self, work: Work) -> Searches:
        """Return what is searched for, by technique, in the order of the questions' ids."""
        found: dict[str, list[Search]] = {technique: [] for technique in self.pool.techniques}
        for search in sorted(searches_of(work), key=lambda one: one.query_id):
            if search.technique in found:
                found[search.technique].append(search)
        return {technique: several for technique, several in found.items() if several}

    def _places(self, folder: Path, searches: Searches, files: Mapping[str, str]) -> Iterator[Found]:
        """Yield every place, in any list, of the documents that are in the pool of their question."""
        pools = pools_of([read_runs(folder, technique, FUSION) for technique in searches], self.pool.top)
        for technique in searches:
            for label, file in files.items():
                most = self.pool.top if label == FUSION else self.pool.depth
                for query_id, found in read_runs(folder, technique, file).to_dict().items():
                    for rank, (doc_id, score) in enumerate(islice(found.items(), most), 1):
                        if doc_id in pools.get(query_id, ()):
                            yield Found(query_id, doc_id, technique, label, rank, score)

    def _summary(
        self,
        searches: Searches,
        folder: Path,
        files: Mapping[str, str],
        places: Sequence[Found],
        warnings: Sequence[str],
    ) -> Summary:
        questions = {search.query_id for several in searches.values() for search in several}
        pooled = {(place.query_id, place.doc_id) for place in places}
        texts = [search.text for several in searches.values() for search in several]
        runs = [read_runs(folder, technique, file) for technique in searches for file in files.values()]
        lists = len(texts) * len(files)
        counts = {
            "questions": len(questions),
            "documents": len(pooled),
            "retrievers": len(files),
            "lists": lists,
            "empty_lists": lists - sum(map(len, runs)),  # a file has no empty ones
            "empty_texts": sum(not text.strip() for text in texts),
            "without": len(questions - {query_id for query_id, _ in pooled}),
        }
        told = list(warnings)
        if counts["empty_lists"]:
            told.append(
                f"{counts['empty_lists']:,} of {counted(counts['lists'], 'lists')} are empty: nothing fits the text"
            )
        if counts["without"]:
            told.append(f"{counted(counts['without'], 'questions')} without a document to judge")
        missing = [technique for technique in self.pool.techniques if technique not in searches]
        told += [
            f"nothing is searched for with the technique {technique}: there is no such text" for technique in missing
        ]
        models = sorted({name for one in self.pool.retrievers if (name := model_of(one, self.asking))})
        settings: dict[str, Any] = {"techniques": list(searches), "retrievers": list(files), "files": dict(files)}
        settings |= {"depth": self.pool.depth, "top": self.pool.top, "method": METHOD}
        return Summary(counts, {POOL: tuple(models)} if models else {}, {}, settings, tuple(told))


@dataclass(frozen=True)
class _Indexed:
    """What decides on an index that is kept: a corpus by its digest."""

    fingerprint: str
    corpus: Corpus
    path: None = None


def pools_of(fused: Sequence[Run], top: int) -> dict[str, set[str]]:
    """Return the documents to judge of each question: the best of each technique.

    Args:
        fused: What all retrievers found together, a run a technique.
        top: How many of each list are judged.
    """
    pools: dict[str, set[str]] = {}
    for run in fused:
        for query_id, found in run.to_dict().items():
            if found:
                pools.setdefault(query_id, set()).update(islice(found, top))
    return pools


def found_by(ready: Retriever, texts: Sequence[Search], depth: int, name: str = "") -> Run:
    """Return what a retriever finds; a text that says nothing finds nothing, and is not searched for.

    Args:
        ready: The retriever, its corpus indexed.
        texts: The texts, each of another question.
        depth: The most documents of a list.
        name: Its name, where it is one of somebody's own, which is held to what it was asked for.

    Raises:
        InputError: One of somebody's own fails.
    """
    queries = [Query(search.query_id, search.text) for search in texts if search.text.strip()]
    found = searched(ready, name, queries, depth).to_dict() if queries else {}
    return Run.from_dict({search.query_id: found.get(search.query_id, {}) for search in texts})


def read_runs(folder: Path, technique: str, file: str) -> Run:
    """Return a run of the stage; one that found no document for any question has no file.

    Args:
        folder: The stage's folder.
        technique: What was searched for.
        file: Who searched, as its files are called.

    Raises:
        RunFileError: It cannot be read.
    """
    path = folder / RUNS / technique / f"{file}.parquet"
    return read_run(path) if path.exists() else Run.from_dict({})


def _own(told: Told) -> str:
    """Return the name of a retriever of somebody's own, "" of any other."""
    return f"{PREFIX}{told.python}" if told.python else ""


def _indexed(told: Told, of_it: Retriever, work: Work, corpus: Corpus) -> Retriever:
    with blamed(_own(told)):
        return indexed(of_it, _Indexed(work.digest(CORPUS), corpus))


def _refuse_unknown(run: Run, corpus: Container[object], label: str) -> None:
    """Refuse documents that there are not: nobody could judge them."""
    for found in run.to_dict().values():
        if unknown := next((doc_id for doc_id in found if doc_id not in corpus), None):
            raise InputError(f"what {shown(label)} found", expected="documents of the corpus", got=shown(unknown))


def _write(run: Run, folder: Path, technique: str, file: str) -> None:
    if len(run.codes):
        (folder / RUNS / technique).mkdir(parents=True, exist_ok=True)
        write_run(run, folder / RUNS / technique / f"{file}.parquet")


def _write_pool(places: Sequence[Found], path: Path) -> None:
    rows = sorted((p.query_id, p.doc_id, p.technique, p.retriever, p.rank, p.score) for p in places)
    columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), _SCHEMA, strict=True)]
    pq.write_table(pa.table(columns, schema=_SCHEMA), path, compression="zstd", write_page_checksum=True)


def _cut(label: str, ready: Retriever) -> Iterator[str]:
    """Yield what to say of texts that were longer than a model takes."""
    if isinstance(ready, Dense):
        for number, what in ((ready.cut_documents, "documents"), (ready.cut_queries, "texts to search for")):
            if number:
                yield f"{label}: the ends of {counted(number, what)} do not count, as they are longer than it takes"

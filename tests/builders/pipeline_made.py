"""A small build, written by hand and with no model, so that each stage can be tested by itself.

    topic = made_topic(tmp_path)
    work = made_work(tmp_path)              # all stages done, up to support
    work = made_work(tmp_path, until="pool")
    asking = scripted(Settings.of(topic), tmp_path, {"support": lambda request: "..."})

Four questions about Tidepool, a job queue that does not exist. Of q1 and q2 every nugget is supported; of q3 one is not; of
q4 none is. d11 is in no pool, and d12 is in q2's, but could not be judged.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import freshstack_datasets as fsd
from builders.outputs import write_about, write_sorted
from builders.pipeline.asking import Asking
from builders.pipeline.records import FUSION, TECHNIQUES, Label, Lacking, Search, Summary
from builders.pipeline.settings import KINDS, Settings
from builders.pipeline.step import run
from builders.pipeline.work import (
    ABOUT,
    LABELS,
    LACKING,
    POOLED,
    SEARCHES,
    STAGE,
    STAGES,
    Work,
    files_digest,
    write_lines,
)
from builders.topics import Topic, read_topic
from freshstack_datasets.llm.budget import Budget
from freshstack_datasets.llm.fake import Script
from freshstack_datasets.llm.records import Call
from freshstack_datasets.recipe import Recipe, Source
from freshstack_datasets.tables.schema import CORPUS, NUGGETS, QUERIES

TOPIC = """\
name: acme/tidepool
domain: Job queues
tags: [tidepool]
documents: [{path: docs.jsonl, name: docs}]
models: {endpoint: fake, model: m, parameters: {temperature: 0.1, max_tokens: 500}}
pool: {retrievers: [bm25], depth: 10, top: 3}
"""

DOCUMENTS = {
    "docs/d01": "Every Tidepool worker starts a scheduler of its own.",
    "docs/d02": "Every worker starts a scheduler; scheduler.leader = true lets one worker schedule alone.",
    "docs/d03": "Workers poll the queue every two seconds.",
    "docs/d04": "Session.send is a coroutine and has to be awaited.",
    "docs/d05": "A job's result is kept for ten minutes: result_ttl = 600.",
    "docs/d06": "result_ttl = 0 keeps a result until it is read once. Session.result reads it.",
    "docs/d07": "Session.result returns None for a job whose result has expired.",
    "docs/d08": "Queues are named in queues.toml.",
    "docs/d09": "The dashboard listens on port 8090.",
    "docs/d10": "Retries wait twice as long each time, at most an hour.",
    "docs/d11": "Licence: MIT.",
    "docs/d12": "def result(self, job): return self.store.pop(job)",
}

QUESTIONS = {
    "q1": (
        "Why are jobs run twice?",
        "With four workers each job is run twice.",
        "Set scheduler.leader = true on one.",
    ),
    "q2": ("Where do results go?", "After ten minutes a result is None.", "They expire: see result_ttl."),
    "q3": ("How to await a send?", "It says: coroutine was never awaited.", "Await it, and use version 2.4."),
    "q4": ("Is there a mobile app?", "I want to see jobs on my telephone.", "There is one since last year."),
}
"""By id: title, body, answer."""

NUGGETS_OF = {
    "q1": ("Each worker starts a scheduler of its own.", "scheduler.leader lets one worker schedule."),
    "q2": ("Results are kept for ten minutes.", "result_ttl = 0 keeps a result.", "Session.result reads it."),
    "q3": ("Session.send has to be awaited.", "Version 2.4 has it."),
    "q4": ("There is a mobile app.",),
}

POOL = {
    "q1": ("docs/d01", "docs/d02", "docs/d03"),
    "q2": ("docs/d05", "docs/d06", "docs/d07", "docs/d12"),
    "q3": ("docs/d04", "docs/d08"),
    "q4": ("docs/d09", "docs/d10"),
}

POOL_SETTINGS = {
    "techniques": list(TECHNIQUES),
    "retrievers": ["bm25"],
    "files": {"bm25": "bm25"},
    "depth": 10,
    "top": 3,
}
"""How the stage pool says that it was set."""

SUPPORTS = {
    ("q1", "docs/d01"): (0,),
    ("q1", "docs/d02"): (0, 1),
    ("q1", "docs/d03"): (),
    ("q2", "docs/d05"): (0,),
    ("q2", "docs/d06"): (1, 2),
    ("q2", "docs/d07"): (2,),
    ("q3", "docs/d04"): (0,),
    ("q3", "docs/d08"): (),
    ("q4", "docs/d09"): (),
    ("q4", "docs/d10"): (),
}
"""The positions of the nuggets that each judged document supports."""
UNJUDGED = ("q2", "docs/d12")


def call_id(kind: str, query_id: str) -> str:
    """The id of the call of a kind for a question."""
    return hashlib.sha256(f"{kind} {query_id}".encode()).hexdigest()


def made_topic(folder: Path, text: str = TOPIC) -> Topic:
    """The topic, read from a file in the folder, beside its documents and an export of its forum."""
    (folder / "docs.jsonl").write_text(
        "".join(
            json.dumps({"id": doc_id.removeprefix("docs/"), "text": text}) + "\n" for doc_id, text in DOCUMENTS.items()
        )
    )
    (folder / "posts.jsonl").write_text("".join(_post(query_id) for query_id in QUESTIONS))
    (folder / "tidepool.yaml").write_text(text)
    return read_topic(folder / "tidepool.yaml")


def scripted(
    settings: Settings, folder: Path, scripts: Mapping[str, Script] | None = None, budget: Budget | None = None
) -> Asking:
    """What asks the stand-in, which says what the scripts say by kind of call, and in others what it makes up.

    Its store, in the folder, has the calls that ``made_work`` names.
    """
    asking = Asking(settings, replies=folder / "replies.sqlite", scripts=scripts, budget=budget)
    for call in made_calls(settings):
        asking.store.keep(call)
    return asking


def made_calls(settings: Settings) -> list[Call]:
    """The calls that ``made_work`` names, as the store keeps them."""
    kinds = [kind for kind in KINDS if kind != "second"]
    return [_call(kind, query_id, settings) for kind in kinds for query_id in QUESTIONS]


def made_work(folder: Path, until: str = "support") -> Work:
    """A build's folder in which all stages are done up to one, that one included.

    Args:
        folder: Where it goes, as ``work``.
        until: The last stage.
    """
    work = Work(folder / "work")
    for stage in STAGES[: STAGES.index(until) + 1]:
        if stage in ("questions", "corpus"):
            (work.path / stage).mkdir(parents=True)
            _MAKE[stage](work.path / stage)
        else:
            run(_Step(stage, _MAKE[stage]), work)
    return work


def sealed(work: Work, stage: str) -> None:
    """Let a stage say that its files, which a test wrote anew, are those that it made."""
    folder = work.path / stage
    about = folder / ABOUT.get(stage, STAGE)
    told = json.loads(about.read_text())
    if stage in ABOUT:
        content = hashlib.sha256((folder / told["table"]["file"]).read_bytes()).hexdigest()
        if content != told["table"]["sha256"]:
            told["table"] |= {"digest": content, "sha256": content}
        told["lists"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in told["lists"]}
    else:
        told["digest"] = files_digest(folder)
    about.write_text(json.dumps(told))


class _Step:
    def __init__(self, name: str, write: Callable[[Path], None]) -> None:
        self.name, self._write = name, write

    def key(self, work: Work) -> Mapping[str, Any]:
        return {"made": "by hand", "endpoint": "stand-in"}

    def make(self, work: Work, folder: Path) -> Summary:
        self._write(folder)
        kinds = {"nuggets": ["nuggets"], "queries": ["sub-questions", "closed-book"], "support": ["support"]}
        models = dict.fromkeys(kinds.get(self.name, ()), ("stand-in for m",))
        prompts = {f"{kind}@1": hashlib.sha256(kind.encode()).hexdigest() for kind in models}
        return Summary({}, models, prompts, POOL_SETTINGS if self.name == "pool" else {})


def _questions(folder: Path) -> None:
    queries = [
        fsd.Query(
            query_id,
            f"{title} {body}",
            title=title,
            body=body,
            answer_id=f"a{query_id}",
            answer_text=answer,
            date=f"2024-0{number}-15",
            tags=("tidepool",),
            url=f"https://forum.example.org/{query_id}",
            author="https://forum.example.org/u/ada",
            license="CC-BY-SA-4.0",
            language="en",
        )
        for number, (query_id, (title, body, answer)) in enumerate(QUESTIONS.items(), 1)
    ]
    told = {"url": "https://forum.example.org/a", "author": "Ada", "date": "2024-05-01", "license": "CC-BY-SA-4.0"}
    answers = [{"id": f"a{query_id}", "question": query_id, "score": 1, **told} for query_id in QUESTIONS]
    write_lines(folder / "answers.jsonl", answers)
    (folder / "dropped.jsonl").write_text("")
    source = Source(url="https://forum.example.org/", license="CC-BY-SA-4.0", counts={"questions": 4})
    _about(folder, "questions", source, write_sorted(folder, QUERIES, queries), {"questions": 4, "left_out": 0})


def _corpus(folder: Path) -> None:
    documents = [fsd.Document(doc_id, "", text, {"license": "MIT"}) for doc_id, text in DOCUMENTS.items()]
    (folder / "dropped.jsonl").write_text("")
    source = Source(url="docs.jsonl", name="docs", license="MIT", counts={"documents": 12})
    _about(folder, "corpus", source, write_sorted(folder, CORPUS, documents), {"documents": 12})


def _about(folder: Path, stage: str, source: Source, table: dict[str, Any], counts: dict[str, int]) -> None:
    recipe = Recipe(builder=stage, topic_sha256=hashlib.sha256(TOPIC.encode()).hexdigest())
    write_about(folder / f"{stage}.json", "acme/tidepool", [source], recipe, table, counts)


def _nuggets(folder: Path) -> None:
    nuggets = [
        fsd.Nugget(f"{query_id}_{position}", query_id, position, text)
        for query_id, texts in NUGGETS_OF.items()
        for position, text in enumerate(texts)
    ]
    write_sorted(folder, NUGGETS, nuggets)
    write_lines(folder / "calls.jsonl", [{"query_id": q, "calls": [call_id("nuggets", q)]} for q in QUESTIONS])
    write_lines(folder / LACKING, [])


def _queries(folder: Path) -> None:
    write_lines(folder / SEARCHES, [_search(query_id, name) for query_id in QUESTIONS for name in TECHNIQUES])
    write_lines(folder / LACKING, [])


def _search(query_id: str, technique: str) -> Search:
    title, body, answer = QUESTIONS[query_id]
    texts = {
        "question": f"{title} {body}",
        "sub-questions": f"{title} What is the cause?",
        "closed-book": f"Perhaps: {answer}",
        "answer": answer,
        "nuggets": " ".join(NUGGETS_OF[query_id]),
    }
    calls = {kind: (call_id(kind, query_id),) for kind in ("sub-questions", "closed-book")}
    calls["nuggets"] = (call_id("nuggets", query_id),)
    return Search(query_id, technique, texts[technique], calls.get(technique, ()))


def _pool(folder: Path) -> None:
    """Every technique finds the same; BM25 in that order, the fusion too."""
    rows = [
        (query_id, doc_id, technique, retriever, rank, 1 / rank)
        for query_id, documents in POOL.items()
        for rank, doc_id in enumerate(documents, 1)
        for technique in TECHNIQUES
        for retriever in ("bm25", FUSION)
    ]
    names = ("query-id", "corpus-id", "technique", "retriever")
    fields = [*((name, pa.string()) for name in names), ("rank", pa.int32()), ("score", pa.float64())]
    columns = [list(column) for column in zip(*sorted(rows), strict=True)]
    pq.write_table(pa.table(columns, schema=pa.schema(fields)), folder / POOLED)
    for technique in TECHNIQUES:
        for retriever in ("bm25", FUSION):
            run_of = {
                query_id: {doc_id: 1 / rank for rank, doc_id in enumerate(documents, 1)}
                for query_id, documents in POOL.items()
            }
            (folder / "runs" / technique).mkdir(parents=True, exist_ok=True)
            fsd.write_run(run_of, folder / "runs" / technique / f"{retriever}.parquet")


def _support(folder: Path) -> None:
    labels = [Label(query_id, doc_id, of, call_id("support", query_id)) for (query_id, doc_id), of in SUPPORTS.items()]
    query_id, doc_id = UNJUDGED
    calls = (call_id("support", query_id),)
    write_lines(folder / LABELS, labels)
    write_lines(folder / LACKING, [Lacking(query_id, "does-not-fit", "no JSON", doc_id, calls)])
    orders = [
        {"call_id": call_id("support", q), "query_id": q, "documents": list(reversed(of))} for q, of in POOL.items()
    ]
    write_lines(folder / "orders.jsonl", orders)


_MAKE = {
    "questions": _questions,
    "corpus": _corpus,
    "nuggets": _nuggets,
    "queries": _queries,
    "pool": _pool,
    "support": _support,
}


def _call(kind: Any, query_id: str, settings: Settings) -> Call:
    set_to = settings.kind(kind)
    return Call(
        digest=call_id(kind, query_id),
        endpoint="stand-in",
        stage=kind,
        prompt=set_to.prompt.digest,
        asked=set_to.model,
        parameters=set_to.parameters,
        model=f"stand-in for {set_to.model}",
        text=f"The reply of {kind} for {query_id}",
        finish="stop",
        input_tokens=100,
        output_tokens=20,
        usd=Decimal(0),
        attempts=1,
        created=datetime(2026, 10, 31, 12, tzinfo=UTC).isoformat(),
    )


def _post(query_id: str) -> str:
    title, body, answer = QUESTIONS[query_id]
    told = {"id": query_id, "title": title, "body": body, "tags": ["tidepool"], "date": "2024-05-01", "score": 3}
    answers = [{"id": f"a{query_id}", "body": answer, "score": 2, "accepted": True}]
    return json.dumps({**told, "license": "CC-BY-SA-4.0", "answers": answers}) + "\n"

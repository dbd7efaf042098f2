"""The stage ``support``: a model judges the documents of each pool."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from builders.judging.judge import estimated, first_calls, judge
from builders.judging.records import Group, Judged, Known, Source
from builders.judging.second import agreement, sampled
from builders.nuggets.calls import ask_again, reasons
from builders.pipeline.asking import Asking
from builders.pipeline.reading import ORDERS, nuggets_of, pool_of, questions_of, topic_corpus
from builders.pipeline.records import Summary
from builders.pipeline.work import CORPUS, LABELS, LACKING, NUGGETS, POOL, QUESTIONS, SUPPORT, Work, write_lines
from builders.statistics.tokens import TOKENIZER
from builders.topics import Topic
from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import InputError
from freshstack_datasets.llm.estimates import StageEstimate
from freshstack_datasets.llm.records import Request

SECOND, AGREEMENT = "second.jsonl", "agreement.json"


@dataclass(frozen=True)
class Judging:
    """Which nuggets the documents of all pools support.

    Args:
        topic: The topic.
        asking: Who is asked.
        source: Where judgments come from that are taken as they are; None where there are none.
    """

    topic: Topic
    asking: Asking
    source: Source | None = None

    @property
    def name(self) -> str:
        """The stage's name."""
        return SUPPORT

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that the judgments depend on."""
        key: dict[str, Any] = {stage: work.digest(stage) for stage in (QUESTIONS, CORPUS, NUGGETS, POOL)}
        key |= {"asking": self.asking.key("support"), "packing": self._packing()}
        if self.source:
            key["known"] = self.source.digest
        if self.asking.settings.models.second.share:
            key |= {"second": self._second(), "asking-second": self.asking.key("second")}
        return key

    def make(self, work: Work, folder: Path) -> Summary:
        """Judge the documents of all pools, and some of them twice where that is set.

        Args:
            work: The folder of the build, for what earlier stages made.
            folder: Where labels, what is lacking, the documents of each call, and the second labels go.

        Raises:
            InputError: There is nothing to judge.
            BudgetError: What may be spent does not take all calls.
            EndpointError: The server answers no call, or not all of them for now.
        """
        known = self._known(work)
        groups = self._groups(work, known)
        corpus = topic_corpus(work)
        first = judge(self.asking, groups, corpus, known=known.labels)
        write_lines(folder / LABELS, first.labels)
        write_lines(folder / LACKING, first.lacking)
        again = self._again(groups)
        second = judge(self.asking, again, corpus, kind="second") if again else None
        orders = {*known.orders, *first.orders, *(second.orders if second else ())}
        write_lines(folder / ORDERS, map(asdict, sorted(orders, key=attrgetter("query_id", "call_id", "documents"))))
        if second:
            write_lines(folder / SECOND, second.labels)
            _write_json(folder / AGREEMENT, self._second() | agreement(again, first.labels, second.labels))
        return self._summary(first, second, known)

    def estimate(self, work: Work, *, batch: bool = False) -> list[StageEstimate]:
        """Return what judging will cost: nothing is sent.

        Args:
            work: The folder of the build, with the pool.
            batch: Whether the calls go in batches.

        Raises:
            InputError: An earlier stage is not done, or there is nothing to judge.
        """
        known = self._known(work)
        groups = self._groups(work, known)
        corpus = topic_corpus(work)
        again = self._again(groups)
        costs = [estimated(self.asking, groups, corpus, known=known.labels, batch=batch)]
        return costs + ([estimated(self.asking, again, corpus, kind="second", batch=batch)] if again else [])

    def first_calls(self, work: Work) -> Iterator[Request]:
        """Yield the calls that are made first, whatever they bring; those that were answered before, too.

        Args:
            work: The folder of the build, with the pool.

        Raises:
            InputError: An earlier stage is not done, or there is nothing to judge.
        """
        known = self._known(work)
        groups, corpus = self._groups(work, known), topic_corpus(work)
        yield from first_calls(self.asking, groups, corpus, known=known.labels)
        if again := self._again(groups):
            yield from first_calls(self.asking, again, corpus, kind="second")

    def _known(self, work: Work) -> Known:
        return self.source.known(work) if self.source else Known()

    def _groups(self, work: Work, known: Known) -> list[Group]:
        """Return the questions that have nuggets and documents to judge or judged before, each with all of them."""
        nuggets, pool = nuggets_of(work), pool_of(work)
        documents = {query_id: set(doc_ids) for query_id, doc_ids in pool.items()}
        for label in known.labels:
            documents.setdefault(label.query_id, set()).add(label.doc_id)
        ready = [query for query in questions_of(work) if query.query_id in nuggets and query.query_id in documents]
        if not ready:
            got = f"{len(nuggets):,} questions with nuggets, {len(pool):,} with documents"
            raise InputError("documents to judge", expected="a question with nuggets and a pool", got=got)
        return [Group(one, nuggets[one.query_id], tuple(sorted(documents[one.query_id]))) for one in ready]

    def _again(self, groups: Sequence[Group]) -> list[Group]:
        second = self.asking.settings.models.second
        return sampled(groups, second.share, second.seed) if second.share else []

    def _packing(self) -> dict[str, Any]:
        support = self.asking.settings.models.support
        told = {"documents": support.documents, "tokens": support.tokens, "seed": support.seed}
        return {**told, "tokenizer": TOKENIZER}

    def _second(self) -> dict[str, Any]:
        second = self.asking.settings.models.second
        return {"share": second.share, "seed": second.seed}

    def _summary(self, first: Judged, second: Judged | None, known: Known) -> Summary:
        judged = {SUPPORT: first} | ({"second": second} if second else {})
        return Summary(
            counts=dict(first.counts) | ({"second": second.counts["labels"]} if second else {}),
            models={kind: self.asking.models(_calls(one)) for kind, one in judged.items()},
            prompts=self.asking.prompts("support") | (self.asking.prompts("second") if second else {}),
            settings=self._packing() | ({"second": self._second()} if second else {}),
            warnings=tuple(_warnings(first)),
        )


def _calls(judged: Judged) -> list[str]:
    return sorted({label.call_id for label in judged.labels})


def _warnings(judged: Judged) -> Iterator[str]:
    if judged.lacking:
        documents, why = counted(len(judged.lacking), "documents"), reasons(judged.lacking)
        yield f"{documents} could not be judged: {why}{ask_again(judged.lacking, SUPPORT)}"
    if unasked := judged.counts["unasked"]:
        yield f"{counted(unasked, 'labels')} of documents that were not asked about went unused"


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    text = json.dumps(value, indent=2, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")

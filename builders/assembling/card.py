"""What the card of a snapshot tells of its making in words: a paragraph each, out of its statistics."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from builders.pipeline.records import FUSION
from builders.publishing.stand_ins import is_stand_in
from builders.topics import Topic
from freshstack_datasets.cli.console import counted

UNKNOWN = "–"


def about(topic: Topic, models: Iterable[str], *, unfiltered: bool) -> str:
    """Return what the dataset is.

    Args:
        topic: The topic.
        models: The names of the models that made it.
        unfiltered: Whether it is the one that keeps questions with nuggets that no document supports.
    """
    told = [f"Questions of a forum, and the documents that answer them: {topic.domain}."]
    if any(map(is_stand_in, models)):
        told.append("A stand-in for a model made its nuggets and judgments, which mean nothing.")
    if unfiltered:
        twin = "its filtered twin drops them"
        told.append(f"It keeps the questions that have nuggets which no judged document supports; {twin}.")
    return "\n\n".join(told)


def sections(told: Mapping[str, Any], *, unfiltered: bool) -> dict[str, str]:
    """Return what else the card says, from a heading to a text.

    Args:
        told: The statistics; see ``assemble``.
        unfiltered: Whether the rules that they tell of were not applied here.
    """
    found = {
        f"How the questions {'of its filtered twin ' if unfiltered else ''}were chosen": _chosen(told["filters"]),
        "How the documents to judge were found": _pooling(told["pooling"]),
        "How far the judge agrees with itself or another": _agreement(told["agreement"]),
        "What the calls of models took": _calls(told["calls"]),
    }
    return {heading: "\n\n".join(text) for heading, lines in found.items() if (text := list(lines))}


def _chosen(filters: Mapping[str, Any]) -> Iterator[str]:
    yield f"Kept: {filters['kept']:,} of {counted(filters['questions'], 'questions')} with an answer."
    for rule in filters["rules"]:
        yield f"{rule['name'].capitalize()}: {rule['dropped']:,} dropped ({rule['percent']:.1f} %), since {rule['why']}."
    known = filters["closed_book"]
    if known["coverage"] is not None:
        yield (
            f"A model's answer without any document holds {100 * known['coverage']:.1f} % of the terms of the nuggets that "
            f"the question lacks, in the mean over {counted(known['questions'], 'questions')}: a sign of what models know "
            "by heart, told by words alone."
        )


def _pooling(pooling: Mapping[str, Any]) -> Iterator[str]:
    retrievers = [one["retriever"] for one in pooling["retrievers"]]
    shown = [row for row in pooling["table2"] if len(retrievers) > 1 or row["retriever"] != FUSION]
    if shown:
        yield f"How good the lists were that the documents to judge are from, each by {' / '.join(shown[0]['measures'])}:"
    for technique, rows in groupby(shown, key=itemgetter("technique")):
        lists = [f"{_WHO.get(row['retriever'], row['retriever'])} {_numbers(row['measures'])}" for row in rows]
        yield f"Searching for {_TEXTS.get(technique, technique)}: {', '.join(lists)}."
    relevant = counted(pooling["relevant"], "relevant documents")
    for one in pooling["retrievers"] if len(retrievers) > 1 else ():
        yield (
            f"Of {relevant}, {one['retriever']} found {one['found']:,}, of which no other found {one['alone']:,}; without it "
            f"the pools would lack {one['lost']:,}."
        )


_WHO = {FUSION: "all together"}
_TEXTS = {
    "question": "the question",
    "sub-questions": "sub-questions that a model made of it",
    "closed-book": "a model's answer without documents",
    "answer": "the accepted answer",
    "nuggets": "the nuggets",
}


def _agreement(told: Mapping[str, Any] | None) -> Iterator[str]:
    if told is None:
        return
    sampled = counted(told["sampled"], "documents")
    yield f"A share of {told['share']:.0%} of all judged documents was judged a second time, in another order: {sampled}."
    for name, words in (("documents", "Whether a document is relevant"), ("labels", "Whether it supports a nugget")):
        one = told[name]
        ends = "" if one["low"] is None else f" (from {one['low']:.2f} to {one['high']:.2f})"
        kappa = "" if one["kappa"] is None else f", Cohen's kappa {one['kappa']:.2f}{ends}"
        share = UNKNOWN if one["agree"] is None else f"{100 * one['agree']:.1f} %"
        yield f"{words}: both agree on {share} of {one['compared']:,}{kappa}."


def _calls(calls: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for stage, one in calls.items():
        tokens = [f"{_whole(one[name])} {words}" for name, words in _TOKENS.items()]
        usd = f", {one['usd']:,.2f} dollars" if one["usd"] is not None else ""
        yield f"{stage}: {counted(one['calls'], 'calls')}, {', '.join(tokens)}{usd}."


_TOKENS = {"input_tokens": "tokens read", "output_tokens": "tokens written"}


def _whole(value: int | None) -> str:
    return "an unknown number of" if value is None else f"{value:,}"


def _numbers(measures: Mapping[str, float]) -> str:
    return " / ".join(f"{value:.3f}" for value in measures.values())

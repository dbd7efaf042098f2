"""From the stages of a build to two snapshots: the filtered one, and beside it the unfiltered one; both or none."""

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from builders.assembling import figures
from builders.assembling.calls import answered, asked_of, spent, write_calls
from builders.assembling.card import about, sections
from builders.assembling.filtering import Filtered, filtered_of
from builders.assembling.making import license_of, recipe_of, sources_of
from builders.assembling.parts import Parts, parts_of
from builders.assembling.placing import NOTE, Placing
from builders.assembling.trace import left_out, write_pool
from builders.outputs import OURS, installed
from builders.pipeline.reading import questions_of, topic_corpus
from builders.pipeline.work import ABOUT, FILTER, STAGES, Work
from builders.pooling import table2
from builders.stages.workshop import workshop
from builders.topics import Topic
from freshstack_datasets import catalog
from freshstack_datasets.errors import InputError, SnapshotError, shown, shown_path
from freshstack_datasets.files import refuse_taken
from freshstack_datasets.llm.store import Store, default_store
from freshstack_datasets.manifest import About, Manifest, made, read_manifest
from freshstack_datasets.recipe import Filter, Generator, Source
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.trace.reading import TracedCall

UNFILTERED = "-unfiltered"
"""What the name and the folder of the unfiltered snapshot end with."""
STATISTICS = "statistics.json"
_OURS = "parts-of-a-snapshot"
_VERSION = 1
"""Of what is written; another one lets it be written again."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """What was made.

    Args:
        out: The folder of the filtered snapshot.
        unfiltered: The folder of the unfiltered one.
        manifest: What the filtered one says of itself.
        unfiltered_manifest: What the unfiltered one says of itself.
        statistics: The numbers of the filtered one: see its ``provenance/statistics.json``.
        kept: Whether both had been made before, of the same.
    """

    out: Path
    unfiltered: Path
    manifest: Manifest
    unfiltered_manifest: Manifest
    statistics: Mapping[str, Any]
    kept: bool


@dataclass(frozen=True, slots=True)
class _Whole:
    """What both snapshots are made of."""

    topic: Topic
    work: Work
    snapshot: str
    created: date
    filtered: Filtered
    sources: list[Source]
    calls: list[TracedCall]
    documents: figures.Documents
    brought: Mapping[str, Any]
    more: Mapping[str, bytes]


def unfiltered_of(out: Path) -> Path:
    """Return where the unfiltered snapshot goes.

    Args:
        out: Where the filtered one goes.
    """
    out = out.absolute()
    return out.with_name(out.name + UNFILTERED)


def assemble(
    topic: Topic,
    work: Work,
    out: Path,
    snapshot: str,
    *,
    created: date | None = None,
    store: Store | None = None,
    earlier: Iterable[TracedCall] = (),
    replace: bool = False,
    more: Mapping[str, bytes] | None = None,
) -> Assembled:
    """Make the snapshots of a build.

    Meanwhile parts are kept beside the folder, in one of the same name with ``.parts`` behind it. The same call, made
    again after any end, leaves both; when both are there already, made of the same, it changes nothing.

    Args:
        topic: The topic.
        work: The folder of the build, all of whose stages are done.
        out: A new folder for the filtered snapshot; the unfiltered one goes beside it, ``-unfiltered`` behind its name.
        snapshot: The snapshot's name, ``YYYY-MM``.
        created: The day it is made; today (UTC) when not given.
        store: Where replies are kept; the usual file when not given.
        earlier: Calls of an earlier snapshot, some of whose labels were carried over.
        replace: Whether snapshots that this build put there before, made of something else, give way in the end.
        more: Further files of the trace of both, by name.

    Raises:
        InputError: A stage is not done, no question is left, a place is taken, or a reply is not kept any more.
        SnapshotError: What the stages made fits no snapshot.
        MissingExtraError: A package that counts tokens is not installed.
    """
    out = out.absolute()
    _check_name(topic, snapshot)
    digests = {stage: work.digest(stage) for stage in STAGES}
    key = {
        "version": _VERSION,
        "program": installed(OURS),
        "topic": topic.digest,
        "snapshot": snapshot,
        "stages": digests,
        "lists": {stage: work.about(stage).get("lists") for stage in ABOUT},  # their digests are those of the tables
    }
    key |= {"more": {name: sha256(content).hexdigest() for name, content in more.items()}} if more else {}
    placing = Placing(work.path.absolute() / NOTE, out, unfiltered_of(out), key)
    if placing.done() and created in (None, read_manifest(out).created):
        if out.with_name(f"{out.name}.parts").exists():  # a run was ended after both were in their places
            with workshop(out, _OURS):
                pass
        return _told(placing, kept=True)
    stale = replace and placing.ours()
    if not stale:
        refuse_taken(out)
    with workshop(out, _OURS) as parts:
        if not stale:
            placing.clear(parts, replace=replace)
        filtered, whole = filtered_of(work), parts_of(work)
        if not filtered.kept:
            counts = ", ".join(f"{rule.dropped} by {rule.name}" for rule in filtered.filters if rule.dropped)
            hint = "look into W/support and W/filter: the documents may lack what the answers say"
            raise InputError(
                "no question is left", expected="one whose nuggets are all supported", got=counts, hint=hint
            )
        sources = sources_of(work)
        common = _Whole(
            topic,
            work,
            snapshot,
            created or datetime.now(UTC).date(),
            filtered,
            sources,
            answered(asked_of(work), work, store or Store(default_store()), earlier),
            figures.count_corpus(topic_corpus(work), sources),
            figures.brought(work),
            dict(more or {}),
        )
        first, second = (parts / name for name in ("filtered", "unfiltered"))
        _write(common, whole.only(set(filtered.kept)), first, unfiltered=False)
        _write(common, whole, second, unfiltered=True)
        if stale:
            placing.retire(parts)
        placing.place(first, second)
    return _told(placing, kept=False)


def _write(common: _Whole, parts: Parts, folder: Path, *, unfiltered: bool) -> None:
    """Write one of the snapshots."""
    name = dataset_of(common.topic) + (UNFILTERED if unfiltered else "")
    ids = {question.query_id for question in parts.questions}
    calls = common.calls if unfiltered else [call for call in common.calls if call.query_id in ids]
    told = _statistics(common, parts, name, calls)
    files = folder.with_name(f"{folder.name}-files")
    for left in (files, folder):  # by a run that was ended
        shutil.rmtree(left, ignore_errors=True)
    files.mkdir()
    write_calls(files / "calls.parquet", calls)
    write_pool(files / "pool.parquet", common.work, ids)
    write_snapshot(
        folder,
        dataset=name,
        snapshot=common.snapshot,
        license=license_of(common.sources),
        documents=topic_corpus(common.work),
        queries=parts.questions,
        nuggets=(nugget for of_one in parts.nuggets.values() for nugget in of_one),
        judgments=parts.judgments(),
        sources=common.sources,
        recipe=recipe_of(common.topic, common.work, _rules(common, ids, unfiltered=unfiltered)),
        dropped=left_out(common.work, _fallen(common, ids)),
        provenance={
            "calls.parquet": files / "calls.parquet",
            "pool.parquet": files / "pool.parquet",
            STATISTICS: (json.dumps(told, indent=2, sort_keys=True, allow_nan=False) + "\n").encode(),
            **common.more,
        },
        about=about(common.topic, {call.model for call in calls}, unfiltered=unfiltered),
        sections=sections(told, unfiltered=unfiltered),
        created=common.created,
    )


def check(topic: Topic, work: Work, out: Path, snapshot: str) -> None:
    """Refuse beforehand what ``assemble`` would refuse after all other stages.

    Args:
        topic: The topic.
        work: The folder of the build.
        out: Where the filtered snapshot is to go.
        snapshot: The snapshot's name.

    Raises:
        InputError: The name is none, or something is there that this build did not put there, or another snapshot.
    """
    _check_name(topic, snapshot)
    out = out.absolute()
    Placing(work.path.absolute() / NOTE, out, unfiltered_of(out), {}).refuse_others()
    with suppress(SnapshotError):  # what is damaged gives way
        there = read_manifest(out)
        if (there.dataset, there.snapshot) != (dataset_of(topic), snapshot):
            hint = f"a snapshot stays: choose another folder, and --work {work.path} to go on from the same stages"
            expected, got = f"{dataset_of(topic)}@{snapshot} or nothing", f"{there.dataset}@{there.snapshot}"
            raise InputError(f"cannot write {shown_path(out)}", expected=expected, got=got, hint=hint)


def _check_name(topic: Topic, snapshot: str) -> None:
    """Let the manifest judge the names now: it would otherwise do so after all documents were read."""
    name, program = dataset_of(topic) + UNFILTERED, Generator(name="-", version="-")
    try:
        made(About, dataset=name, snapshot=snapshot, created=date(2000, 1, 1), license="-", generator=program)
    except SnapshotError:
        expected = "a month, 2026-10, or a correction of it, 2026-10.1"
        raise InputError("--snapshot", expected=expected, got=shown(snapshot)) from None


def dataset_of(topic: Topic) -> str:
    """Return the full name of a topic's dataset.

    Args:
        topic: The topic.
    """
    return topic.name if "/" in topic.name else f"{catalog.OWNER}/{topic.name}"


def _fallen(common: _Whole, there: Collection[str]) -> dict[str, list[str]]:
    """Return the questions that a snapshot lacks, by the rule that they fell to."""
    rules = common.filtered.dropped.items()
    return {rule: [query_id for query_id in ids if query_id not in there] for rule, ids in rules}


def _rules(common: _Whole, there: Collection[str], *, unfiltered: bool) -> Iterator[Filter]:
    """Yield the rules of the stage ``filter`` with what they dropped from a snapshot."""
    fallen = _fallen(common, there)
    for rule in common.filtered.filters:
        ids = tuple(fallen.get(rule.name, ()))
        if ids or not unfiltered:
            yield Filter(name=f"{FILTER}: {rule.name}", dropped=len(ids), reason=rule.reason, ids=ids)


def _statistics(common: _Whole, parts: Parts, name: str, calls: list[TracedCall]) -> dict[str, Any]:
    """Return all that a snapshot tells of itself in numbers."""
    scored = parts.scored(name, common.snapshot)
    return {
        "table1": figures.table1(parts, common.documents, scored),
        "filters": figures.filters(common.filtered, len(questions_of(common.work))),
        "pooling": {**common.brought, "table2": table2(common.work, scored)},
        "agreement": figures.agreement(common.work),
        "calls": spent(calls),
    }


def _told(placing: Placing, *, kept: bool) -> Assembled:
    """Return what is said of the two snapshots that are in their places."""
    text = (placing.out / "provenance" / STATISTICS).read_text(encoding="utf-8")
    manifests = read_manifest(placing.out), read_manifest(placing.twin)
    return Assembled(placing.out, placing.twin, *manifests, json.loads(text), kept)

"""From a topic file and a dump or a forum's export to a folder with its questions, and how they were made."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.forums import jsonl
from builders.outputs import write_about, write_sorted
from builders.questions.doors import door_of
from builders.questions.records import Read
from builders.questions.rules import REASONS, Rules
from builders.questions.sorting import Sorting
from builders.secrets import Allowed, Finding, review, watched
from builders.stackexchange import reasons
from builders.stackexchange.filters import UNTAGGED
from builders.stages import Cluster
from builders.stages.workshop import result, workshop
from builders.topics import Topic
from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import InputError, SnapshotError, shown_path
from freshstack_datasets.files import refuse_taken
from freshstack_datasets.recipe import Filter, Recipe, Source
from freshstack_datasets.tables.schema import QUERIES

FILE = "questions.json"
_OURS = "parts-of-questions"
_MEANT = reasons.REASONS | REASONS


@dataclass(frozen=True, slots=True)
class Built:
    """What was made.

    Args:
        path: The folder.
        digest: The digest of the table, which depends on nothing but its rows.
        counts: How many questions were taken and left out.
        read: How many rows and so on the source has.
        url: What the addresses of a dump's posts begin with, or where an export comes from; "" when nobody knows.
        dropped: From a reason to how many entries were left out for it.
    """

    path: Path
    digest: str
    counts: dict[str, int]
    read: dict[str, int]
    url: str
    dropped: dict[str, int]


def build(
    topic: Topic,
    posts: Path,
    out: Path,
    *,
    processes: int = 1,
    cluster: Cluster | None = None,
    allowed: Allowed | None = None,
) -> Built:
    """Make the questions of a topic.

    Meanwhile parts are kept beside the folder, in one of the same name with ``.parts`` behind it. The same call, made
    again after any end, goes on from those of a plain dump.

    Args:
        topic: The topic.
        posts: A dump's ``Posts.xml`` or its .7z, or a forum's export.
        out: A new folder.
        processes: How many processes work; the result is the same for any number.
        cluster: Who looks through a plain dump instead, with the same result.
        allowed: Findings of secrets that are accepted.

    Raises:
        InputError: Something cannot be read, or no question is left.
        SecretsError: Something seems to be secret in a question or its answer, and is not allowed.
        MissingExtraError: A package that is needed is not installed.
    """
    rules, out = Rules.of(topic), out.absolute()
    secrets: list[Finding] = []
    refuse_taken(out)
    with workshop(out, _OURS) as work, result(work, out) as folder:
        door, language = door_of(posts, topic, rules, work, processes, cluster)
        with Sorting(folder, rules, language, topic.questions.license) as sorting:
            try:
                table = write_sorted(folder, QUERIES, watched(sorting.queries(door), secrets))
            except SnapshotError:
                if sorting.taken:
                    raise
                raise _nothing_left(posts, door.source(), sorting) from None
        looked = review(secrets, allowed or Allowed(), out)
        read, dropped = door.source(), {name: count for name, count in sorted(sorting.dropped.items()) if count}
        counts = {"questions": sorting.taken, "left_out": sum(dropped.values())}
        recipe = Recipe(
            builder="questions",
            parameters=_parameters(topic) | looked.parameters(),
            topic_sha256=topic.digest,
            filters=tuple(Filter(name=n, dropped=count, reason=_MEANT.get(n, "")) for n, count in dropped.items()),
        )
        write_about(folder / FILE, topic.name, [_source(read, sorting.licenses)], recipe, table, counts)
    return Built(out, table["digest"], counts, dict(read.counts), read.url, dropped)


def _parameters(topic: Topic) -> dict[str, Any]:
    """Return the rules as the topic says them, those that let everything pass left out."""
    rules = topic.questions
    given = {
        "tags": sorted(topic.tags) or None,
        "from": topic.first and topic.first.isoformat(),
        "to": topic.last and topic.last.isoformat(),
        "min_score": rules.min_score,
        "answer": rules.answer,
        "min_answer_score": rules.min_answer_score,
    }
    return {name: value for name, value in given.items() if value is not None}


def _source(read: Read, licenses: set[str]) -> Source:
    name = "".join(c if c.isprintable() else "\ufffd" for c in read.name)[:300]
    return Source(
        url=read.url or name,
        name=name,
        sha256=read.sha256,
        license=" AND ".join(sorted(licenses))[:500] or None,
        counts=read.counts,
    )


def _nothing_left(posts: Path, read: Read, sorting: Sorting) -> InputError:
    told = [counted(count, name) for name, count in read.counts.items() if count]
    firsts = {name: f" ({first})" for name, first in sorting.first_wrong.items()}  # nothing lists them
    out = [f"{counted(count, name)}{firsts.get(name, '')}" for name, count in sorted(sorting.dropped.items())]
    return InputError(
        f"no question of {shown_path(posts)} is left",
        expected="one that has a tag of the topic, and an answer",
        got=", ".join(told) + (f"; left out: {', '.join(out)}" if out else ""),
        hint=f"{_way_on(set(sorting.dropped))}, or take another source",
    )


def _way_on(left_out: set[str]) -> str:
    """Return what may leave a question, by why all were left out."""
    if any("score" in name and "accepted answer" in name for name in left_out):
        return "min_answer_score: null in the topic's questions lets any answer pass"
    if reasons.UNANSWERED in left_out:
        return "answer: best in the topic's questions takes the answer with the most votes"
    if any(name.startswith(jsonl.MALFORMED) for name in left_out):
        return "mend the lines: python -m builders questions --help names their keys"
    if left_out == {UNTAGGED}:
        return "compare the topic's tags with those of the source"
    return "loosen the rules"

"""A benchmark of a Stack Exchange site without any model: questions, and the answers that their askers accepted.

Queries are the questions whose accepted answer is in the dump, the corpus is every answer. Each query has one nugget,
with the question's title as its text, and one judgment: its accepted answer supports it.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from builders.html.text import html_parser
from builders.scratch import Scratch
from builders.stackexchange.collected import Collected, Question, collect
from builders.stackexchange.dump import Dump
from builders.stackexchange.filters import Filters
from builders.stackexchange.site import Site, licence, licence_of_all
from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import InputError, SnapshotError, shown, shown_path
from freshstack_datasets.files import refuse_taken
from freshstack_datasets.manifest import About, Filter, Generator, Manifest, Recipe, Source, made
from freshstack_datasets.progress import track
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot

NAME = "accepted-answers"


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made.

    Args:
        path: The snapshot's folder.
        manifest: Its manifest.
        counts: Rows of the dump, by what they are.
        dropped: What was left out, by rule.
        latest: The month of the newest post, YYYY-MM, "" when no post has a date.
    """

    path: Path
    manifest: Manifest
    counts: Mapping[str, int]
    dropped: Mapping[str, int]
    latest: str


def build(posts: Path, out: Path, *, site: str, snapshot: str, filters: Filters | None = None) -> Built:
    """Make a snapshot of a posts dump.

    The dump is read once. Questions and answers wait in nameless files beside ``out``; memory holds their numbers. When
    anything goes wrong, nothing is left behind.

    Args:
        posts: The dump's ``Posts.xml``, or the .7z that holds it.
        out: Where the snapshot goes; it must not exist, or be empty.
        site: The site's host.
        snapshot: The snapshot's name, ``YYYY-MM``.
        filters: Which questions to take; all when not given.

    Raises:
        InputError: An argument or the dump cannot be used, or no question is left.
        MissingExtraError: selectolax is not installed.
    """
    forum, rules = Site(site), filters or Filters()
    html_parser()
    _check_name(forum.host, snapshot)
    refuse_taken(out)
    dump = Dump(posts)
    with ExitStack() as stack:
        answers, asked, listed = (stack.enter_context(Scratch(out)) for _ in range(3))
        found = collect(dump, forum, rules, answers, asked, listed)
        if not found.questions:
            raise _nothing_left(posts, found)
        manifest = write_snapshot(
            out,
            dataset=forum.host,
            snapshot=snapshot,
            license=licence_of_all(found.licences),
            documents=_documents(found),
            queries=(_query(question, forum, found) for question in found.questions),
            nuggets=(Nugget(_nugget_id(q), str(q.post_id), 0, found.post(q).title) for q in found.questions),
            judgments=(Judgment(str(q.post_id), _nugget_id(q), str(q.accepted), 1) for q in found.questions),
            sources=[_source(dump, forum, found)],
            recipe=_recipe(rules, found),
            dropped=listed,
            about=_about(forum, rules, found),
        )
    return Built(out, manifest, dict(found.rows), dict(found.dropped), found.latest)


def _check_name(dataset: str, snapshot: str) -> None:
    """Let the manifest judge the names now: it would otherwise do so after hours of reading."""
    generator = Generator(name=NAME, version="1")
    try:
        made(About, dataset=dataset, snapshot=snapshot, created=date(2000, 1, 1), license="none", generator=generator)
    except SnapshotError:
        raise InputError(
            "--snapshot", expected="the dump's month, 2015-03, or a correction of it, 2015-03.1", got=shown(snapshot)
        ) from None


def _documents(found: Collected) -> Iterator[Document]:
    answers = track(found.answers, found.rows["answers"] or None, "writing the answers")
    return (Document(row["id"], "", row["text"], row["metadata"]) for row in answers)


def _query(question: Question, site: Site, found: Collected) -> Query:
    post = found.post(question)
    return Query(
        query_id=str(post.post_id),
        text=f"{post.title} {post.body}".strip(),
        title=post.title,
        body=post.body,
        answer_id=str(post.accepted),
        answer_text=found.answers.at(question.answer)["text"],
        date=post.date or None,
        tags=post.tags,
        url=site.post_url(post),
        author=site.author(post),
        score=post.score,
        license=licence(post),
        language=site.language,
    )


def _nugget_id(question: Question) -> str:
    return f"{question.post_id}_0"


def _source(dump: Dump, site: Site, found: Collected) -> Source:
    return made(
        Source,
        url=site.url,
        name="".join(c if c.isprintable() else "\ufffd" for c in dump.name)[:300],
        sha256=dump.sha256,
        license=" AND ".join(sorted(found.licences))[:500] or None,
        counts={"bytes": dump.size, **found.rows},
    )


def _recipe(rules: Filters, found: Collected) -> Recipe:
    given: dict[str, Any] = {
        "tags": sorted(rules.tags) or None,
        "from": rules.first or None,
        "to": rules.last or None,
        "min_score": rules.min_score,
    }
    return made(
        Recipe,
        builder=NAME,
        parameters={name: value for name, value in given.items() if value is not None},
        filters=tuple(
            Filter(name=name, dropped=count, reason=found.reasons.get(name, ""))
            for name, count in sorted(found.dropped.items())
        ),
    )


def _about(site: Site, rules: Filters, found: Collected) -> str:
    tags = sorted(rules.tags)
    named = ", ".join(tag[:50] for tag in tags[:20]) + (f" and {len(tags) - 20} more" if len(tags) > 20 else "")
    chosen = [
        *([f"with any of the tags {named}"] if tags else []),
        *([f"asked on {rules.first} or later"] if rules.first else []),
        *([f"asked on {rules.last} or earlier"] if rules.last else []),
        *([f"with a score of at least {rules.min_score}"] if rules.min_score is not None else []),
    ]
    only = f" Only questions {' and '.join(chosen)} were taken." if chosen else ""
    licences = ", ".join(sorted(found.licences)) or "a licence that the dump does not name"
    return (
        f"Made without any model from a dump of {site.host}: the queries are {len(found.questions):,} of its questions, "
        f"whose asker accepted an answer that the dump holds, and the corpus is every answer in the dump.{only} "
        "Each query has one nugget, whose text is the question's title, and its accepted answer supports it. "
        f"The texts are by the users of {site.host} ({site.url}), under {licences}: wherever one is shown, name its "
        "author, address and licence, which stand in its row. They were changed: HTML became plain text with "
        "Markdown's marks. "
        "What this cannot tell: with one nugget a query, diversity is not measured, and only the accepted answer is "
        "judged, so that other good answers, to the same question or to one like it, count as unjudged."
    )


def _nothing_left(posts: Path, found: Collected) -> InputError:
    told = [counted(count, name) for name, count in found.rows.items() if count]
    dropped = [counted(count, name) for name, count in found.dropped.items()]
    return InputError(
        f"no question of {shown_path(posts)} is left",
        expected="at least one with its accepted answer",
        got=f"{', '.join(told) or 'no rows'}" + (f"; left out: {', '.join(dropped)}" if dropped else ""),
        hint="loosen the filters, or take another dump",
    )

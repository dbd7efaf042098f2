"""The questions of a Stack Exchange dump."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from builders.html.text import html_parser
from builders.questions.records import Answer, Question, Read, Skipped
from builders.questions.rules import Rules
from builders.stackexchange.dump import CUT_OFF
from builders.stackexchange.filters import UNTAGGED
from builders.stackexchange.finding import RANGE, find
from builders.stackexchange.joining import Joined, Row
from builders.stackexchange.posts import ANSWER, QUESTION, BadRow, Post, duplicate
from builders.stackexchange.reasons import FABRICATED, FOREIGN, KINDS, MALFORMED, MISSING, REASONS
from builders.stackexchange.selecting import Wish
from builders.stackexchange.site import Site, licence
from builders.stages import Cluster


@dataclass
class DumpDoor:
    """The questions of a dump that have the tags, each with those of its answers that may be wanted.

    Args:
        path: The dump's ``Posts.xml``, or the .7z that holds it.
        site: The site it is of.
        rules: Which questions and answers are taken.
        work: A folder for parts.
        processes: How many processes work.
        cluster: Who works instead on a plain file.
        size: Bytes of a plain file that are one piece of work.
    """

    path: Path
    site: Site
    rules: Rules
    work: Path
    processes: int = 1
    cluster: Cluster | None = None
    size: int = RANGE
    _read: Read | None = field(default=None, init=False)

    def entries(self) -> Iterator[Question | Skipped]:
        """Yield the questions that have the tags, and what is wrong, in the order of the dump.

        Raises:
            InputError: It cannot be read, or is no posts dump.
            MissingExtraError: A package that is needed is not installed.
        """
        html_parser()
        wish = Wish(self.rules.filters, self.rules.answer == "best")
        found = find(self.path, wish, self.work, processes=self.processes, cluster=self.cluster, size=self.size)
        asked = malformed = 0
        with closing(found.rows) as joined:
            for row in joined.rows():
                if (entry := self._entry(row, joined)) is not None:
                    asked += row.kind == str(QUESTION)
                    malformed += isinstance(entry, Skipped) and entry.reason.startswith(MALFORMED)
                    yield entry
        if not joined.closed:
            yield Skipped("", f"line {joined.lines + 1}", MALFORMED + CUT_OFF)
        counts = {"bytes": found.size, "rows": joined.counts.total(), **_named(joined), "malformed rows": malformed}
        self._read = Read(
            name=found.name,
            sha256=found.sha256,
            counts={name: count for name, count in counts.items() if count},
            url=self.site.url,
            unlisted={UNTAGGED: joined.counts[str(QUESTION)] - asked} if self.rules.filters.tags else {},
        )

    def source(self) -> Read:
        """Return what was read, after the last entry."""
        assert self._read is not None, "the last entry was not asked for"
        return self._read

    def _entry(self, row: Row, joined: Joined) -> Question | Skipped | None:
        """Return what a row is as an entry, None for a post that is no question with a tag, such as an answer."""
        post = row.post if row.is_first or isinstance(row.post, BadRow) else duplicate(row.post)
        if isinstance(post, BadRow):
            return Skipped(post.post_id, f"line {post.line}", MALFORMED + post.reason, post.detail)
        if post.fabricated:
            return Skipped(str(post.post_id), f"line {post.line}", FABRICATED, REASONS[FABRICATED])
        if post.kind == QUESTION and self.rules.filters.tagged(post):
            return self._question(post, joined)
        return None

    def _question(self, post: Post, joined: Joined) -> Question | Skipped:
        """Return a question with its answers, where it passes, or why its accepted answer cannot be had."""
        place, answers = f"line {post.line}", list[Post]()
        if not self.rules.filters.failed(post):
            best = self.rules.answer == "best"
            wants = post.post_id if best else post.accepted
            found = joined.answers(wants) if wants else []
            answers = [one for one in found if one.kind == ANSWER and one.parent == post.post_id and not one.fabricated]
            if wants and not answers and not best:
                rule = FOREIGN if found else MISSING
                return Skipped(str(post.post_id), place, rule, f"{post.accepted}: {REASONS[rule]}")
        return Question(
            question_id=str(post.post_id),
            title=post.title,
            body=post.body,
            tags=post.tags,
            date=post.date,
            score=post.score,
            url=self.site.post_url(post),
            author=self.site.author(post),
            license=licence(post),
            answers=tuple(self._answer(answer, post) for answer in answers),
            place=place,
        )

    def _answer(self, post: Post, question: Post) -> Answer:
        return Answer(
            answer_id=str(post.post_id),
            text=post.body,
            score=post.score,
            date=post.date,
            author=self.site.author(post),
            url=self.site.post_url(post),
            license=licence(post),
            accepted=post.post_id == question.accepted,
        )


def _named(joined: Joined) -> dict[str, int]:
    """Return how many rows of each kind there are."""
    counts = {int(kind): count for kind, count in joined.counts.items() if kind}
    return {KINDS.get(kind, f"posts of type {kind}"): counts[kind] for kind in sorted(counts)}

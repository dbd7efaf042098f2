"""One reading of a dump: which questions have their accepted answer, and what every answer says."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace

from builders.html.text import html_to_text
from builders.scratch import Scratch
from builders.stackexchange.dump import Dump
from builders.stackexchange.filters import Filters
from builders.stackexchange.posts import ANSWER, QUESTION, BadRow, Post, SeenIds, read_posts
from builders.stackexchange.reasons import (
    EMPTY,
    EMPTY_ANSWERS,
    FABRICATED,
    FOREIGN,
    KINDS,
    MALFORMED,
    MISSING,
    REASONS,
    UNANSWERED,
)
from builders.stackexchange.site import Site, licence

_MOST_LICENCES = 20
_NO_TEXT = -1


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was taken: only numbers, since there may be millions.

    Args:
        post_id: Its id.
        accepted: The id of its accepted answer.
        line: Its line in the dump.
        place: Where it waits itself.
        answer: Where its accepted answer waits.
    """

    post_id: int
    accepted: int
    line: int
    place: int
    answer: int = _NO_TEXT


@dataclass
class Collected:
    """What a dump holds.

    Args:
        answers: Every answer: its ``id``, ``text`` and ``metadata``.
        posts: Questions, their bodies as text.
        questions: The questions that were taken.
        rows: How many rows the dump has of each kind.
        dropped: How many were left out, by rule.
        licences: Under which the texts are.
        latest: The month of the newest post, YYYY-MM, "" when no post has a date.
    """

    answers: Scratch
    posts: Scratch
    questions: list[Question] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    licences: set[str] = field(default_factory=set)
    latest: str = ""

    @property
    def reasons(self) -> dict[str, str]:
        """Return why each rule leaves something out, where its name does not say."""
        return REASONS | {name: "skipped" for name in self.dropped if name.startswith(MALFORMED)}

    def post(self, question: Question) -> Post:
        """Return a question with all that it says, its body as text."""
        said = self.posts.at(question.place)
        return Post(**{**said, "tags": tuple(said["tags"])})


def collect(dump: Dump, site: Site, rules: Filters, answers: Scratch, posts: Scratch, listed: Scratch) -> Collected:
    """Read a dump once.

    An accepted answer may stand before its question. Dumps are sorted by id, so that hardly any does; of those that do,
    as of answers to questions that are not in the dump, only numbers are remembered.

    Args:
        dump: The dump.
        site: The site it is of.
        rules: Which questions to take.
        answers: Filled with the answers.
        posts: Filled with the questions.
        listed: Filled with what was left out though nobody asked for it: id, line and reason.

    Raises:
        InputError: The dump cannot be read, or is none.
    """
    reading = _Reading(site, rules, Collected(answers, posts), listed)
    for row in read_posts(dump, reading.seen):
        reading.take(row)
    reading.found.questions = list(reading.matched())
    return reading.found


@dataclass
class _Reading:
    site: Site
    rules: Filters
    found: Collected
    listed: Scratch
    seen: SeenIds = field(default_factory=SeenIds)
    waiting: list[Question] = field(default_factory=list)
    wanted: set[int] = field(default_factory=set)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)  # an answer's question, and where it waits

    def take(self, row: Post | BadRow) -> None:
        self.found.rows["rows"] += 1
        if isinstance(row, BadRow):
            self.found.rows["malformed rows"] += 1
            detail = f": {row.detail}" if row.detail else ""
            self.drop(MALFORMED + row.reason, row.post_id, row.line, row.reason + detail)
            return
        self.found.rows[KINDS.get(row.kind, f"posts of type {row.kind}")] += 1
        self.found.latest = max(self.found.latest, "" if row.fabricated else row.date[:7])
        if row.fabricated:
            self.drop(FABRICATED, str(row.post_id), row.line)
        elif row.kind == QUESTION:
            self.question(row)
        elif row.kind == ANSWER:
            self.answer(row)

    def question(self, post: Post) -> None:
        failed = self.rules.failed(post) or ("" if post.accepted else UNANSWERED)
        if failed:
            self.found.dropped[failed] += 1
        elif post.accepted is not None:
            place = self.found.posts.add(asdict(replace(post, body=html_to_text(post.body))))
            self.waiting.append(Question(post.post_id, post.accepted, post.line, place))
            self.wanted.add(post.accepted)

    def answer(self, post: Post) -> None:
        text = html_to_text(post.body)
        if text:
            place = self.found.answers.add(
                {"id": str(post.post_id), "text": text, "metadata": _metadata(post, self.site)}
            )
            self.licensed(post)
        else:
            place = _NO_TEXT
            self.drop(EMPTY_ANSWERS, str(post.post_id), post.line, "an answer without text")
        if post.parent is not None and (post.post_id in self.wanted or post.parent not in self.seen):
            self.places[post.post_id] = (post.parent, place)

    def matched(self) -> Iterator[Question]:
        """Yield the questions whose accepted answer was found."""
        for question in self.waiting:
            parent, answer = self.places.get(question.accepted, (0, 0))
            if parent == question.post_id and answer != _NO_TEXT:
                self.licensed(self.found.post(question))
                yield replace(question, answer=answer)
                continue
            seen = question.accepted in self.seen
            rule = EMPTY if parent == question.post_id else FOREIGN if seen else MISSING
            reason = f"its accepted answer, {question.accepted}: {REASONS[rule]}"
            self.drop(rule, str(question.post_id), question.line, reason)

    def licensed(self, post: Post) -> None:
        name = licence(post)
        if name and len(self.found.licences) < _MOST_LICENCES:
            self.found.licences.add(name)

    def drop(self, rule: str, post_id: str, line: int, reason: str = "") -> None:
        self.found.dropped[rule] += 1
        self.listed.add({"id": post_id, "line": line, "reason": reason or REASONS[rule]})


def _metadata(post: Post, site: Site) -> dict[str, str | int]:
    known = {
        "url": site.post_url(post),
        "author": site.author(post),
        "date": post.date or None,
        "score": post.score,
        "license": licence(post),
    }
    return {name: value for name, value in known.items() if value is not None}
